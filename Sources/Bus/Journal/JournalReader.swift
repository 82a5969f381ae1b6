// SPDX-License-Identifier: Apache-2.0

package import Foundation
package import Messages

/// The start position of a reader.
package enum JournalPosition: Hashable, Sendable {
  /// The oldest envelope in the journal.
  case beginning
  /// The envelope with this number, or the oldest one after it.
  case sequence(UInt64)
  /// The first envelope sent at this time or later, by the sender's clock, and all that follow it.
  case time(Timestamp)
  /// Envelopes written from now on.
  case end
}

/// Reads the journal from a folder, or one segment from its file. Either may be read-only, copied from elsewhere, or in
/// use by a running broker.
package struct JournalReader: Sendable {
  private let folder: SegmentFolder

  /// Creates a reader of a folder, or of the file of one segment. A missing folder is treated as empty.
  package init(folder: URL) { self.folder = SegmentFolder(folder) }

  /// Whether a file begins as a segment does.
  package static func isSegment(_ file: URL) -> Bool { (try? SegmentFolder(file).segments()) != nil }

  /// Returns all envelopes from a position to the current end of the journal.
  ///
  /// - Throws: `JournalError`, see `JournalCursor.next`.
  package func read(from start: JournalPosition = .beginning) throws(JournalError) -> [Envelope] {
    var cursor = cursor(from: start)
    var envelopes: [Envelope] = []
    while let envelope = try cursor.next() { envelopes.append(envelope) }
    return envelopes
  }

  /// Returns a cursor for reading step by step, without waiting.
  package func cursor(from start: JournalPosition = .beginning) -> JournalCursor { JournalCursor(folder, from: start) }

  /// Returns all envelopes from a position on, then each new one as it is written. The sequence ends when its task is
  /// cancelled.
  package func follow(from start: JournalPosition = .beginning) -> JournalFollowing {
    JournalFollowing(cursor: cursor(from: start))
  }
}

/// The journal as a sequence that follows new records.
///
/// It polls every 20 ms at the end, since a mounted folder may deliver no file notifications.
package struct JournalFollowing: AsyncSequence, Sendable {
  package typealias Element = Envelope
  package typealias Failure = any Error

  let cursor: JournalCursor

  package func makeAsyncIterator() -> Iterator { Iterator(cursor: cursor) }

  package struct Iterator: AsyncIteratorProtocol {
    var cursor: JournalCursor

    /// Returns the next envelope; nil once the task is cancelled.
    ///
    /// - Throws: `JournalError`, see `JournalCursor.next`.
    package mutating func next() async throws -> Envelope? {
      while !Task.isCancelled {
        if let envelope = try cursor.next() { return envelope }
        do {
          // A file system that is shared with another machine reports no changes, so the end is read again: a follower is
          // at most this late.
          try await Task.sleep(for: .milliseconds(20))
        } catch {
          return nil
        }
      }
      return nil
    }
  }
}
