// SPDX-License-Identifier: Apache-2.0

import Archive
import FidelityRules
import Foundation
import Testing

@testable import SwiftUI

@MainActor @Suite struct `Labels of archived controls` {
  private func labels(_ view: some View) throws -> ArchivedValue? {
    try view.archived(in: EnvironmentValues()).arguments[.labels]
  }

  @Test(.rule("LAYOUT-34")) func `labels in order with one view each have no names`() throws {
    #expect(try labels(Gauge(value: 0.5) { Text("a") }) == nil)
    #expect(
      try labels(
        Gauge(value: 0.5) {
          Text("a")
        } currentValueLabel: {
          Text("b")
        } minimumValueLabel: {
          Text("c")
        } maximumValueLabel: {
          Text("d")
        }) == nil)
    #expect(try labels(ProgressView("a", value: 0.5)) == nil)
    #expect(try labels(Label("a", systemImage: "star")) == nil)
  }

  @Test(.rule("LAYOUT-34")) func `a label that is empty, or has several views, is named`() throws {
    let current = Gauge(value: 0.5) {
      EmptyView()
    } currentValueLabel: {
      Text("b")
    }
    #expect(try labels(current) == .list(["currentValueLabel"]))
    let several = ProgressView(value: 0.5) {
      Text("a")
      Text("b")
    }
    #expect(try labels(several) == .list(["label", "label"]))
    let title = Label {
      Text("a")
    } icon: {
      EmptyView()
    }
    #expect(try labels(title) == .list(["title"]))
  }

  @Test(.rule("LAYOUT-31")) func `the progress of an interval has its time as the current value`() throws {
    let start = Date(timeIntervalSince1970: 1000)
    let archive = try ProgressView(timerInterval: start...(start + 60)).archived(in: EnvironmentValues())
    #expect(archive.arguments[.labels] == .list(["currentValueLabel"]))
    let shown = archive.shown(ScreenAppearance(now: start + 15))
    #expect(shown.lines == ["0:45"] && shown.arguments[.value] == 0.75)
  }
}
