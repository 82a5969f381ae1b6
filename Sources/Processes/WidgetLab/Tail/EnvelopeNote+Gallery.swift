import Archive
import Foundation
import Messages

extension EnvelopeNote {
  /// Notes about gallery and screen.
  static func gallery(_ envelope: Envelope) throws(BusError) -> EnvelopeNote? {
    let body = envelope.body
    switch envelope.header.kind {
    case ListGallery.kind:
      return EnvelopeNote(try BodyCoding.decode(ListGallery.self, from: body).location?.rawValue ?? "everywhere")
    case AddPlacement.kind:
      let add = try BodyCoding.decode(AddPlacement.self, from: body)
      return EnvelopeNote(
        [
          add.widgetKind, add.family?.rawValue, add.stack.map { "on \($0)" } ?? add.location.rawValue,
          add.configuration.choices,
        ].compactMap(\.self).joined(separator: " "))
    case EditPlacement.kind:
      let edit = try BodyCoding.decode(EditPlacement.self, from: body)
      return EnvelopeNote("\(edit.placement) \(edit.configuration.choices ?? "")")
    case RemovePlacement.kind:
      return EnvelopeNote("\(try BodyCoding.decode(RemovePlacement.self, from: body).placement)")
    case PlacementChanged.kind:
      let changed = try BodyCoding.decode(PlacementChanged.self, from: body)
      return EnvelopeNote("\(changed.placement.text) \(changed.change.rawValue)")
    case TurnStack.kind: return EnvelopeNote("to \(try BodyCoding.decode(TurnStack.self, from: body).placement)")
    case StackTurned.kind: return EnvelopeNote(try BodyCoding.decode(StackTurned.self, from: body).text)
    case ListPlacements.kind: return EnvelopeNote("")
    case ShowScreen.kind:
      return EnvelopeNote(try BodyCoding.decode(ShowScreen.self, from: body).location?.rawValue ?? "the current screen")
    case ChangeScreen.kind: return EnvelopeNote(try BodyCoding.decode(ChangeScreen.self, from: body).change.text)
    case ScreenChanged.kind: return EnvelopeNote(try BodyCoding.decode(ScreenChanged.self, from: body).state.text)
    case TapWidget.kind:
      let tap = try BodyCoding.decode(TapWidget.self, from: body)
      let target = [tap.control.map { "control \($0)" }, tap.link.map { "link \($0)" }].compactMap(\.self)
      return EnvelopeNote("\(tap.placement) \(target.joined())")
    case DescribeIntent.kind:
      let asked = try BodyCoding.decode(DescribeIntent.self, from: body)
      let searches = asked.searches.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }
      return EnvelopeNote("\(asked.widgetKind)\(searches.joined())")
    case PerformIntent.kind:
      let perform = try BodyCoding.decode(PerformIntent.self, from: body)
      return EnvelopeNote("\(perform.intent)(\(perform.values.choices ?? "")) of \(perform.placement)")
    case OpenFromWidget.kind:
      let open = try BodyCoding.decode(OpenFromWidget.self, from: body)
      return EnvelopeNote("\(open.widgetKind) \(open.url ?? "user activity")")
    default: return nil
    }
  }

  /// Notes about the replies.
  static func galleryAction(_ envelope: Envelope) throws(BusError) -> EnvelopeNote? {
    let body = envelope.body
    switch envelope.header.kind.asked {
    case ListGallery.kind:
      let items = try BodyCoding.decode(ListGallery.Reply.self, from: body).items
      let out = items.count { $0.section == .leftOut }
      return EnvelopeNote("\(items.count - out) available, \(out) left out")
    case AddPlacement.kind, EditPlacement.kind:
      let report = try BodyCoding.decode(PlacementReport.self, from: body)
      return EnvelopeNote("\(report.placement.text) \"\(report.displayName)\"")
    case TurnStack.kind: return EnvelopeNote(try BodyCoding.decode(TurnStack.Reply.self, from: body).text)
    case DescribeIntent.kind:
      let found = try BodyCoding.decode(IntentDeclaration.self, from: body)
      let counts = found.parameters.map { "\($0.name): \($0.options.count) options" }
      return EnvelopeNote("\(found.title): \(counts.joined(separator: ", "))")
    case ListPlacements.kind:
      return EnvelopeNote(
        try BodyCoding.decode(ListPlacements.Reply.self, from: body).placements.map(\.text).joined(separator: ", "))
    case ShowScreen.kind:
      let reply = try BodyCoding.decode(ShowScreen.Reply.self, from: body)
      let tint = reply.tint.map { ", tinted \($0.rawValue)" } ?? ""
      return EnvelopeNote("\(reply.location.rawValue): \(reply.tiles.count) widgets\(tint)")
    case ChangeScreen.kind: return EnvelopeNote(try BodyCoding.decode(DeviceScreen.self, from: body).text)
    case TapWidget.kind: return EnvelopeNote(try BodyCoding.decode(TapWidget.Reply.self, from: body).outcome)
    default: return try pushAction(envelope)
    }
  }
}

extension StackTurned {
  /// `2 of 1, 2, 3 is on top: relevance 5 over 1`.
  fileprivate var text: String {
    let scores = score.map { " \(Amount.text(factor: $0)) over \(Amount.text(factor: formerScore ?? 0))" } ?? ""
    return "\(top) of \(members.map { "\($0)" }.joined(separator: ", ")) is on top: \(because.rawValue)\(scores)"
  }
}

extension TurnStack.Reply {
  /// `1, 2, 3`.
  var text: String { members.map { "\($0)" }.joined(separator: ", ") }
}

extension Placement {
  /// `2 Weather systemSmall on homeScreen`.
  fileprivate var text: String { "\(id) \(kind) \(family.rawValue) on \(location.rawValue)" }
}

extension [String: ArchivedValue] {
  /// `city=London hourly=true`; `nil` when empty.
  fileprivate var choices: String? {
    isEmpty ? nil : sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.text)" }.joined(separator: " ")
  }
}

extension ChangeScreen.Change {
  /// A short text.
  fileprivate var text: String {
    switch self {
    case .lock: "lock"
    case .unlock: "unlock"
    case .restart: "restart"
    case .look(let location): "look at \(location.rawValue)"
    case .darken: "display off"
    case .alwaysOn: "display Always-On"
    case .background(let app): "\(app) to the background"
    case .activity(let app, let activity): "\(app) \(activity?.text ?? "has no activity")"
    case .colorScheme(let scheme): scheme.rawValue
    case .system(let setting): "\(setting) changed"
    }
  }
}
