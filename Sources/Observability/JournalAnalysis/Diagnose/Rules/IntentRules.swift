// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages

/// An intent of a widget or a control failed, or the process that must perform it does not have its type.
struct IntentNotPerformed: DiagnosticRule {
  let description = DiagnosisDescription(
    code: "intent-not-performed", severity: .warning, title: "an intent of a widget or a control has no effect",
    rule:
      "An intent is performed in the extension, or in the app if it opens the app or has a protocol such as "
      + "LiveActivityIntent. An app that does not contain its type, and a perform() that throws, do nothing on a "
      + "phone, without a message.",
    source:
      "documented: Creating controls to perform actions across the system (membership of both targets); ours: the "
      + "report",
    advice:
      "Add the intent's file to the targets of both the app and the extension. Do not let perform() throw: show what "
      + "went wrong in the widget.")

  private var questions: [UUID: String] = [:]

  mutating func see(_ envelope: Envelope, _ record: DeviceRecord) -> [Sighting] {
    let header = envelope.header
    if let question = envelope.reading(PerformIntent.self) {
      questions[header.id] = question.intent
      return []
    }
    guard let cause = header.cause, let intent = questions[cause] else { return [] }
    if header.kind == PerformIntent.kind.answered(.ok) { questions[cause] = nil }
    guard header.kind == PerformIntent.kind.answered(.failed) else { return [] }
    questions[cause] = nil
    guard let error = try? BodyCoding.decode(BusError.self, from: envelope.body),
      [.unknownIntent, .intentFailed].contains(error.code)
    else { return [] }
    return [
      Sighting(
        owner: header.source, subject: intent, what: "the intent was not performed: \(error.message)",
        evidence: [Evidence(envelope)])
    ]
  }
}

/// The result of an intent opens a URL that is no universal link.
struct CustomSchemeNotOpened: DiagnosticRule {
  let description = DiagnosisDescription(
    code: "custom-scheme-not-opened", severity: .error, title: "OpenURLIntent with a URL that is no universal link",
    rule: "OpenURLIntent opens universal links. With a custom scheme nothing opens, without a message.",
    source: "documented: OpenURLIntent; observed: sudopark/TodoCalendar 771",
    advice:
      "Use an https URL of your associated domains. Or let an intent with openAppWhenRun, which both targets contain, "
      + "store where the app is to go.")

  func see(_ envelope: Envelope, _ record: DeviceRecord) -> [Sighting] {
    guard envelope.header.kind == PerformIntent.kind.answered(.ok),
      let reply = try? BodyCoding.decode(PerformIntent.Reply.self, from: envelope.body),
      let url = reply.opens?.ignoredURL
    else { return [] }
    return [
      Sighting(
        owner: envelope.header.source, subject: url,
        what: "the result of an intent is to open \(url), and nothing opens",
        evidence: [Evidence(envelope)])
    ]
  }
}

/// A date of a push is in milliseconds: of its payload for a Live Activity, or its expiration.
struct TimestampInMilliseconds: DiagnosticRule {
  let description = DiagnosisDescription(
    code: "timestamp-in-milliseconds", severity: .error,
    title: "a date of a push is in milliseconds",
    rule:
      "timestamp, stale-date and dismissal-date of a push to a Live Activity, and apns-expiration of each push, are "
      + "seconds since 1970. In milliseconds they are thousands of years ahead: later updates in seconds count as older, "
      + "and are not shown; the push never expires.",
    source:
      "documented: Starting and updating Live Activities with ActivityKit push notifications, Sending notification "
      + "requests to APNs; ours: the report",
    advice: "Send whole seconds: in JavaScript Math.floor(Date.now() / 1000).")

  /// The year 5138 in seconds, and 1973 in milliseconds.
  private static let limit = 1e11

  func see(_ envelope: Envelope, _ record: DeviceRecord) -> [Sighting] {
    guard let push = envelope.reading(DeliverPush.self)?.notification, envelope.header.attempt == 0 else { return [] }
    var dates = push.type == .liveactivity ? Self.dates(of: push.payload) : []
    if let expiration = push.expiration { dates.append(("apns-expiration", expiration.timeIntervalSince1970)) }
    return dates.filter { $0.value > Self.limit }.map { name, value in
      Sighting(
        owner: .app(push.subject.device, push.subject.bundle), subject: name,
        what: "\(name) is \(value.formatted(.number.grouping(.never))): milliseconds, and seconds are expected",
        evidence: [Evidence(envelope)])
    }
  }

  private static func dates(of payload: String) -> [(name: String, value: Double)] {
    let object = try? JSONSerialization.jsonObject(with: Data(payload.utf8)) as? [String: Any]
    guard let aps = object?["aps"] as? [String: Any] else { return [] }
    return ["timestamp", "stale-date", "dismissal-date"].compactMap { name in
      (aps[name] as? NSNumber).map { (name, $0.doubleValue) }
    }
  }
}
