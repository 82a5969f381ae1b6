import Foundation
import Glibc
import Messages

/// Which envelopes `tail` prints.
struct TailFilter: Sendable {
  /// Globs such as `transfer.*`. An envelope passes when one matches its kind, or the kind that it replies to.
  var kinds: [String] = []
  /// Globs such as `*/extension/*` or `agent/*`. One must match the sender, the receiver or the process that the
  /// envelope is about.
  var addresses: [String] = []
  var since: Moment?
  var until: Moment?
  /// Must match, if present.
  var expression: FilterExpression?

  /// Whether the envelope is before, in or after the range. A filter with a time relative to now must be fixed first.
  func place(_ header: EnvelopeHeader) -> Place {
    switch since {
    case .sequence(let first) where header.sequence < first: return .before
    case .time(let first) where header.sentAt < first: return .before
    default: break
    }
    switch until {
    case .sequence(let last) where header.sequence > last: return .after
    case .time(let last) where header.sentAt > last: return .after
    default: return .inside
    }
  }

  enum Place: Equatable {
    case before
    case inside
    case after
  }

  /// Whether kind, address and expression match.
  func passes(_ envelope: Envelope) -> Bool {
    if let expression, !expression.matches(envelope) { return false }
    let header = envelope.header
    if !kinds.isEmpty {
      guard kinds.contains(where: { matches($0, header.kind.name) || matches($0, header.kind.asked.name) }) else {
        return false
      }
    }
    guard !addresses.isEmpty else { return true }
    let parties = [header.source, header.destination, EnvelopeNote(envelope).subject].compactMap(\.self)
    return addresses.contains { glob in
      parties.contains { matches(glob, $0.text) || matches(glob, $0.short) || matches(glob, $0.tailName) }
    }
  }

  private func matches(_ glob: String, _ text: String) -> Bool { fnmatch(glob, text, 0) == 0 }
}
