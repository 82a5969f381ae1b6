package import Conversations
package import Foundation

/// Where reading begins.
package enum JournalPosition: Hashable, Sendable {
  /// The oldest envelope that there is.
  case beginning
  /// The envelope with this number, or the oldest one that there is after it.
  case sequence(UInt64)
  /// The first envelope that was sent at this time or later, by its sender's clock; then all that follow.
  case time(Timestamp)
  /// What is written from now on.
  case end
}

/// Reads what went over the bus, from a folder that may be read-only, copied from elsewhere, or written to right now by
/// another process.
package struct JournalReader: Sendable {
  private let folder: SegmentFolder

  /// A reader of a folder. One that does not exist yet is like an empty one.
  package init(folder: URL) { self.folder = SegmentFolder(path: folder.path(percentEncoded: false)) }

  /// All envelopes from a position to the end that the journal has now.
  ///
  /// - Throws: `JournalError`, see `JournalCursor.next`.
  package func read(from start: JournalPosition = .beginning) throws(JournalError) -> [Envelope] {
    var cursor = cursor(from: start)
    var envelopes: [Envelope] = []
    while let envelope = try cursor.next() { envelopes.append(envelope) }
    return envelopes
  }

  /// A place from which one reads step by step, without waiting.
  package func cursor(from start: JournalPosition = .beginning) -> JournalCursor { JournalCursor(folder, from: start) }

  /// All envelopes from a position on, and then each as it is written, for ever. The sequence ends when its task is
  /// cancelled.
  package func follow(from start: JournalPosition = .beginning) -> JournalFollowing {
    JournalFollowing(cursor: cursor(from: start))
  }
}

/// The journal as it grows.
///
/// At its end it looks again every 20 ms, since a folder may be mounted from where no notification comes.
package struct JournalFollowing: AsyncSequence, Sendable {
  package typealias Element = Envelope
  package typealias Failure = any Error

  let cursor: JournalCursor

  package func makeAsyncIterator() -> Iterator { Iterator(cursor: cursor) }

  package struct Iterator: AsyncIteratorProtocol {
    var cursor: JournalCursor

    /// The next envelope; nil once the task is cancelled.
    ///
    /// - Throws: `JournalError`, see `JournalCursor.next`.
    package mutating func next() async throws -> Envelope? {
      while !Task.isCancelled {
        if let envelope = try cursor.next() { return envelope }
        do {
          try await Task.sleep(for: .milliseconds(20))
        } catch {
          return nil
        }
      }
      return nil
    }
  }
}
