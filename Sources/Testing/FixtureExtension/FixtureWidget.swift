// SPDX-License-Identifier: Apache-2.0

import Foundation
import SwiftUI
import WidgetKit

/// A widget extension for tests. It downloads `TRIAL_URL` once, and reports each point, at which it can be held; or it
/// requests `TRIAL_INLINE_URL` for each timeline and snapshot.
struct FixtureWidget: Widget {
  nonisolated static let kind = "Trial"

  /// The first line of the author's code. It prints the time in microseconds since 1970.
  init() { Point.launched.reached("\(Int64(Date().timeIntervalSince1970 * 1e6))") }

  var body: some WidgetConfiguration {
    StaticConfiguration(kind: Self.kind, provider: FixtureProvider()) { entry in
      Text(verbatim: entry.text).containerBackground(.background, for: .widget)
    }
    .onBackgroundURLSessionEvents(matching: FixtureDownload.identifier) { identifier, completion in
      FixtureDownload.shared.handleEvents(of: identifier, completion: completion)
    }
  }
}

struct FixtureEntry: TimelineEntry {
  let date: Date
  let text: String
}

struct FixtureProvider: TimelineProvider {
  func placeholder(in context: Context) -> FixtureEntry { FixtureEntry(date: Date(), text: "placeholder") }

  func getSnapshot(in context: Context, completion: @escaping @Sendable (FixtureEntry) -> Void) {
    guard let url = FixtureRequest.url else { return completion(FixtureEntry(date: Date(), text: "snapshot")) }
    Task { completion(FixtureEntry(date: Date(), text: await FixtureRequest.outcome(of: url))) }
  }

  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<FixtureEntry>) -> Void) {
    Point.timeline.reached()
    if FixtureTime.isAsked {
      let now = Date()
      Task {
        let entry = FixtureEntry(date: now, text: await FixtureTime.report())
        completion(Timeline(entries: [entry], policy: .never))
      }
      return
    }
    if let url = FixtureRequest.url {
      Task {
        let entry = FixtureEntry(date: Date(), text: await FixtureRequest.outcome(of: url))
        completion(Timeline(entries: [entry], policy: .never))
      }
      return
    }
    Task {
      let digest = FixtureDownload.shared.digestOfResult
      if digest == nil { await FixtureDownload.shared.start() }
      completion(Timeline(entries: [FixtureEntry(date: Date(), text: digest ?? "nothing yet")], policy: .never))
      Point.notified.reached()
    }
  }
}

/// Reports the time in this process, and how long waits of nominally a fifth of a second take.
enum FixtureTime {
  static var isAsked: Bool { ProcessInfo.processInfo.environment["TRIAL_TIME"] != nil }

  /// Seconds since 1970 from four clocks, then the duration of five kinds of wait in milliseconds: `1772344800 …, 201
  /// …`.
  static func report() async -> String {
    var now = timeval()
    gettimeofday(&now, nil)
    let times = [now.tv_sec, time(nil), Int(NSDate().timeIntervalSince1970), Int(Date.now.timeIntervalSince1970)]
    let slept = await measured { try? await Task.sleep(for: .milliseconds(200)) }
    let after = await measured {
      await withCheckedContinuation { done in
        DispatchQueue.global().asyncAfter(deadline: .now() + 0.2) { done.resume() }
      }
    }
    let blocked = await withCheckedContinuation { done in
      Thread.detachNewThread { done.resume(returning: blockingWaits()) }
    }
    let waits = [slept, after] + blocked
    return [times.map(String.init), waits.map(String.init)].map { $0.joined(separator: " ") }.joined(separator: ", ")
  }

  private static func measured(_ work: () async -> Void) async -> Int {
    let begun = ContinuousClock.now
    await work()
    return milliseconds(since: begun)
  }

  private static func blockingWaits() -> [Int] {
    let condition = NSCondition()
    condition.lock()
    let lock = NSLock()
    lock.lock()
    let waits: [() -> Void] = [
      { _ = DispatchSemaphore(value: 0).wait(timeout: .now() + 0.2) },
      { _ = condition.wait(until: Date(timeIntervalSinceNow: 0.2)) },
      { _ = lock.lock(before: Date(timeIntervalSinceNow: 0.2)) },
    ]
    return waits.map { wait in
      let begun = ContinuousClock.now
      wait()
      return milliseconds(since: begun)
    }
  }

  private static func milliseconds(since begun: ContinuousClock.Instant) -> Int {
    Int(((ContinuousClock.now - begun) / .milliseconds(1)).rounded())
  }
}
