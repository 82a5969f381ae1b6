// SPDX-License-Identifier: Apache-2.0

import Archive
import AuthorRuntime
import Foundation
import MessageBus
import Messages
import SwiftUI
import Synchronization

/// A timeline with archived views, within the limits of its request.
@MainActor struct TimelineArchive {
  /// A larger timeline is written to a file: an envelope holds 256 KiB.
  static let envelopeLimit = 200 << 10

  private(set) var entries: [ArchivedEntry] = []
  /// Whether a view has a closure that needs a size.
  private(set) var hasClosures = false
  private var bodies: [Data] = []
  private let images: [String: Data]
  private let omitted: Int
  private let policy: ReloadPolicy

  /// Builds the views in the forms that they distinguish.
  ///
  /// - Parameters:
  ///   - indices: the entries to archive; `nil`: all.
  ///   - sizes: those with which the closures in the views are called.
  /// - Throws: a `BusError`: `archive-too-large` with the limit's name.
  init(
    _ timeline: GivenTimeline, _ request: RequestTimeline, only indices: [Int]? = nil, sizes: [Int: FormSizes] = [:]
  ) throws {
    let limits = request.limits
    let count = min(timeline.entries, limits.entries)
    omitted = timeline.entries - count
    policy = timeline.policy
    var bytes = 0
    let images = ArchivedImages()
    for index in indices ?? Array(0..<count) {
      let builder = EntryBuilder(
        timeline, index: index, request: request, images: images, sizes: sizes[index] ?? FormSizes())
      let entry = try builder.entry()
      hasClosures = hasClosures || builder.hasClosures
      let body = try BodyCoding.data(entry)
      bytes += body.count
      guard bytes + images.total <= limits.bytes else {
        throw BusError(
          .archiveTooLarge,
          """
          the first \(index + 1) of \(timeline.entries) entries of \(request.widgetKind) take \
          \(bytes + images.total) bytes, images included: the limit `bytes` is \(limits.bytes)
          """)
      }
      entries.append(entry)
      bodies.append(body)
    }
    self.images = images.bytes
  }

  /// The reply, with the entries or with the path of a file that contains them.
  ///
  /// - Parameters:
  ///   - container: the process's container folder; `nil` for a process without one, which always includes the entries.
  ///   - closures: the number under which the views are kept for `CallClosures`.
  /// - Throws: errors of the file system.
  func reply(below container: String?, closures: Int?) throws -> RequestTimeline.Reply {
    // In JSON, images are a third longer.
    let bytes = bodies.reduce(0) { $0 + $1.count } + images.values.reduce(0) { $0 + $1.count * 4 / 3 + 80 }
    guard bytes > Self.envelopeLimit, let container else {
      return RequestTimeline.Reply(
        entries: entries, policy: policy, omitted: omitted, images: images.isEmpty ? nil : images,
        closures: closures)
    }
    let folder = URL(fileURLWithPath: container).appendingPathComponent("Library/Caches/com.apple.chrono")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let file = folder.appendingPathComponent("\(UUID().uuidString).json")
    var data = Data("{\"entries\":[".utf8)
    for (index, body) in bodies.enumerated() {
      if index > 0 { data.append(UInt8(ascii: ",")) }
      data.append(body)
    }
    data.append(contentsOf: "],\"images\":".utf8)
    data.append(try BodyCoding.data(images))
    data.append(UInt8(ascii: "}"))
    try data.write(to: file, options: .atomic)
    return RequestTimeline.Reply(entries: [], policy: policy, omitted: omitted, file: file.path, closures: closures)
  }
}

/// The sizes of the closures of one entry, by the forms of its views.
struct FormSizes {
  private struct Form: Hashable {
    let name: ArchivedEntry.FormName
    let scheme: ColorSchemeName
  }

  private var sizes: [Form: [String: CGSize]] = [:]

  /// Adds sizes that the host found.
  mutating func add(_ foundSizes: [ClosureSizes]) {
    for form in foundSizes {
      sizes[Form(name: form.form, scheme: form.scheme), default: [:]].merge(
        form.sizes.mapValues { CGSize(width: $0.width, height: $0.height) }
      ) { $1 }
    }
  }

  /// The sizes of closures in a form. A closure without one has its size in the usual form, so that equal views stay
  /// equal.
  subscript(name: ArchivedEntry.FormName, scheme: ColorSchemeName) -> [String: CGSize] {
    [(ArchivedEntry.FormName.shown, ColorSchemeName.light), (name, .light), (name, scheme)].reduce(into: [:]) {
      $0.merge(sizes[Form(name: $1.0, scheme: $1.1)] ?? [:]) { $1 }
    }
  }
}

/// Archives the views of one entry in as many forms as they read: for the dark colour scheme if they read the scheme, for
/// hidden content if they read the redaction reasons, and for the time after a tap if they also have a control.
@MainActor private final class EntryBuilder {
  private let timeline: GivenTimeline
  private let index: Int
  private let request: RequestTimeline
  /// Receives the bytes of the images.
  private let images: ArchivedImages
  private let sizes: FormSizes
  private let reads = EnvironmentReads()
  private(set) var hasClosures = false

  init(
    _ timeline: GivenTimeline, index: Int, request: RequestTimeline, images: ArchivedImages, sizes: FormSizes
  ) {
    self.timeline = timeline
    self.index = index
    self.request = request
    self.images = images
    self.sizes = sizes
  }

  func entry() throws -> ArchivedEntry {
    let entry = timeline.entry(index)
    let shown = try form(.shown, request.purpose == .placeholder ? .placeholder : [])
    // Only entries of a timeline are shown while content is hidden; a placeholder has nothing to hide.
    let readsReasons = request.purpose == .timeline && reads.containsRedactionReasons
    let hidden = readsReasons ? try form(.hidden, .privacy) : shown
    let invalidated = readsReasons && !shown.view.controls.isEmpty ? try form(.invalidated, .invalidated) : shown
    return ArchivedEntry(
      date: entry.date, view: shown.view, darkView: shown.darkView, privateForm: hidden == shown ? nil : hidden,
      invalidatedForm: invalidated == shown ? nil : invalidated,
      relevance: entry.relevance.map {
        ArchivedEntry.Relevance(score: Double($0.score), duration: $0.duration)
      })
  }

  private func form(_ name: ArchivedEntry.FormName, _ reasons: RedactionReasons) throws -> ArchivedEntry.Form {
    let light = try view(name, scheme: .light, reasons: reasons)
    let dark = reads.containsColorScheme ? try view(name, scheme: .dark, reasons: reasons) : light
    return ArchivedEntry.Form(view: light, darkView: dark == light ? nil : dark)
  }

  private func view(
    _ name: ArchivedEntry.FormName, scheme: ColorSchemeName, reasons: RedactionReasons
  ) throws -> ViewArchive {
    let closures = ArchivedClosures(sizes: sizes[name, scheme])
    var environment = EnvironmentValues(request.environment, scheme)
    environment.redactionReasons = reasons
    environment.reads = reads
    environment.images = images
    environment.closures = closures
    environment.appearing = AppearingViews()
    defer { hasClosures = hasClosures || !closures.isEmpty }
    do {
      let view = environment.during { timeline.view(index) }
      return try view.archived(in: environment, limits: request.limits)
    } catch {
      throw BusError(.archiveTooLarge, "entry \(index + 1) of \(request.widgetKind): \(error)")
    }
  }
}

/// Faults of the views of a process's widgets, each recorded once for a kind.
final class ViewFaults: Sendable {
  private let wantsContainerBackground: Bool
  private let reported = Mutex<Set<String>>([])

  /// - Parameter version: the device's major version. From iOS 17 on a widget needs a container background.
  init(version: Int = DeviceVersion.major) { wantsContainerBackground = version >= 17 }

  /// Records what the views lack, and views that widgets do not support.
  ///
  /// - Parameter isControl: whether it is the view of a control, which has no container background.
  func notice(_ entries: [ArchivedEntry], of kind: String, isControl: Bool, in process: HostedProcess?) {
    guard let process, let view = entries.first?.view else { return }
    if wantsContainerBackground, !isControl, !view.hasContainerBackground, isFirst("\(kind) background") {
      process.connection.record(
        FaultNoticed(
          .noContainerBackground, subject: kind,
          details: "the view of \(kind) has no containerBackground(for: .widget): it is not shown from iOS 17 on"))
    }
    if UnsimulatedValues.isLuminanceRead {
      process.noticeUnsimulated("isLuminanceReduced", "it is always false: views are archived for full light only")
    }
    for name in view.modifiersWithoutEffect {
      process.noticeUnsimulated(name, "its text is not shown")
    }
    for name in view.unsupportedViews where isFirst("\(kind) \(name)") {
      process.connection.record(
        FaultNoticed(
          .unsupportedView, subject: kind,
          details: "the view of \(kind) has a \(name), which widgets cannot show: a symbol is shown instead"))
    }
    for problem in view.assetProblems where isFirst("\(kind) \(problem)") {
      // Each is a diagnosis for itself.
      process.connection.record(
        FaultNoticed(
          .assetNotUsable, subject: "\(kind): \(problem)", details: "the view of \(kind) cannot show \(problem)"))
    }
  }

  private func isFirst(_ fault: String) -> Bool { reported.withLock { $0.insert(fault).inserted } }
}
