// SPDX-License-Identifier: Apache-2.0

import Archive
import DeviceRules
import FaultPoints
import Foundation
import MessageBus
import Messages
import Stores
import Timekeeping

// Sending requests to an extension, and handling its replies.

extension TimelineService {
  func ask(_ providerRequest: TimelineStateMachine.ProviderRequest) {
    if let reason = underWay.reason(providerRequest.work) {
      // Once: its retry may get another reply.
      underWay.end(providerRequest.work)
      providerRequests[providerRequest] = tasks.start {
        await self.ended(providerRequest, .failure(BusError(.failed, reason)))
      }
      return
    }
    let limit = settings.deadline
    deadlines.removeValue(forKey: providerRequest.address)?.cancel()
    timeLimits[providerRequest] = afterDeadline { .overran(providerRequest, limit: limit) }
    let unplaced = providerRequest.purpose == .snapshot ? waitingSnapshots[providerRequest.serial] : nil
    let purpose = unplaced?.purpose ?? providerRequest.purpose
    var environment =
      (unplaced?.environment ?? environment)?(providerRequest.placement) ?? deviceEnvironment(of: providerRequest)
    environment.isPreview = purpose == .snapshot
    let request = RequestTimeline(
      purpose, widgetKind: providerRequest.placement.kind,
      placement: providerRequest.purpose == .snapshot ? nil : providerRequest.placement.id,
      because: providerRequest.reloadCause,
      environment: environment, configuration: providerRequest.placement.configuration, limits: settings.limits)
    let times = settings.requestsTimelinesTwice && providerRequest.purpose == .timeline ? 2 : 1
    // Outside of the device's executor: the reply is decoded, and its views are laid out.
    providerRequests[providerRequest] = tasks.start(on: globalConcurrentExecutor) { [environment] in
      let results = await withTaskGroup(of: Result<RequestTimeline.Reply, BusError>.self) { group in
        for _ in 0..<times { group.addTask { await self.send(request, providerRequest) } }
        return await group.reduce(into: []) { $0.append($1) }
      }
      guard let last = results.last else { return }
      // Until the reply is stored or refused.
      self.underWay.begin(providerRequest.work)
      defer { self.underWay.end(providerRequest.work) }
      FaultPoint.hostWithinTimeline.reached()
      switch results.last(where: { (try? $0.get()) != nil }) ?? last {
      case .success(let reply):
        guard let content = await self.content(of: reply, providerRequest, environment) else { return }
        await self.ended(providerRequest, .success((reply, content)))
      case .failure(let error): await self.ended(providerRequest, .failure(error))
      }
    }
  }

  /// The environment of a placement's views, with the settings as they apply to its extension.
  private func deviceEnvironment(of providerRequest: TimelineStateMachine.ProviderRequest) -> WidgetEnvironment {
    var environment = core.state.gallery.environment(of: providerRequest.placement)
    environment.settings = core.state.settings.settings(of: providerRequest.address)
    return environment
  }

  private nonisolated func send(
    _ request: RequestTimeline, _ providerRequest: TimelineStateMachine.ProviderRequest
  ) async -> Result<RequestTimeline.Reply, BusError> {
    do throws(BusError) {
      return .success(
        try await bus.request(
          request, to: providerRequest.address, context: providerRequest.context, within: .seconds(86_400),
          whenUnreachable: .wait))
    } catch {
      return .failure(error)
    }
  }

  /// Handles the reply to a request. The reply to a cancelled request is dropped.
  private func ended(
    _ providerRequest: TimelineStateMachine.ProviderRequest,
    _ result: Result<(RequestTimeline.Reply, Result<TimelineContent, TimelineFault>), BusError>
  ) {
    guard !Task.isCancelled else { return }
    if case .failure(let error) = result, error.code == .closed { return }
    providerRequests[providerRequest] = nil
    timeLimits.removeValue(forKey: providerRequest)?.cancel()
    switch result {
    case .success(let (reply, content)): answered(providerRequest, reply: reply, content: content)
    case .failure(let error): handle(.failed(providerRequest, TimelineFault(failure(error), "\(error)")))
    }
  }

  private func failure(_ error: BusError) -> ReloadFailed.Failure {
    switch error.code {
    case .archiveTooLarge: .tooLarge
    case .unknownWidgetKind: .unknownKind
    default: .failed
    }
  }

  private func answered(
    _ providerRequest: TimelineStateMachine.ProviderRequest, reply: RequestTimeline.Reply,
    content: Result<TimelineContent, TimelineFault>
  ) {
    // The next host asks again. Content without its event would be half a timeline.
    guard core.failure == nil else { return }
    do throws(TimelineFault) {
      let givenContent = try content.get()
      let keptTimeline = try StoredTimeline(
        givenContent.entries, images: givenContent.images, reply: reply, limits: settings.limits)
      let isPlaced = stateMachine.placements[providerRequest.placement.id] != nil
      switch providerRequest.purpose {
      case .timeline:
        // In the transaction of the event.
        let shown = stateMachine.placements[providerRequest.placement.id]?.shown
        if isPlaced {
          write {
            try self.store.set(keptTimeline, of: providerRequest.placement.id, shown: shown, now: self.clock.now)
          }
        }
        let facts = keptTimeline.facts(providerRequest.reloadCause)
        self.answeredRequest = (providerRequest, facts)
        handle(.gave(providerRequest, facts, keptTimeline.entries.map(\.upcoming)))
      case .placeholder:
        if isPlaced { write { try self.store.setPlaceholder(keptTimeline, of: providerRequest.placement.id) } }
        handle(.answered(providerRequest))
      case .snapshot:
        let entries = Array(StoredTimeline.inOrder(givenContent.entries).prefix(keptTimeline.entries.count))
        finishSnapshot(
          providerRequest.serial,
          .success(
            UnplacedEntries(
              placement: providerRequest.placement, entries: entries, images: keptTimeline.images,
              text: keptTimeline.entries[0].upcoming.text)))
        handle(.answered(providerRequest))
      }
    } catch {
      handle(.failed(providerRequest, error))
    }
  }

  private func write(_ change: () throws -> Void) {
    do {
      try change()
    } catch {
      core.fail("the timelines cannot be written: \(error)")
    }
  }

  func recordStored(_ providerRequest: TimelineStateMachine.ProviderRequest, _ facts: TimelineFacts) {
    guard let placed = stateMachine.placements[providerRequest.placement.id], placed.timeline == facts else { return }
    bus.record(stored(placed, facts), context: providerRequest.context)
  }

  func stored(_ placed: PlacementState, _ facts: TimelineFacts?) -> TimelineStored {
    let placement = placed.placement
    let entries = stateMachine.upcoming[placement.id]
    let date = placed.account.opened
    let failure = placed.lastFailure.map { "the last reload failed: \($0.reason)" }
    return TimelineStored(
      bundle: placement.bundle, widgetKind: placement.kind, placement: placement.id, family: placement.family,
      because: facts?.reloadCause ?? .added, entries: facts?.entries ?? 0, first: facts?.first ?? date,
      last: facts?.last ?? date, policy: facts?.policy ?? .never, bytes: facts?.bytes ?? 0,
      digest: facts?.digest ?? "", text: entries?.first?.text ?? [], note: failure ?? facts?.note)
  }
}

extension TimelineStateMachine.ProviderRequest {
  /// The request in the record of the work under way.
  fileprivate var work: UnderWay.Work {
    UnderWay.Work(.timeline, "of \(placement.kind), number \(placement.id), \(address.text)")
  }
}

// The content of a reply, with closures that were called with the sizes of the layout.

/// The entries of a reply in the provider's order, and the bytes of their images by SHA-256.
struct TimelineContent: Sendable {
  var entries: [ArchivedEntry]
  var images: [String: Data]

  /// Removes the images of views that later rounds replaced.
  mutating func dropUnusedImages() {
    let views = entries.flatMap { entry in
      [
        entry.view, entry.darkView, entry.privateForm?.view, entry.privateForm?.darkView, entry.invalidatedForm?.view,
        entry.invalidatedForm?.darkView,
      ]
    }
    let used = Set(views.compactMap(\.self).flatMap(\.imageDigests))
    images = images.filter { used.contains($0.key) }
  }
}

extension TimelineService {
  /// The most rounds of a reply. Each round reaches closures one level deeper.
  private nonisolated static let rounds = 4

  /// The content of a reply. If its views have closures that need a size, they are laid out, and the extension calls the
  /// closures again until the sizes agree, at most four times. If the extension has released the views, they stay as they
  /// are.
  ///
  /// - Returns: `nil` if the bus connection was closed.
  nonisolated func content(
    of reply: RequestTimeline.Reply, _ providerRequest: TimelineStateMachine.ProviderRequest,
    _ environment: WidgetEnvironment
  ) async -> Result<TimelineContent, TimelineFault>? {
    do throws(TimelineFault) {
      var content = try read(reply, providerRequest.address)
      guard let number = reply.closures else { return .success(content) }
      var open = Array(content.entries.indices.prefix(settings.limits.entries))
      for _ in 0..<Self.rounds where !open.isEmpty {
        let call = CallClosures(number: number, entries: await closures(of: open, in: content, environment))
        guard !call.entries.isEmpty else { break }
        let next: CallClosures.Reply
        do throws(BusError) {
          next = try await bus.request(
            call, to: providerRequest.address, context: providerRequest.context, within: .seconds(86_400),
            whenUnreachable: .wait)
        } catch {
          if error.code == .closed { return nil }
          break
        }
        let changed = try read(next, providerRequest.address)
        open = call.entries.map(\.index)
        guard changed.entries.count == open.count else {
          throw TimelineFault(.failed, "the extension replied with \(changed.entries.count) of \(open.count) entries")
        }
        for (index, entry) in zip(open, changed.entries) { content.entries[index] = entry }
        content.images.merge(changed.images) { $1 }
      }
      content.dropUnusedImages()
      return .success(content)
    } catch {
      return .failure(error)
    }
  }

  /// The sizes of closures that were called with another size. Entries without such closures are left out.
  private nonisolated func closures(
    of indices: [Int], in content: TimelineContent, _ environment: WidgetEnvironment
  ) async -> [CallClosures.Entry] {
    var found: [CallClosures.Entry] = []
    for index in indices where !Task.isCancelled {
      let closures = await closureSizes(content.entries[index], environment)
      if !closures.isEmpty { found.append(CallClosures.Entry(index: index, closures: closures)) }
    }
    return found
  }

  /// The entries and images of a reply, or of its file.
  private nonisolated func read(
    _ reply: RequestTimeline.Reply, _ address: Address
  ) throws(TimelineFault) -> TimelineContent {
    guard let file = reply.file else { return TimelineContent(entries: reply.entries, images: reply.images ?? [:]) }
    let content = try ReplyFile.content(at: file, in: container(address), limit: settings.limits.bytes)
    return TimelineContent(entries: content.entries, images: content.images ?? [:])
  }
}

/// A reply's file. Author's code wrote it, so its content is not trusted.
enum ReplyFile {
  /// Reads the entries and images, and deletes the file.
  ///
  /// - Parameters:
  ///   - container: the extension's folder, which must contain the file.
  ///   - limit: the size of the views and images, bytes; the dates, and what JSON adds to images, are allowed in
  ///     addition.
  static func content(at path: String, in container: String?, limit: Int) throws(TimelineFault) -> TimelineFile {
    let url = URL(fileURLWithPath: path)
    guard let container, let home = real(container), let folder = real(url.deletingLastPathComponent().path),
      folder == home || folder.hasPrefix(home + "/")
    else { throw TimelineFault(.failed, "the file of the entries is not in the extension's container: \(path)") }
    let file = folder + "/" + url.lastPathComponent
    defer { unlink(file) }
    let data = try read(file, limit)
    do {
      return try BodyCoding.decode(TimelineFile.self, from: Array(data))
    } catch {
      throw TimelineFault(.failed, "the file of the entries cannot be read: \(error.message.start(bytes: 300))")
    }
  }

  private static func real(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  /// Reads a regular file of a limited length, even if it grows during the read.
  ///
  /// - Parameter limit: as in `content`.
  private static func read(_ file: String, _ limit: Int) throws(TimelineFault) -> Data {
    let room = limit + limit / 2 + 65_536
    let descriptor = open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw TimelineFault(.failed, "the file of the entries cannot be opened: \(String(cString: strerror(errno)))")
    }
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw TimelineFault(.failed, "the file of the entries is not a regular file")
    }
    let data = try? handle.read(upToCount: room + 1)
    guard let data else { throw TimelineFault(.failed, "the file of the entries cannot be read") }
    guard data.count <= room else {
      throw TimelineFault(.tooLarge, "bytes: the file of the entries exceeds the limit of \(limit) bytes")
    }
    return data
  }
}
