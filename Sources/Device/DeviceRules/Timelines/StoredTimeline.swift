// SPDX-License-Identifier: Apache-2.0

package import Archive
import Crypto
package import Foundation
package import Messages

/// Why a provider's reply is rejected, or a reload fails.
package struct TimelineFault: Error, Codable, Hashable {
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
    package private(set) var images: [String] = []
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
  ///   - givenEntries: the entries of the reply, or of its file.
  ///   - sentImages: the images of the reply, or of its file.
  package init(
    _ givenEntries: [ArchivedEntry], images sentImages: [String: Data] = [:], reply: RequestTimeline.Reply,
    limits: ArchiveLimits
  ) throws(TimelineFault) {
    guard !givenEntries.isEmpty else { throw TimelineFault(.empty, "the provider returned a timeline without entries") }
    let sorted = Self.inOrder(givenEntries)
    let keptEntries = sorted.prefix(max(limits.entries, 1))
    var entries: [Entry] = []
    var bytes = try Self.check(sentImages, limits)
    var used: Set<String> = []
    var hash = SHA256()
    for entry in keptEntries {
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
      let own = Set(views.compactMap(\.self).flatMap(\.imageDigests)).filter { sentImages[$0] != nil }
      used.formUnion(own)
      entries.append(
        Entry(
          upcoming: upcoming, view: view, darkView: dark, privateForm: hidden, invalidatedForm: invalidated,
          images: own.sorted()))
    }
    self.entries = entries
    images = sentImages.filter { used.contains($0.key) }
    self.bytes = bytes
    policy = reply.policy
    digest = hash.finalize().prefix(8).hexadecimal
    let omitted = reply.omitted + sorted.count - keptEntries.count
    note = omitted > 0 ? "\(omitted) entries over the limit of \(limits.entries) are left out" : nil
  }

  package func facts(_ because: ReloadCause) -> TimelineFacts {
    TimelineFacts(
      reloadCause: because, entries: entries.count, first: entries[0].upcoming.date,
      last: entries[entries.count - 1].upcoming.date, policy: policy, bytes: bytes, digest: digest, note: note)
  }

  /// The entries by date; of several with one date the last.
  package static func inOrder(_ givenEntries: [ArchivedEntry]) -> [ArchivedEntry] {
    var last: [Date: Int] = [:]
    for (index, entry) in givenEntries.enumerated() { last[entry.date] = index }
    return last.sorted { $0.key < $1.key }.map { givenEntries[$0.value] }
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
      guard SHA256.hash(data: data).hexadecimal == digest else {
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
      if view.name == .leaf(.image), let width = view.arguments[.pixelWidth]?.number,
        let height = view.arguments[.pixelHeight]?.number, width * height > limits.imageArea
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

/// The data by which the system animates the change to and from an entry. It is stored with the entry, because the
/// views are not available when the entry is due. A plain value.
///
/// An entry is divided into regions: the whole view, and within it each view to which `animation`, `contentTransition`
/// or `transition` is applied. A region has changed if its content has, without that of nested regions.
///
/// Source: *Animating data updates in widgets and Live Activities*: the system animates changes, as the views specify
/// or by its default; no animation is longer than two seconds, and an Always-On display has none.
package struct EntryTransition: Codable, Sendable, Hashable {
  /// The longest animation, seconds. Source: the same.
  static let limit = 2.0
  /// The default animation. Source: the spring is observed; its duration is that of SwiftUI.
  static let implicit = Timing(curve: "spring", seconds: 0.5)
  /// The largest number of regions, to bound memory. The content of further ones belongs to their parents.
  private static let regionLimit = 64

  struct Timing: Codable, Sendable, Hashable {
    let curve: String
    let seconds: Double
  }

  /// The rule that a region's modifier sets.
  enum Rule: Codable, Sendable, Hashable {
    case whole
    /// `nil`: no animation. Without a value it applies to each change, otherwise to changes of the value.
    case animation(Timing?, value: String?)
    case contentTransition(String)
    /// Applies to a view that is inserted or removed. `nil`: as in the parent region.
    case transition(String, Timing?)
  }

  struct Region: Codable, Sendable, Hashable {
    /// The position in the view tree.
    let path: String
    /// The region that contains it.
    let parent: Int?
    let rule: Rule
    /// SHA-256 of its content, the first 16 hexadecimal digits.
    let content: String
  }

  private(set) var regions: [Region] = []

  /// - Parameters:
  ///   - view: within the depth limit of archives.
  ///   - data: the same view as JSON.
  init(_ view: ViewArchive, _ data: Data) {
    guard view.namesAnimations else {
      regions = [Region(path: "", parent: nil, rule: .whole, content: SHA256.hash(data: data).text)]
      return
    }
    var reader = Reader()
    let whole = reader.open("", in: nil, .whole)
    reader.read(view, "", in: whole)
    regions = reader.regions
  }

  /// How the system animates the change from an earlier entry to this one; `nil` if it does not.
  func animation(from formerTransition: EntryTransition) -> EntryAnimation? {
    let earlier = Dictionary(formerTransition.regions.map { ($0.path, $0) }) { first, _ in first }
    let ownPaths = Set(regions.map(\.path))
    let changed = regions.indices.filter { earlier[regions[$0].path]?.content != regions[$0].content }
    var effects = changed.map { effect(of: $0, earlier) }
    for region in formerTransition.regions where !ownPaths.contains(region.path) {
      effects.append(Self.leaving(region))
    }
    var longest: Effect?
    for effect in effects where effect.timing != nil {
      let isLonger = effect.seconds > longest?.seconds ?? -1
      let saysMore = effect.seconds == longest?.seconds && longest?.transition == nil
      if isLonger || saysMore { longest = effect }
    }
    return longest.flatMap { effect in
      effect.timing.map {
        EntryAnimation(curve: $0.curve, seconds: min($0.seconds, Self.limit), transition: effect.transition)
      }
    }
  }

  private struct Effect {
    var timing: Timing?
    var transition: String?
    var seconds: Double { timing?.seconds ?? 0 }
  }

  /// The effect in a region that changed: that of its modifier, or that of its parent.
  private func effect(of index: Int, _ earlier: [String: Region]) -> Effect {
    let region = regions[index]
    var effect = region.parent.map { self.effect(of: $0, earlier) } ?? Effect(timing: Self.implicit)
    let before = earlier[region.path]
    switch region.rule {
    case .whole: break
    case .animation(let timing, nil): effect.timing = timing
    case .animation(let timing, let value?):
      // An inserted view has no earlier value that could have changed.
      if case .animation(_, let former?)? = before?.rule, former != value { effect.timing = timing }
    case .contentTransition(let name):
      effect.transition = name
      if name == "identity" { effect.timing = nil }
    case .transition(let name, let timing):
      guard before == nil else { break }
      effect.transition = name
      effect.timing = name == "identity" ? nil : timing ?? effect.timing
    }
    return effect
  }

  /// The effect for a region that was removed.
  private static func leaving(_ region: Region) -> Effect {
    guard case .transition(let name, let timing) = region.rule else { return Effect(timing: implicit) }
    return Effect(timing: name == "identity" ? nil : timing ?? implicit, transition: name)
  }
}

extension EntryTransition {
  /// Divides a tree into regions. Recursion is as deep as the tree, which the limits of archives bound.
  private struct Reader {
    private var open: [(path: String, parent: Int?, rule: Rule, hash: SHA256)] = []

    var regions: [Region] {
      open.map { Region(path: $0.path, parent: $0.parent, rule: $0.rule, content: $0.hash.finalize().text) }
    }

    mutating func open(_ path: String, in parent: Int?, _ rule: Rule) -> Int {
      open.append((path, parent, rule, SHA256()))
      return open.count - 1
    }

    mutating func read(_ view: ViewArchive, _ path: String, in region: Int) {
      var region = region
      // The modifier that was applied last is the outermost.
      for (index, modifier) in view.modifiers.enumerated().reversed() {
        if let rule = Rule(modifier), open.count < EntryTransition.regionLimit {
          region = open("\(path)#\(index)", in: region, rule)
        } else {
          take(modifier.name.rawValue, modifier.arguments, in: region)
          for (number, own) in modifier.views.enumerated() { read(own, "\(path)#\(index).\(number)", in: region) }
        }
      }
      take(view.name.rawValue, view.arguments, in: region)
      for (index, child) in view.children.enumerated() { read(child, "\(path)/\(index)", in: region) }
      take(")", [:], in: region)
    }

    private mutating func take(_ name: String, _ arguments: ArchivedArguments, in region: Int) {
      open[region].hash.update(data: Data("\(name)(".utf8))
      if !arguments.isEmpty, let data = try? BodyCoding.data(arguments.values) { open[region].hash.update(data: data) }
    }
  }
}

extension EntryTransition.Rule {
  /// `nil` for a modifier that does not concern animations.
  fileprivate init?(_ modifier: ViewArchive.Modifier) {
    let arguments = modifier.arguments
    let name = arguments[.transition]?.string ?? ""
    switch modifier.name {
    case .silent(.animation):
      self = .animation(EntryTransition.Timing(arguments), value: arguments[.value]?.string.map(Self.digest))
    case .silent(.contentTransition): self = .contentTransition(name)
    case .silent(.transition): self = .transition(name, EntryTransition.Timing(arguments))
    case .style, .shape, .layout, .layer, .effect, .color, .chart, .accessibility, .silent, .undrawn, .unknown:
      return nil
    }
  }

  /// Shortens a value of any length.
  private static func digest(_ value: String) -> String {
    value.utf8.count > 64 ? SHA256.hash(data: Data(value.utf8)).text : value
  }
}

extension EntryTransition.Timing {
  /// Reads an archived `Animation`: its name, whose first word is the curve, and its seconds.
  fileprivate init?(_ arguments: ArchivedArguments) {
    guard let name = arguments[.animation]?.string, let curve = name.split(separator: " ").first else { return nil }
    let seconds = arguments[.seconds]?.number ?? EntryTransition.implicit.seconds
    // An endless animation has infinite seconds, which a JSON number cannot express.
    self.init(curve: curve.start(bytes: 40), seconds: (0...3600).contains(seconds) ? seconds : seconds > 0 ? 3600 : 0)
  }
}

extension SHA256.Digest {
  /// The first 16 hexadecimal digits.
  fileprivate var text: String { prefix(8).hexadecimal }
}

extension ViewArchive {
  /// Whether one of its modifiers concerns animations. Without recursion.
  fileprivate var namesAnimations: Bool {
    var left = [self]
    while let view = left.popLast() {
      for modifier in view.modifiers {
        if EntryTransition.Rule(modifier) != nil { return true }
        left += modifier.views
      }
      left += view.children
    }
    return false
  }
}
