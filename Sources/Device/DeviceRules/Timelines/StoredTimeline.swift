// SPDX-License-Identifier: Apache-2.0

package import Archive
import Crypto
package import Foundation
package import Messages
import ShownText

/// Why a provider's reply is rejected.
package struct TimelineFault: Error, Equatable {
  package let failure: ReloadFailed.Failure
  package let reason: String
  package init(_ failure: ReloadFailed.Failure, _ reason: String) {
    self.failure = failure
    self.reason = reason
  }
}

/// A timeline as it is stored: sorted, within the limits, each view encoded once.
package struct StoredTimeline: Sendable {
  package struct Entry: Sendable {
    package let upcoming: UpcomingEntry
    /// JSON of a `ViewArchive`.
    package let view: Data
    package let darkView: Data?
    /// JSON of an `ArchivedEntry.Form`.
    package let privateForm: Data?
    package let invalidatedForm: Data?
    /// The SHA-256 of the images of all its forms, without those whose bytes the extension did not send.
    package internal(set) var images: [String] = []
  }

  package let entries: [Entry]
  /// The bytes of the images by their SHA-256.
  package let images: [String: Data]
  package let policy: ReloadPolicy
  package let bytes: Int
  package let digest: String
  package let note: String?

  /// Validates what an extension sent: it received the limits, but is not trusted to respect them.
  ///
  /// Entries are sorted by date; of several with one date the last counts. Those over the limit are left out
  /// (ours).
  ///
  /// - Parameters:
  ///   - given: the entries of the reply, or of its file.
  ///   - sent: the images of the reply, or of its file.
  package init(
    _ given: [ArchivedEntry], images sent: [String: Data] = [:], _ reply: RequestTimeline.Reply,
    _ limits: ArchiveLimits
  ) throws(TimelineFault) {
    guard !given.isEmpty else { throw TimelineFault(.empty, "the provider returned a timeline without entries") }
    let sorted = Self.inOrder(given)
    let kept = sorted.prefix(max(limits.entries, 1))
    var entries: [Entry] = []
    var bytes = try Self.check(sent, limits)
    var used: Set<String> = []
    var hash = SHA256()
    for entry in kept {
      var views = [entry.view, entry.darkView]
      for form in [entry.privateForm, entry.invalidatedForm] { views += [form?.view, form?.darkView] }
      for view in views.compactMap(\.self) { try Self.check(view, limits) }
      let view = try Self.encode(entry.view)
      let dark = try entry.darkView.map { view throws(TimelineFault) in try Self.encode(view) }
      let hidden = try entry.privateForm.map { form throws(TimelineFault) in try Self.encode(form) }
      let invalidated = try entry.invalidatedForm.map { form throws(TimelineFault) in try Self.encode(form) }
      let others = [dark, hidden, invalidated].compactMap(\.self)
      bytes += view.count + others.reduce(0) { $0 + $1.count }
      guard bytes <= limits.bytes else {
        throw TimelineFault(.tooLarge, "bytes: the archive exceeds the limit of \(limits.bytes) bytes")
      }
      hash.update(data: view)
      for other in others { hash.update(data: other) }
      let upcoming = UpcomingEntry(
        date: entry.date, text: Self.text(of: entry.view), relevance: entry.relevance,
        transition: EntryTransition(entry.view, view))
      let own = Set(views.compactMap(\.self).flatMap(\.imageDigests)).filter { sent[$0] != nil }
      used.formUnion(own)
      entries.append(
        Entry(
          upcoming: upcoming, view: view, darkView: dark, privateForm: hidden, invalidatedForm: invalidated,
          images: own.sorted()))
    }
    self.entries = entries
    images = sent.filter { used.contains($0.key) }
    self.bytes = bytes
    policy = reply.policy
    digest = hash.finalize().prefix(8).map { String(format: "%02x", $0) }.joined()
    let omitted = reply.omitted + sorted.count - kept.count
    note = omitted > 0 ? "\(omitted) entries over the limit of \(limits.entries) are left out" : nil
  }

  package func facts(_ because: ReloadCause) -> TimelineFacts {
    TimelineFacts(
      reloadCause: because, entries: entries.count, first: entries[0].upcoming.date,
      last: entries[entries.count - 1].upcoming.date, policy: policy, bytes: bytes, digest: digest, note: note)
  }

  /// The entries by date; of several with one date the last.
  package static func inOrder(_ given: [ArchivedEntry]) -> [ArchivedEntry] {
    var last: [Date: Int] = [:]
    for (index, entry) in given.enumerated() { last[entry.date] = index }
    return last.sorted { $0.key < $1.key }.map { given[$0.value] }
  }

  private static func encode(_ view: some Encodable) throws(TimelineFault) -> Data {
    do {
      return try BodyCoding.data(view)
    } catch {
      throw TimelineFault(.failed, "the archive cannot be encoded: \(error.message.start(bytes: 300))")
    }
  }

  /// The texts of a view, shortened to what a line of the journal can hold.
  private static func text(of view: ViewArchive) -> [String] { view.lines.prefix(40).map { $0.start(bytes: 200) } }

  /// Checks that the images have the digests by which the views name them, and the area that is permitted. A file that
  /// is no image is stored, and named when it is drawn.
  ///
  /// - Returns: the bytes of all images.
  private static func check(_ images: [String: Data], _ limits: ArchiveLimits) throws(TimelineFault) -> Int {
    let bytes = images.values.reduce(0) { $0 + $1.count }
    guard bytes <= limits.bytes else {
      throw TimelineFault(.tooLarge, "bytes: the images exceed the limit of \(limits.bytes) bytes")
    }
    for (digest, data) in images {
      guard SHA256.hash(data: data).map({ String(format: "%02x", $0) }).joined() == digest else {
        throw TimelineFault(.failed, "an image does not have the digest \(digest.start(bytes: 64))")
      }
      if let file = try? ImageFile(header: data), file.area > limits.imageArea {
        throw TimelineFault(
          .tooLarge,
          "imageArea: an image of \(file.width) by \(file.height) pixels exceeds the area limit of \(limits.imageArea)")
      }
    }
    return bytes
  }

  /// Checks depth and images, without recursion, because the author determines the depth of the tree.
  private static func check(_ view: ViewArchive, _ limits: ArchiveLimits) throws(TimelineFault) {
    var left: [(view: ViewArchive, depth: Int)] = [(view, 1)]
    while let (view, depth) = left.popLast() {
      guard depth <= limits.depth else {
        throw TimelineFault(.tooLarge, "depth: views are nested deeper than \(limits.depth) levels")
      }
      if view.name == "Image", let width = view.arguments["pixelWidth"]?.number,
        let height = view.arguments["pixelHeight"]?.number, width * height > limits.imageArea
      {
        throw TimelineFault(
          .tooLarge,
          "imageArea: an image of \(width.formatted()) by \(height.formatted()) pixels exceeds the area "
            + "limit of \(limits.imageArea)")
      }
      for child in view.children { left.append((child, depth + 1)) }
      for child in view.modifiers.flatMap(\.views) { left.append((child, depth + 1)) }
    }
  }
}
