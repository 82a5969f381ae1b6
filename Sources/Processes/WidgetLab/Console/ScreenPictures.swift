// SPDX-License-Identifier: Apache-2.0

import Archive
import Cluster
import Console
import Foundation
import JournalAnalysis
import Layout
import Messages
import Pictures

/// What the device says about one screen.
struct ScreenAnswer: Sendable {
  let reply: ShowScreen.Reply
  let clock: ClockState
  let budget: ListBudget.Reply
  let images: [String: Data]

  /// Asks the device.
  init(_ shared: SharedOperatorSession, _ location: WidgetLocationName?) async throws {
    let session = try await shared.session(within: .seconds(2))
    async let reply = session.ask(ShowScreen(location: location), within: .seconds(2))
    async let clock = session.ask(SetClock(change: .ask), within: .seconds(2))
    async let budget = session.ask(ListBudget(after: .max), within: .seconds(2))
    self.reply = try await reply
    self.clock = try await clock
    self.budget = try await budget
    images = try await session.images(of: self.reply)
  }
}

/// Draws the widgets of screens, and keeps the pictures by their hash.
actor ScreenPictures {
  /// What determines a picture.
  private struct Key: Hashable {
    let view: ViewArchive
    let size: ShowScreen.Tile.Size
    let family: WidgetFamilyName
    let mode: RenderingModeName
    let content: ShowScreen.Tile.Content
    let note: String?
    let settings: DeviceSettings
    let colorScheme: ColorSchemeName
    let tint: TintName?
  }

  private struct Drawn {
    let hash: String
    let notices: [String]
  }

  /// Of the kept pictures, in bytes.
  private static let limit = 16 << 20

  private var files: Result<PictureFiles, CommandError>?
  private var drawn: [Key: Drawn] = [:]
  private var keptPictures: [String: [UInt8]] = [:]
  /// The hashes, those that were used last at the end.
  private var order: [String] = []
  private var size = 0

  func picture(_ hash: String) -> [UInt8]? {
    if keptPictures[hash] != nil { use(hash) }
    return keptPictures[hash]
  }

  /// One screen with its pictures.
  func screen(
    _ answer: ScreenAnswer, configuration: ClusterConfiguration, summary: JournalSummary
  ) throws -> ConsoleScreen {
    let (reply, device) = (answer.reply, configuration.device)
    var print = ScreenPrint(
      reply: reply, now: answer.clock.now,
      hidesSensitiveContent: configuration.settings.gallery.hidesSensitiveContent)
    print.images = answer.images
    let picture = ScreenPicture(screen: print, device: device)
    let (places, size) = picture.places
    var screen = ConsoleScreen(
      source: "device", location: reply.location.rawValue,
      size: ConsoleScreen.Extent(width: device.screen.width, height: max(size.height, device.screen.height)),
      state: ConsoleScreen.State(
        isLocked: reply.state.isLocked, colorScheme: reply.state.colorScheme.rawValue, text: reply.state.text))
    screen.locations = WidgetLocationName.allCases.map {
      ConsoleScreen.Location(name: $0.rawValue, isVisible: $0 == reply.state.seen)
    }
    screen.textSize = reply.settings.textSize.rawValue
    screen.textSizes = SettingName.textSize.values ?? []
    screen.notice = reply.failures.map { failures in
      "not started: " + failures.map { "\($0.address.short): \($0.error)" }.joined(separator: "; ")
    }
    let files: PictureFiles?
    do {
      files = try fileMaker()
    } catch {
      files = nil
      screen.notice = screen.notice ?? "no pictures: \(error.what)"
    }
    screen.tiles = reply.tiles.map { tile in
      var shown = self.tile(tile, print: print, answer: answer, summary: summary)
      guard let place = places.first(where: { $0.tile.placement.id == tile.placement.id }) else { return shown }
      (shown.x, shown.y) = (place.origin.x, place.origin.y)
      (shown.width, shown.height) = (place.size.width, place.size.height)
      guard let files else { return shown }
      let drawn = draw(place, picture: picture, print: print, files: files)
      shown.picture = "/api/pictures/\(drawn.hash).svg"
      shown.notices = drawn.notices
      return shown
    }
    return screen
  }

  private func fileMaker() throws(CommandError) -> PictureFiles {
    if let files { return try files.get() }
    let made: Result<PictureFiles, CommandError>
    do throws(CommandError) {
      made = .success(try PictureFiles())
    } catch {
      made = .failure(error)
    }
    files = made
    return try made.get()
  }

  // MARK: Tiles

  private func tile(
    _ tile: ShowScreen.Tile, print: ScreenPrint, answer: ScreenAnswer, summary: JournalSummary
  ) -> ConsoleScreen.Tile {
    let placement = tile.placement
    var shown = ConsoleScreen.Tile(
      placement: placement.id, kind: placement.kind, family: placement.family.rawValue, bundle: placement.bundle,
      content: tile.content.rawValue)
    let appearance = print.appearance(of: tile)
    shown.alt = tile.view.lines(appearance).joined(separator: " ")
    shown.date = tile.date?.timeIntervalSince1970
    shown.covers = tile.covers.map(\.placement)
    shown.isControl = placement.family == .control
    shown.controls = Self.controls(of: tile.view.shown(appearance))
    var facts = WidgetReason.Facts(now: answer.clock.now)
    facts.isEmpty = tile.content != .entry && summary.screen.timelines[placement.id] == nil
    facts.note = tile.note
    facts.account = answer.budget.accounts.first { $0.placement == placement.id }
    facts.decision = summary.ledger.last(ofPlacement: placement.id)
    facts.isLocked = answer.reply.state.isLocked
    shown.why = WidgetReason.text(facts)
    return shown
  }

  /// Buttons and toggles as `widgetlab tap --button` counts them, then the links.
  private static func controls(of view: ViewArchive) -> [ConsoleScreen.Control] {
    let touched = view.controls.enumerated().map { index, control in
      ConsoleScreen.Control(
        number: index + 1, type: control.name.rawValue.lowercased(), label: control.lines.joined(separator: " "))
    }
    let links = view.all { $0.name == .control(.link) }.enumerated().map { index, link in
      ConsoleScreen.Control(number: index + 1, type: "link", label: link.lines.joined(separator: " "))
    }
    return touched + links
  }

  private func draw(
    _ place: ScreenPicture.Place, picture: ScreenPicture, print: ScreenPrint, files: PictureFiles
  ) -> Drawn {
    let tile = place.tile
    var appearance = print.appearance(of: tile)
    appearance.isAccented = false
    // With live texts as they are now, so that the same picture is drawn once.
    let key = Key(
      view: tile.view.shown(appearance), size: place.size, family: tile.placement.family, mode: tile.renderingMode,
      content: tile.content, note: tile.note, settings: print.reply.settings,
      colorScheme: print.reply.state.colorScheme, tint: print.reply.tint)
    if let known = drawn[key], keptPictures[known.hash] != nil {
      use(known.hash)
      return known
    }
    let widget = picture.picture(of: tile, place.size, with: files.font)
    let bytes = Array(widget.svg(outlines: files.font).utf8)
    let hash = String(ContentDigest.hexadecimal(of: Data(bytes)).prefix(32))
    keep(bytes, hash)
    let new = Drawn(hash: hash, notices: widget.notices)
    if drawn.count > 500 { drawn = drawn.filter { keptPictures[$0.value.hash] != nil } }
    if drawn.count > 500 { drawn = [:] }
    drawn[key] = new
    return new
  }

  // MARK: Kept pictures

  private func keep(_ bytes: [UInt8], _ hash: String) {
    if keptPictures.updateValue(bytes, forKey: hash) == nil { size += bytes.count }
    use(hash)
    while size > Self.limit, order.count > 1 {
      size -= keptPictures.removeValue(forKey: order.removeFirst())?.count ?? 0
    }
  }

  private func use(_ hash: String) {
    order.removeAll { $0 == hash }
    order.append(hash)
  }
}

/// One question that several callers ask at a time. At most one is being answered, and at most one waits: a caller that
/// comes while an answer is being made gets the next one, which is not older than its question.
actor SharedQuestion<Answer: Sendable> {
  private var current: Task<Answer, any Error>?
  private var next: Task<Answer, any Error>?

  /// Asks, or waits for the same answer as another caller.
  func ask(_ question: @escaping @Sendable () async throws -> Answer) async throws -> Answer {
    if let next { return try await next.value }
    guard let running = current else {
      let task = Task { try await question() }
      current = task
      return try await finish(task)
    }
    let task = Task {
      _ = try? await running.value
      self.begin()
      return try await question()
    }
    next = task
    return try await finish(task)
  }

  /// The waiting question is asked now: later callers wait for another one.
  private func begin() {
    current = next
    next = nil
  }

  private func finish(_ task: Task<Answer, any Error>) async throws -> Answer {
    defer { if current == task { current = nil } }
    return try await task.value
  }
}

/// Equal questions by key.
actor SharedQuestions<Key: Hashable & Sendable, Answer: Sendable> {
  private var questions: [Key: SharedQuestion<Answer>] = [:]

  /// Asks, or waits for the same answer as another caller with an equal key.
  func ask(_ key: Key, _ question: @escaping @Sendable () async throws -> Answer) async throws -> Answer {
    let shared = questions[key] ?? SharedQuestion()
    questions[key] = shared
    return try await shared.ask(question)
  }
}
