// SPDX-License-Identifier: Apache-2.0

import Archive
import DeviceRules
import Foundation
import MessageBus
import Messages

// The content of a reply, with closures that were called with the sizes of the layout.

/// The entries of a reply in the provider's order, and the bytes of their images by SHA-256.
struct TimelineContent: Sendable {
  var entries: [ArchivedEntry]
  var images: [String: Data]

  init(entries: [ArchivedEntry], images: [String: Data]?) {
    self.entries = entries
    self.images = images ?? [:]
  }

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
    of reply: RequestTimeline.Reply, _ asked: TimelineStateMachine.ProviderRequest, _ environment: WidgetEnvironment
  ) async -> Result<TimelineContent, TimelineFault>? {
    do throws(TimelineFault) {
      var content = try read(reply, asked.address)
      guard let number = reply.closures else { return .success(content) }
      var open = Array(content.entries.indices.prefix(settings.limits.entries))
      for _ in 0..<Self.rounds where !open.isEmpty {
        let call = CallClosures(number: number, entries: await closures(of: open, in: content, environment))
        guard !call.entries.isEmpty else { break }
        let next: CallClosures.Reply
        do throws(BusError) {
          next = try await bus.request(
            call, to: asked.address, context: asked.context, within: .seconds(86_400), whenUnreachable: .wait)
        } catch {
          if error.code == .closed { return nil }
          break
        }
        let changed = try read(next, asked.address)
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
    guard let file = reply.file else { return TimelineContent(entries: reply.entries, images: reply.images) }
    let content = try ReplyFile.content(at: file, in: container(address), limit: settings.limits.bytes)
    return TimelineContent(entries: content.entries, images: content.images)
  }
}
