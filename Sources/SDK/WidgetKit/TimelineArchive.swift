// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Messages
import SwiftUI

/// A timeline with archived views, within the limits of its request.
@MainActor struct TimelineArchive {
  /// A larger timeline is written to a file: an envelope holds 256 KiB.
  static let envelopeLimit = 200 << 10

  private(set) var entries: [ArchivedEntry] = []
  private var bodies: [Data] = []
  private let images: [String: Data]
  private let omitted: Int
  private let policy: ReloadPolicy

  /// Builds the views in the forms that they distinguish.
  ///
  /// - Throws: a `BusError`: `archive-too-large` with the limit's name.
  init(_ timeline: GivenTimeline, _ request: RequestTimeline) throws {
    let limits = request.limits
    let count = min(timeline.entries, limits.entries)
    omitted = timeline.entries - count
    policy = timeline.policy
    var bytes = 0
    let images = ArchivedImages()
    for index in 0..<count {
      let entry = try ArchivedEntry(timeline, index, request, images)
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
  /// - Parameter container: the process's container folder; `nil` for a process without one, which always includes the
  ///   entries.
  /// - Throws: errors of the file system.
  func reply(below container: String?) throws -> RequestTimeline.Reply {
    // In JSON, images are a third longer.
    let bytes = bodies.reduce(0) { $0 + $1.count } + images.values.reduce(0) { $0 + $1.count * 4 / 3 + 80 }
    guard bytes > Self.envelopeLimit, let container else {
      return RequestTimeline.Reply(
        entries: entries, policy: policy, omitted: omitted, images: images.isEmpty ? nil : images)
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
    return RequestTimeline.Reply(entries: [], policy: policy, omitted: omitted, file: file.path)
  }
}

extension ArchivedEntry {
  /// The entry with its views in as many forms as they read: for the dark colour scheme if they read the scheme, for
  /// hidden content if they read the redaction reasons, and for the time after a tap if they also have a control.
  ///
  /// - Parameter images: receives the bytes of the images.
  @MainActor fileprivate init(
    _ timeline: GivenTimeline, _ index: Int, _ request: RequestTimeline, _ images: ArchivedImages
  ) throws {
    let reads = EnvironmentReads()
    func view(_ scheme: ColorSchemeName, _ reasons: RedactionReasons) throws -> ViewArchive {
      var environment = EnvironmentValues(request.environment, scheme)
      environment.redactionReasons = reasons
      environment.reads = reads
      environment.images = images
      do {
        let view = environment.during { timeline.view(index) }
        return try view.archived(in: environment, limits: request.limits)
      } catch {
        throw BusError(.archiveTooLarge, "entry \(index + 1) of \(request.widgetKind): \(error)")
      }
    }
    func form(_ reasons: RedactionReasons) throws -> Form {
      let light = try view(.light, reasons)
      let dark = reads.containsColorScheme ? try view(.dark, reasons) : light
      return Form(view: light, darkView: dark == light ? nil : dark)
    }
    let entry = timeline.entry(index)
    let shown = try form(request.purpose == .placeholder ? .placeholder : [])
    // Only entries of a timeline are shown while content is hidden; a placeholder has nothing to hide.
    let readsReasons = request.purpose == .timeline && reads.containsRedactionReasons
    let hidden = readsReasons ? try form(.privacy) : shown
    let invalidated = readsReasons && !shown.view.controls.isEmpty ? try form(.invalidated) : shown
    self.init(
      date: entry.date, view: shown.view, darkView: shown.darkView, privateForm: hidden == shown ? nil : hidden,
      invalidatedForm: invalidated == shown ? nil : invalidated,
      relevance: entry.relevance.map { Relevance(score: Double($0.score), duration: $0.duration) })
  }
}
