// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Testing

@testable import Archive

@Suite struct `Scales of a chart` {
  private func numbers(_ values: [Double]) -> [ChartValue] { values.map { .number($0) } }

  @Test(.rule("CHART-04")) func `numbers include zero, and end at round numbers`() {
    #expect(ChartDomain().scale(of: numbers([20, 87])) == .linear(from: 0, to: 100))
    #expect(ChartDomain().scale(of: numbers([-3, -12])) == .linear(from: -12, to: 0))
    #expect(ChartDomain().scale(of: numbers([0])) == .linear(from: 0, to: 1))
    #expect(ChartDomain().scale(of: []) == .linear(from: 0, to: 1))
    var domain = ChartDomain()
    domain.includesZero = false
    #expect(domain.scale(of: numbers([21, 87])) == .linear(from: 20, to: 90))
    domain.isReversed = true
    #expect(domain.scale(of: numbers([21, 87])) == .linear(from: 90, to: 20))
  }

  @Test(.rule("CHART-04")) func `dates end at the first and the last one, and categories have bands in their order`() {
    let dates: [ChartValue] = [.date(300), .date(100), .date(200)]
    #expect(ChartDomain().scale(of: dates) == .linear(from: 100, to: 300))
    #expect(ChartDomain().scale(of: ["b", "a", "b"].map { .category($0) }) == .bands(["b", "a"]))
    var domain = ChartDomain()
    domain.isReversed = true
    #expect(domain.scale(of: ["b", "a"].map { .category($0) }) == .bands(["a", "b"]))
  }

  @Test(.rule("CHART-04")) func `a domain of the author is used as it is`() {
    var domain = ChartDomain()
    domain.values = numbers([3, 50])
    #expect(domain.scale(of: numbers([1000])) == .linear(from: 3, to: 50))
    domain.values = [.category("x"), .category("y"), .category("x")]
    #expect(domain.scale(of: [.category("z")]) == .bands(["x", "y"]))
    #expect(ChartDomain(domain.archived) == domain)
    #expect(ChartDomain(nil) == ChartDomain() && ChartDomain().archived == nil)
  }

  @Test(.rule("CHART-04")) func `values of an axis extend a domain that comes from the data`() {
    #expect(ChartDomain().scale(of: numbers([40]), ticks: numbers([150])) == .linear(from: 0, to: 150))
    #expect(ChartDomain().scale(of: [.date(5)], ticks: [.date(9)]) == .linear(from: 5, to: 9))
  }

  @Test(.rule("CHART-04")) func `a value has a place between 0 and 1 in the domain`() {
    let scale = ChartScale.linear(from: 10, to: 30)
    #expect(scale.place(.number(20)) == 0.5 && scale.place(.date(30)) == 1)
    #expect(scale.place(.number(1e300)) == 11 && scale.place(.number(-1e300)) == -10)
    #expect(scale.place(.category("a")) == nil && scale.place(.number(.nan)) == nil)
    #expect(ChartScale.linear(from: 5, to: 5).place(.number(5)) == 0.5)
    let bands = ChartScale.bands(["a", "b"])
    #expect(bands.place(.category("b")) == 0.75 && bands.place(.category("c")) == nil)
    #expect(bands.band(PlottedValue("", .category("a"))).map { [$0.start, $0.end] } == [0, 0.5])
  }

  @Test(.rule("CHART-03")) func `a date with a unit has the space of the unit, and is in its middle`() {
    let value = PlottedValue("Day", .date(120), bin: 100...200)
    let scale = ChartScale.linear(from: 0, to: 400)
    #expect(scale.band(value).map { [$0.start, $0.end] } == [0.25, 0.5])
    #expect(scale.place(value.place) == 0.375)
    #expect(scale.band(PlottedValue("Day", .date(120))) == nil)
    #expect(PlottedValue(value.archived) == value)
    #expect(PlottedValue(.string("x")) == nil && PlottedValue(.record([.value: .bool(true)])) == nil)
  }

  private var calendar: Calendar {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = TimeZone(identifier: "Europe/Berlin") ?? .gmt
    return calendar
  }

  private func date(_ text: String) throws -> Double {
    try Date(text, strategy: .iso8601).timeIntervalSince1970
  }

  @Test(.rule("CHART-06")) func `dates of an axis are the starts of calendar units, also over a change of the clocks`()
    throws
  {
    let range = try date("2026-03-28T12:00:00Z")...date("2026-03-31T00:00:00Z")
    let days = DateTicks(unit: .day).dates(in: range, calendar)
    #expect(
      try days == [date("2026-03-28T23:00:00Z"), date("2026-03-29T22:00:00Z"), date("2026-03-30T22:00:00Z")])
    let hours = DateTicks(unit: .hour, count: 12).dates(in: range, calendar)
    #expect(try hours.first == date("2026-03-28T23:00:00Z"))
    let years = DateTicks(unit: .year, count: 5).dates(
      in: try date("2001-01-01T00:00:00Z")...date("2026-06-01T00:00:00Z"), calendar)
    #expect(
      years.map { calendar.component(.year, from: Date(timeIntervalSince1970: $0)) } == [2005, 2010, 2015, 2020, 2025])
  }

  @Test(
    .rule("CHART-06"),
    arguments: [
      (4.0, 4, Calendar.Component.second, 1), (3600, 4, .minute, 15), (86_400, 4, .hour, 6), (604_800, 7, .day, 1),
      (604_800, 4, .day, 2), (31_556_952, 4, .month, 3), (31_556_952 * 40, 4, .year, 10), (1e13, 4, .year, 79_222),
      (1e300, 1, .year, 1_000_000),
    ])
  func `an axis of dates has the smallest units that are not too many`(
    span: Double, desired: Int, unit: Calendar.Component, count: Int
  ) {
    #expect(DateTicks(in: 0...span, desired: desired) == DateTicks(unit: unit, count: count))
  }
}
