// SPDX-License-Identifier: Apache-2.0

import Foundation
package import Messages

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

/// A short text about an envelope: the last column of `tail`, and the transcript of the demo.
package struct EnvelopeNote: Sendable {
  /// The mark in the margin: process started, process exited, refused, or none.
  package enum Mark: String, Sendable {
    case launch = "^"
    case exit = "!"
    case refused = "x"
    case none = " "

    /// The mark as a word; `nil` for none.
    package var word: String? {
      switch self {
      case .launch: "launch"
      case .exit: "exit"
      case .refused: "refused"
      case .none: nil
      }
    }
  }

  /// The mark.
  package var mark = Mark.none
  /// The text, on one line.
  package var text = ""
  /// The process that started, exited or changed its state, when it is not the sender.
  package var subject: Address?

  /// Creates the note of any envelope. For a body that cannot be decoded, the note contains the error.
  package init(_ envelope: Envelope) {
    do {
      self = try EnvelopeNote(reading: envelope)
    } catch {
      text = "body of \(envelope.body.count) bytes: \(error.message)"
    }
  }

  /// Creates a note with a text.
  init(_ text: String, _ mark: Mark = .none, about subject: Address? = nil) {
    self.mark = mark
    self.text = text
    self.subject = subject
  }

  private init(reading envelope: Envelope) throws(BusError) {
    let (kind, body) = (envelope.header.kind, envelope.body)
    switch kind.answer {
    case .failed:
      let error = try BodyCoding.decode(BusError.self, from: body)
      text = "\(error.code.rawValue)\(error.isDefinite ? "" : " (indefinite)"): \(error.message)"
      mark = .refused
    case .acknowledged: break
    case .ok: if let entry = NoteTable[kind] { self = try entry.note(body) }
    case nil:
      self = try NoteTable[kind]?.note(body) ?? EnvelopeNote(String(decoding: body.prefix(120), as: UTF8.self))
      if envelope.header.attempt > 0 { text += text.isEmpty ? "again" : " (sent again, \(envelope.header.attempt))" }
    }
  }
}

extension Address {
  /// The address shortened for a column: only the last part of a bundle identifier.
  package var tailName: String {
    guard let bundle = bundleIdentifier, let last = bundle.split(separator: ".").last else { return short }
    return "\(role.rawValue)/…\(last)"
  }
}

extension Envelope {
  /// Decodes the body; `nil` for another message type or a body that cannot be decoded.
  package func reading<M: Message>(_ type: M.Type) -> M? {
    header.kind == M.kind ? try? BodyCoding.decode(M.self, from: body) : nil
  }
}
