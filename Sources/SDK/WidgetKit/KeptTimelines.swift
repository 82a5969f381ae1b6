// SPDX-License-Identifier: Apache-2.0

import Archive
import AuthorRuntime
import Foundation
import MessageBus
import Messages
import SwiftUI

/// The latest timelines of a process whose views have closures that need a size. The host lays out the views while it
/// handles the reply, and has their closures called again.
@MainActor final class KeptTimelines {
  private struct Kept {
    let number: Int
    let timeline: GivenTimeline
    let request: RequestTimeline
    /// By the number of the entry.
    var sizes: [Int: FormSizes] = [:]
  }

  /// Ours. The host asks for the closures of one reply before it requests the next timeline of the placement.
  private static let limit = 8

  private var kept: [Kept] = []
  /// Starts anywhere, so that a number of an earlier process is not one of this process.
  private var last = Int.random(in: 0..<1 << 40)

  nonisolated private init() {}

  nonisolated static func of(_ process: HostedProcess) -> KeptTimelines {
    process.part(KeptTimelines.self) { _ in KeptTimelines() }
  }

  /// Keeps a timeline instead of an earlier one of its placement. The oldest one is released when there are more than
  /// eight.
  ///
  /// - Returns: the number for `CallClosures`.
  func keep(_ timeline: GivenTimeline, _ request: RequestTimeline) -> Int {
    kept.removeAll { $0.request.placement == request.placement && request.placement != nil }
    last += 1
    kept.append(Kept(number: last, timeline: timeline, request: request))
    if kept.count > Self.limit { kept.removeFirst() }
    return last
  }

  /// Archives entries again, with closures that are called with the sizes of the layout.
  ///
  /// - Throws: a `BusError`: `views-released`, or `archive-too-large`; errors of the file system.
  func archive(_ call: CallClosures, below container: String?) throws -> CallClosures.Reply {
    guard let place = kept.firstIndex(where: { $0.number == call.number }) else {
      throw BusError(.viewsReleased, "this process no longer has the views with the number \(call.number)")
    }
    let count = kept[place].timeline.entries
    for entry in call.entries where 0..<count ~= entry.index {
      kept[place].sizes[entry.index, default: FormSizes()].add(entry.closures)
    }
    let own = kept[place]
    let indices = call.entries.map(\.index).filter { 0..<count ~= $0 }
    return try TimelineArchive(own.timeline, own.request, only: indices, sizes: own.sizes)
      .reply(below: container, closures: call.number)
  }
}
