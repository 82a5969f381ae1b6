import Archive
import Foundation
import Messages

extension EnvelopeNote {
  /// Notes about timelines and their budget.
  static func timeline(_ envelope: Envelope) throws(BusError) -> EnvelopeNote? {
    let body = envelope.body
    switch envelope.header.kind {
    case ReloadTimelines.kind:
      let reload = try BodyCoding.decode(ReloadTimelines.self, from: body)
      return EnvelopeNote((reload.widgetKind ?? "all kinds") + (reload.within.map { " within \($0)" } ?? ""))
    case RequestTimeline.kind:
      let request = try BodyCoding.decode(RequestTimeline.self, from: body)
      let purpose = request.purpose == .timeline ? "" : " \(request.purpose)"
      let placement = request.placement.map { " of placement \($0)" } ?? ""
      return EnvelopeNote(
        "\(request.widgetKind) \(request.environment.family.rawValue)\(purpose)\(placement) because of "
          + request.because.rawValue)
    case TakeSnapshot.kind: return EnvelopeNote(try BodyCoding.decode(TakeSnapshot.self, from: body).widgetKind)
    case TimelineStored.kind:
      let stored = try BodyCoding.decode(TimelineStored.self, from: body)
      return EnvelopeNote(
        "\(stored.widgetKind) \(stored.entries) entries: \(stored.text.joined(separator: " | "))")
    case EntryShown.kind:
      let shown = try BodyCoding.decode(EntryShown.self, from: body)
      return EnvelopeNote(
        "\(shown.widgetKind) of placement \(shown.placement)\(shown.animation?.text ?? ""): "
          + shown.text.joined(separator: " | "))
    case ReloadFailed.kind:
      let failed = try BodyCoding.decode(ReloadFailed.self, from: body)
      let next = failed.nextTry.map { "; retry at \(Amount.text($0))" } ?? ""
      return EnvelopeNote("\(failed.widgetKind): \(failed.reason)\(next)", .refused)
    case BudgetDecided.kind:
      let entry = try BodyCoding.decode(BudgetDecided.self, from: body).entry
      return EnvelopeNote(
        "reload \(entry.reload) of placement \(entry.placement) because of \(entry.because.rawValue): \(entry.text)",
        entry.verdict == .refused ? .refused : .none)
    case FaultNoticed.kind:
      let noticed = try BodyCoding.decode(FaultNoticed.self, from: body)
      return EnvelopeNote("\(noticed.subject): \(noticed.details)", .refused)
    case ListBudget.kind:
      let list = try BodyCoding.decode(ListBudget.self, from: body)
      return EnvelopeNote(list.placement.map { "placement \($0)" } ?? list.reload.map { "reload \($0)" } ?? "all")
    default: return nil
    }
  }
}

extension EntryAnimation {
  /// `, animated by easeInOut in 0.7 s, numericText`.
  fileprivate var text: String {
    ", animated by \(curve) in \(Amount.text(seconds: seconds))\(transition.map { ", \($0)" } ?? "")"
  }
}
