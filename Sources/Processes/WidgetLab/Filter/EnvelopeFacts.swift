import Conversations
import Foundation

/// The fields of one envelope as expressions ask for them; a body is read when it is first asked for.
final class EnvelopeFacts {
  let envelope: Envelope
  private(set) lazy var note = EnvelopeNote(envelope)
  private lazy var body: [String: Any] = read()

  init(_ envelope: Envelope) { self.envelope = envelope }

  /// A body that is no JSON object has no fields.
  private func read() -> [String: Any] {
    let object = try? JSONSerialization.jsonObject(with: Data(envelope.body))
    let fields = object as? [String: Any] ?? [:]
    // What the broker says of a peer stands one level deeper.
    return fields.merging(fields["registration"] as? [String: Any] ?? [:]) { own, _ in own }
  }

  /// All texts that a field of text or address has; an address also in its short forms.
  func texts(_ field: FilterField) -> [String] {
    let header = envelope.header
    switch field {
    case .kind: return [header.kind.name]
    case .from: return Self.names(header.source)
    case .to: return Self.names(header.destination)
    case .address: return parties.flatMap(Self.names)
    case .session:
      let isNamed = [OpenSession.kind, CloseSession.kind].contains(envelope.header.kind)
      let name = isNamed ? body["identifier"] : body["session"]
      return [name as? String].compactMap(\.self)
    case .widget: return [body["widgetKind"] as? String].compactMap(\.self)
    case .state, .step, .method: return [body[field.rawValue] as? String].compactMap(\.self)
    case .note: return [note.text]
    case .mark: return [note.mark.word].compactMap(\.self)
    case .generation, .sequence, .correlation, .pid, .attempt, .time, .id, .cause, .task: return []
    }
  }

  /// The number of a field of numbers; `nil` when the envelope has none.
  func number(_ field: FilterField) -> Int64? {
    let header = envelope.header
    switch field {
    case .sequence: return Int64(clamping: header.sequence)
    case .attempt: return Int64(header.attempt)
    case .generation: return (body["generation"] as? NSNumber)?.int64Value ?? Int64(header.sourceGeneration)
    case .pid: return (body["pid"] as? NSNumber)?.int64Value
    case .task: return (body["taskIdentifier"] as? NSNumber)?.int64Value
    default: return nil
    }
  }

  /// An identifier's digits, lower case, without hyphens.
  func identifier(_ field: FilterField) -> String? {
    let header = envelope.header
    return switch field {
    case .correlation: header.correlation?.digits
    case .id: header.id.digits
    case .cause: header.cause?.digits
    default: nil
    }
  }

  /// Whether it carries the story of a session of that name of its sender, its receiver or the process spoken of: so that
  /// answers belong to the session too.
  func belongs(toSession name: String) -> Bool {
    guard let correlation = envelope.header.correlation else { return false }
    return parties.contains { Story.session($0, name) == correlation }
  }

  private var parties: [Address] {
    [envelope.header.source, envelope.header.destination, note.subject].compactMap(\.self)
  }

  /// In full, without the device, with the last part of a bundle identifier only, and what it plays.
  private static func names(_ address: Address) -> [String] {
    [address.text, address.short, address.tailName, address.role.rawValue] + (address == .messageBus ? ["bus"] : [])
  }
}

extension UUID {
  /// Its 32 digits, lower case, without hyphens.
  var digits: String { uuidString.lowercased().filter { $0 != "-" } }
}

extension EnvelopeNote.Mark {
  /// The mark in a word; `nil` for none.
  var word: String? {
    switch self {
    case .birth: "birth"
    case .death: "death"
    case .refused: "refused"
    case .none: nil
    }
  }
}
