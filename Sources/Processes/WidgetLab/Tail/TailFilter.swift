import Conversations
import Foundation
import Glibc

/// Which envelopes `tail` prints.
struct TailFilter: Sendable {
  /// Globs such as `transfer.*`; an envelope passes when one matches its kind, or the kind that it answers.
  var kinds: [String] = []
  /// Globs such as `*/extension/*` or `agent/*`; one must match the sender, the receiver or the process that is spoken of.
  var addresses: [String] = []
  var since: Moment?
  var until: Moment?

  /// A point in the journal.
  enum Moment: Equatable, Sendable {
    case sequence(UInt64)
    /// Seconds before the command was given.
    case ago(Double)
    case time(Timestamp)

    /// Reads `seq:4711`, `5m`, `1.5h`, `30s` or seconds since 1970 as `@1790000000`; `nil` for anything else.
    init?(_ text: String) {
      if text.hasPrefix("seq:") {
        guard let sequence = UInt64(text.dropFirst(4)) else { return nil }
        self = .sequence(sequence)
      } else if text.hasPrefix("@") {
        guard let seconds = Double(text.dropFirst()) else { return nil }
        self = .time(Timestamp(microseconds: Int64(seconds * 1e6)))
      } else {
        let units: [Character: Double] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
        guard let unit = text.last.flatMap({ units[$0] }), let value = Double(text.dropLast()), value >= 0 else {
          return nil
        }
        self = .ago(value * unit)
      }
    }

    /// The same with a time in place of a distance from now.
    func fixed(now: Timestamp) -> Moment {
      guard case .ago(let seconds) = self else { return self }
      return .time(Timestamp(microseconds: now.microseconds - Int64(seconds * 1e6)))
    }
  }

  /// Whether the envelope lies before the range, in it, or after it. A filter with a distance from now must be fixed.
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

  /// Whether kind and address pass.
  func passes(_ envelope: Envelope) -> Bool {
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
