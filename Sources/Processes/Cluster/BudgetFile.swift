// SPDX-License-Identifier: Apache-2.0

import Foundation
package import Messages

/// The contents of a file with a reload budget policy. A key that the file omits is `nil` and has the built-in value.
///
/// `widgetlab up` reads it to report mistakes before anything starts; `host-system` reads it to apply it.
package struct BudgetFile: Hashable, Sendable {
  package let name: String?
  /// `perDay: none`: no budget.
  package let hasNoBudget: Bool
  package let perDay: Double?
  package let initial: Double?
  package let burst: Double?
  /// Seconds.
  package let minimumSpacing: Double?
  /// Hours.
  package let window: Double?
  /// 24 weights, from midnight.
  package let hours: [Double]?
  package let utcOffset: Double?
  package let unseenAfter: Double?
  package let unseenFactor: Double?
  package let staleAfter: Double?
  /// `standByEvery: none`: no reloads for StandBy.
  package let hasNoStandBy: Bool
  /// Seconds.
  package let standByEvery: Double?
  /// Seconds.
  package let afterOpenedFromWidget: Double?
  /// Seconds.
  package let foregroundSpacing: Double?
  package let learningDays: Double?
  package let learningFactor: Double?
  package let freeCauses: Set<ReloadCause>?
  package let isFreeInForeground: Bool?
  package let isFreeAtWork: Bool?

  private static let inForeground = "app-in-foreground"
  private static let atWork = "app-at-work"

  /// - Throws: `configuration`, with the file, the line and the key.
  package init(file: String) throws(ClusterError) {
    var reader = try ConfigurationReader(file: file)
    name = try reader.string("name")
    hasNoBudget = try reader.string("perDay") == "none"
    perDay = hasNoBudget ? nil : try reader.number("perDay")
    initial = try reader.number("initial")
    burst = try reader.number("burst")
    minimumSpacing = try reader.number("minimumSpacing")
    window = try reader.number("window")
    hours = try reader.numbers("hours")
    utcOffset = try reader.number("utcOffset")
    unseenAfter = try reader.number("unseenAfter")
    unseenFactor = try reader.number("unseenFactor")
    staleAfter = try reader.number("staleAfter")
    hasNoStandBy = try reader.string("standByEvery") == "none"
    standByEvery = hasNoStandBy ? nil : try reader.number("standByEvery")
    afterOpenedFromWidget = try reader.number("afterOpenedFromWidget")
    foregroundSpacing = try reader.number("foregroundSpacing")
    learningDays = try reader.number("learningDays")
    learningFactor = try reader.number("learningFactor")
    let names = try reader.strings("free")
    let causes = reader.has("free") ? names : nil
    freeCauses = try causes.map { causes throws(ClusterError) in try BudgetFile.free(causes, reader) }
    isFreeInForeground = causes?.contains(BudgetFile.inForeground)
    isFreeAtWork = causes?.contains(BudgetFile.atWork)
    try check(reader)
    try reader.finish()
  }

  private static func free(
    _ causes: [String], _ reader: ConfigurationReader
  ) throws(ClusterError) -> Set<ReloadCause> {
    var free: Set<ReloadCause> = []
    for name in causes where name != inForeground && name != atWork {
      guard let cause = ReloadCause(rawValue: name) else {
        let known = (ReloadCause.allCases.map(\.rawValue) + [inForeground, atWork]).sorted()
        throw reader.error("free", "\"\(name)\" is not a cause; valid causes are: \(known.joined(separator: ", "))")
      }
      free.insert(cause)
    }
    return free
  }

  private func check(_ reader: ConfigurationReader) throws(ClusterError) {
    let amounts = [
      ("perDay", perDay, 100_000.0), ("initial", initial, 100_000), ("burst", burst, 100_000),
      ("minimumSpacing", minimumSpacing, 86_400), ("unseenAfter", unseenAfter, 8760), ("unseenFactor", unseenFactor, 1),
      ("staleAfter", staleAfter, 8760), ("learningDays", learningDays, 365),
      ("afterOpenedFromWidget", afterOpenedFromWidget, 3600),
      ("foregroundSpacing", foregroundSpacing, 3600),
    ]
    for (key, value, limit) in amounts where value.map({ !(0...limit).contains($0) }) ?? false {
      throw reader.error(key, "must be 0 to \(limit.formatted())")
    }
    if let burst, burst < 1 { throw reader.error("burst", "must be at least 1, the cost of a reload") }
    if let standByEvery, !(60...86_400).contains(standByEvery) {
      throw reader.error("standByEvery", "must be a number of seconds from 60 to 86400, or none")
    }
    if let window, !(1...168).contains(window) { throw reader.error("window", "must be 1 to 168 hours") }
    if let learningFactor, !(1...10).contains(learningFactor) {
      throw reader.error("learningFactor", "must be 1 to 10")
    }
    if let utcOffset, !(-14...14).contains(utcOffset) {
      throw reader.error("utcOffset", "must be a number of hours from -14 to 14")
    }
    guard let hours else { return }
    guard hours.count == 24, hours.allSatisfy({ $0 >= 0 }), hours.contains(where: { $0 > 0 }) else {
      throw reader.error("hours", "must be a list of 24 weights, from midnight, each 0 or more and not all 0")
    }
  }
}
