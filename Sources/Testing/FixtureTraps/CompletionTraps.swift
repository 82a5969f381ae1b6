// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import WidgetKit

// Pitfalls in when the completion is stored, and when it is called.

/// 3: assumes that the handler is called before the events are delivered.
final class CompletesWhenFinished: NSObject, Downloader {
  let kept = Kept()

  @MainActor func handleEvents(of identifier: String, completion: @escaping () -> Void) {
    kept.completions.append(completion)
    _ = session
  }

  func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
    reload()
    Task { @MainActor in complete() }
  }
}

/// 4: assumes that the handler is called at all.
final class WithGroup: NSObject, Downloader {
  let kept = Kept()
  private let events = DispatchGroup()

  @MainActor func handleEvents(of identifier: String, completion: @escaping () -> Void) {
    kept.completions.append(completion)
    events.enter()
    events.notify(queue: .main) { Task { @MainActor in self.complete() } }
    _ = session
  }

  func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) { events.leave() }
}

/// 20: reloads only in `urlSessionDidFinishEvents`.
final class ReloadsWhenFinished: NSObject, Downloader {
  let kept = Kept()

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    print("completed \(task.taskIdentifier)")
  }
}

/// 22: assumes that the modifier reports that the widget became visible.
final class OnlyReloads: NSObject, Downloader {
  let kept = Kept()

  @MainActor func handleEvents(of identifier: String, completion: @escaping () -> Void) {
    WidgetCenter.shared.reloadAllTimelines()
  }
}

/// 23: calls the completion before the events are delivered.
final class CompletesAtOnce: NSObject, Downloader {
  let kept = Kept()

  @MainActor func handleEvents(of identifier: String, completion: @escaping () -> Void) {
    completion()
    WidgetCenter.shared.reloadAllTimelines()
  }
}

/// 24: has two widgets, and keeps only one completion.
final class OneVariable: NSObject, Downloader {
  let kept = Kept()
  @MainActor private var completion: (() -> Void)?

  @MainActor func handleEvents(of identifier: String, completion: @escaping () -> Void) {
    self.completion = completion
    _ = session
  }

  func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
    reload()
    Task { @MainActor in completion?() }
  }
}

/// 25: stores the completion some time after the handler returned.
final class StoresLater: NSObject, Downloader {
  let kept = Kept()
  @MainActor private var completion: (() -> Void)?

  @MainActor func handleEvents(of identifier: String, completion: @escaping () -> Void) {
    _ = session
    Task { @MainActor in
      await askServer()
      self.completion = completion
      print("stored")
    }
  }

  func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
    Task { @MainActor in
      print("finished")
      completion?()
    }
  }
}
