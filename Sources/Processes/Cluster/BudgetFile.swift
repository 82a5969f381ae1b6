package import Conversations
import Foundation

/// A file that says how reloads are paid for, as it stands: what it leaves out is `nil`, and as in the built-in policy.
///
/// `widgetlab up` reads it to name a mistake before anything is started, and `host-system` to go by it.
package struct BudgetFile: Hashable, Sendable {
  package let name: String?
  /// `perDay: none`.
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
  /// `standByEvery: none`.
  package let hasNoStandBy: Bool
  /// Seconds.
  package let standByEvery: Double?
  /// Seconds.
  package let afterOpenedFromWidget: Double?
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
    learningDays = try reader.number("learningDays")
    learningFactor = try reader.number("learningFactor")
    let causes = try reader.has("free") ? reader.strings("free") : nil
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
        throw reader.error("free", "\"\(name)\" is no cause; there are: \(known.joined(separator: ", "))")
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
    ]
    for (key, value, limit) in amounts where value.map({ !(0...limit).contains($0) }) ?? false {
      throw reader.error(key, "is 0 to \(limit.formatted())")
    }
    if let burst, burst < 1 { throw reader.error("burst", "is at least 1: nothing could ever be paid") }
    if let standByEvery, !(60...86_400).contains(standByEvery) {
      throw reader.error("standByEvery", "is a number of seconds, 60 to 86400, or none")
    }
    if let window, !(1...168).contains(window) { throw reader.error("window", "is a number of hours, 1 to 168") }
    if let learningFactor, !(1...10).contains(learningFactor) { throw reader.error("learningFactor", "is 1 to 10") }
    if let utcOffset, !(-14...14).contains(utcOffset) {
      throw reader.error("utcOffset", "is a number of hours, -14 to 14")
    }
    guard let hours else { return }
    guard hours.count == 24, hours.allSatisfy({ $0 >= 0 }), hours.contains(where: { $0 > 0 }) else {
      throw reader.error("hours", "is a list of 24 weights from midnight on, 0 or more, and not all 0")
    }
  }
}
