// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
package import Journal
package import Messages

/// A filter of envelopes: a range of the journal, kinds, addresses and an expression.
package struct JournalFilter: Sendable {
  /// Globs such as `transfer.*`. An envelope passes when one matches its kind, or the kind that it replies to.
  package var kinds: [String] = []
  /// Globs such as `*/extension/*` or `agent/*`. One must match the sender, the receiver or the process that the
  /// envelope is about.
  package var addresses: [String] = []
  /// The first point of the range; `nil` for the beginning of the journal.
  package var since: Moment?
  /// The last point of the range; `nil` for no end.
  package var until: Moment?
  /// Must match, if present.
  package var expression: FilterExpression?

  /// Creates a filter. Without arguments every envelope passes.
  package init(
    kinds: [String] = [], addresses: [String] = [], since: Moment? = nil, until: Moment? = nil,
    expression: FilterExpression? = nil
  ) {
    self.kinds = kinds
    self.addresses = addresses
    self.since = since
    self.until = until
    self.expression = expression
  }

  /// Whether the envelope is before, in or after the range. A filter with a time relative to now must be fixed first.
  package func place(_ header: EnvelopeHeader) -> Place {
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

  /// The position of an envelope relative to the range.
  package enum Place: Equatable {
    case before
    case inside
    case after
  }

  /// Whether kind, address and expression match.
  package func passes(_ envelope: Envelope) -> Bool {
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

extension JournalFilter {
  /// The position in the journal at which reading starts.
  package var start: JournalPosition {
    switch since {
    case .sequence(let first): .sequence(first)
    case .time(let time): .time(time)
    case .ago, .timeOfDay, nil: .beginning
    }
  }
}
