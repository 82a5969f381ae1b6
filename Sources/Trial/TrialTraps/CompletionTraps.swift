import Foundation
import Synchronization
import WidgetKit

// When the completion is stored, and when it is called.

/// 3: takes it for granted that the handler is called before the events have been told.
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

/// 4: takes it for granted that the handler was called at all.
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

/// 20: reloads when all events have been told, and nowhere else.
final class ReloadsWhenFinished: NSObject, Downloader {
  let kept = Kept()

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    print("completed \(task.taskIdentifier)")
  }
}

/// 22: takes the modifier for a word that the widget became visible.
final class OnlyReloads: NSObject, Downloader {
  let kept = Kept()

  @MainActor func handleEvents(of identifier: String, completion: @escaping () -> Void) {
    WidgetCenter.shared.reloadAllTimelines()
  }
}

/// 23: has done with the events before it was told of them.
final class CompletesAtOnce: NSObject, Downloader {
  let kept = Kept()

  @MainActor func handleEvents(of identifier: String, completion: @escaping () -> Void) {
    completion()
    WidgetCenter.shared.reloadAllTimelines()
  }
}

/// 24: keeps one completion, and has two widgets.
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

/// 25: stores the completion some time after the handler has returned.
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
