// SPDX-License-Identifier: Apache-2.0

package import Foundation
package import Messages

/// The fields of one envelope for expressions. The body is decoded lazily.
package final class EnvelopeFacts {
  /// The envelope.
  package let envelope: Envelope
  /// Its note.
  package private(set) lazy var note = EnvelopeNote(envelope)
  private lazy var body: [String: Any] = read()

  /// Creates the facts of an envelope.
  package init(_ envelope: Envelope) { self.envelope = envelope }

  /// A body that is not a JSON object has no fields.
  private func read() -> [String: Any] {
    let object = try? JSONSerialization.jsonObject(with: Data(envelope.body))
    let fields = object as? [String: Any] ?? [:]
    // In broker messages about a peer, the fields are one level deeper.
    return fields.merging(fields["registration"] as? [String: Any] ?? [:]) { own, _ in own }
  }

  /// All values of a text or address field. An address also has its short forms.
  package func texts(_ field: FilterField) -> [String] {
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

  /// The value of a numeric field; `nil` when the envelope does not have it.
  package func number(_ field: FilterField) -> Int64? {
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

  /// The digits of an identifier, lower case, without hyphens.
  package func identifier(_ field: FilterField) -> String? {
    let header = envelope.header
    return switch field {
    case .correlation: header.correlation?.digits
    case .id: header.id.digits
    case .cause: header.cause?.digits
    default: nil
    }
  }

  /// Whether its correlation id is that of a session with that name of its sender, its receiver or the process that it
  /// is about, so that replies belong to the session too.
  func belongs(toSession name: String) -> Bool {
    guard let correlation = envelope.header.correlation else { return false }
    return parties.contains { MessageContext.correlation(ofSession: name, of: $0) == correlation }
  }

  private var parties: [Address] {
    [envelope.header.source, envelope.header.destination, note.subject].compactMap(\.self)
  }

  /// The full address, the one without the device, the one with only the last part of the bundle identifier, and the
  /// role.
  private static func names(_ address: Address) -> [String] {
    [address.text, address.short, address.tailName, address.role.rawValue] + (address == .messageBus ? ["bus"] : [])
  }
}

extension UUID {
  /// Its 32 digits, lower case, without hyphens.
  package var digits: String { text.filter { $0 != "-" } }
}
