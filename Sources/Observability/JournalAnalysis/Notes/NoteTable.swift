// SPDX-License-Identifier: Apache-2.0

import Messages

/// Creates the notes of one message type, or of the replies to one.
struct NoteEntry: Sendable {
  /// The message type.
  let kind: Kind
  /// Creates the note from a body.
  let note: @Sendable (_ body: [UInt8]) throws(BusError) -> EnvelopeNote

  /// The notes of a message type.
  ///
  /// - Parameters:
  ///   - mark: the mark in the margin.
  ///   - subject: the process that the message is about, when it is not the sender.
  static func note<M: Message>(
    _ type: M.Type, mark: @escaping @Sendable (M) -> EnvelopeNote.Mark = { _ in .none },
    about subject: @escaping @Sendable (M) -> Address? = { _ in nil }, text: @escaping @Sendable (M) -> String
  ) -> NoteEntry {
    NoteEntry(kind: M.kind) { (body: [UInt8]) throws(BusError) -> EnvelopeNote in
      let message = try BodyCoding.decode(M.self, from: body)
      return EnvelopeNote(text(message), mark(message), about: subject(message))
    }
  }

  /// The notes of a message type whose body is not read.
  static func constant<M: Message>(_ type: M.Type, _ text: String = "") -> NoteEntry {
    NoteEntry(kind: M.kind) { (_: [UInt8]) throws(BusError) -> EnvelopeNote in EnvelopeNote(text) }
  }

  /// The notes of the successful replies to a request. Replies without an entry have no text.
  static func reply<R: Request>(
    to type: R.Type, mark: @escaping @Sendable (R.Reply) -> EnvelopeNote.Mark = { _ in .none },
    text: @escaping @Sendable (R.Reply) -> String
  ) -> NoteEntry {
    NoteEntry(kind: R.kind.answered(.ok)) { (body: [UInt8]) throws(BusError) -> EnvelopeNote in
      let reply = try BodyCoding.decode(R.Reply.self, from: body)
      return EnvelopeNote(text(reply), mark(reply))
    }
  }
}

/// The notes of all message types and replies.
enum NoteTable {
  /// All entries, one per message type or reply.
  static let entries =
    ProcessNotes.all + BusNotes.all + SessionNotes.all + DeviceNotes.all + TimelineNotes.all + GalleryNotes.all
    + DefaultsNotes.all + ActivityNotes.all
    + PushNotes.all + FleetNotes.all

  private static let byKind = Dictionary(entries.map { ($0.kind, $0) }) { first, _ in first }

  /// The entry of a message type or a reply.
  static subscript(kind: Kind) -> NoteEntry? { byKind[kind] }
}
