import Cluster
import Conversations
import Foundation
import Timelines

extension BudgetPolicy {
  /// Reads a policy; what the file leaves out is as in the built-in `standard`.
  ///
  /// - Throws: `configuration`, with the file, the line and the key.
  init(file: String) throws(ClusterError) {
    var reader = try ConfigurationReader(file: file)
    self.init()
    name = try reader.string("name") ?? name
    if let text = try reader.string("perDay"), text == "none" {
      perDay = nil
    } else {
      perDay = try reader.number("perDay") ?? perDay
    }
    initial = try reader.number("initial") ?? initial
    burst = try reader.number("burst") ?? burst
    minimumSpacing = try reader.number("minimumSpacing") ?? minimumSpacing
    window = try reader.number("window") ?? window
    hours = try reader.numbers("hours") ?? hours
    utcOffset = try reader.number("utcOffset") ?? utcOffset
    unseenAfter = try reader.number("unseenAfter") ?? unseenAfter
    unseenFactor = try reader.number("unseenFactor") ?? unseenFactor
    staleAfter = try reader.number("staleAfter") ?? staleAfter
    learningDays = try reader.number("learningDays") ?? learningDays
    learningFactor = try reader.number("learningFactor") ?? learningFactor
    try readFree(&reader)
    try check(reader)
    try reader.finish()
  }

  private static let inForeground = "app-in-foreground"
  private static let atWork = "app-at-work"

  private mutating func readFree(_ reader: inout ConfigurationReader) throws(ClusterError) {
    let causes = try reader.strings("free")
    guard reader.has("free") else { return }
    freeCauses = []
    isFreeInForeground = causes.contains(BudgetPolicy.inForeground)
    isFreeAtWork = causes.contains(BudgetPolicy.atWork)
    for name in causes where name != BudgetPolicy.inForeground && name != BudgetPolicy.atWork {
      guard let cause = ReloadCause(rawValue: name) else {
        let known = (ReloadCause.allCases.map(\.rawValue) + [BudgetPolicy.inForeground, BudgetPolicy.atWork]).sorted()
        throw reader.error("free", "\"\(name)\" is no cause; there are: \(known.joined(separator: ", "))")
      }
      freeCauses.insert(cause)
    }
  }

  private func check(_ reader: ConfigurationReader) throws(ClusterError) {
    let amounts = [
      ("perDay", perDay ?? 0, 100_000.0), ("initial", initial, 100_000), ("burst", burst, 100_000),
      ("minimumSpacing", minimumSpacing, 86_400), ("unseenAfter", unseenAfter, 8760), ("unseenFactor", unseenFactor, 1),
      ("staleAfter", staleAfter, 8760), ("learningDays", learningDays, 365),
    ]
    for (key, value, limit) in amounts where !(0...limit).contains(value) {
      throw reader.error(key, "is 0 to \(limit.formatted())")
    }
    guard burst >= 1 else { throw reader.error("burst", "is at least 1: nothing could ever be paid") }
    guard (1...168).contains(window) else { throw reader.error("window", "is a number of hours, 1 to 168") }
    guard (1...10).contains(learningFactor) else { throw reader.error("learningFactor", "is 1 to 10") }
    guard (-14...14).contains(utcOffset) else { throw reader.error("utcOffset", "is a number of hours, -14 to 14") }
    guard hours.count == 24, hours.allSatisfy({ $0 >= 0 }), hours.contains(where: { $0 > 0 }) else {
      throw reader.error("hours", "is a list of 24 weights from midnight on, 0 or more, and not all 0")
    }
  }
}
