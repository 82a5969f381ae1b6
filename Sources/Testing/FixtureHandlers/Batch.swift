// SPDX-License-Identifier: Apache-2.0

import Foundation
import SwiftUI
import Synchronization
import WidgetKit

/// The downloads of one session: the URLs in `TRIAL_URLS`, separated by commas.
final class Batch: NSObject, URLSessionDownloadDelegate, Sendable {
  static let shared = Batch()
  private static let environment = ProcessInfo.processInfo.environment
  static let identifier = environment["TRIAL_SESSION"] ?? "com.example.Trial.session"

  private struct State {
    var session: URLSession?
    var isFinished = false
    /// The chain's second task is in progress.
    var isChained = false
    var waitingCalls: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())
  @MainActor private var completions: [() -> Void] = []

  /// The folder shared with the test; `nil` in an app.
  static var folder: URL? {
    environment["TRIAL_GROUP"].flatMap {
      FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: $0)
    }
  }

  /// The file of the last download.
  static var result: URL? { folder?.appendingPathComponent("result") }

  @discardableResult func makeSession() -> URLSession {
    state.withLock { state in
      if let session = state.session { return session }
      let configuration = URLSessionConfiguration.background(withIdentifier: Self.identifier)
      configuration.sharedContainerIdentifier = Self.environment["TRIAL_GROUP"]
      let session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
      state.session = session
      return session
    }
  }

  /// Starts the downloads.
  func start() async {
    for text in (Self.environment["TRIAL_URLS"] ?? "").split(separator: ",") {
      guard let url = URL(string: String(text)) else { fatalError("TRIAL_URLS: '\(text)' is not a URL") }
      makeSession().downloadTask(with: url).resume()
    }
  }

  private var isOnMainThread: Bool { Thread.isMainThread }

  // MARK: Handlers

  /// An action: returns when the events are delivered.
  func handle(_ form: String, _ identifier: String) async {
    print("called \(form) \(identifier)")
    print("\(form) runs \(isOnMainThread ? "on" : "off") the main thread")
    makeSession()
    await withCheckedContinuation { continuation in
      let isFinished = state.withLock { state in
        if !state.isFinished { state.waitingCalls.append(continuation) }
        return state.isFinished
      }
      if isFinished { continuation.resume() }
    }
    print("returned \(form)")
  }

  /// A handler: keeps the completion until the events are delivered.
  @MainActor func handle(_ form: String, identifier: String, completion: @escaping () -> Void) {
    print("called \(form) \(identifier)")
    completions.append(completion)
    makeSession()
    if state.withLock({ $0.isFinished }) { complete() }
  }

  @MainActor private func complete() {
    let waiting = completions
    completions = []
    for completion in waiting { completion() }
  }

  // MARK: Delegate

  func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
    guard let result = Self.result else { return }
    try? FileManager.default.removeItem(at: result)
    try? FileManager.default.moveItem(at: location, to: result)
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    guard Form.current == .chain else { return }
    let isFirst = state.withLock { state in
      defer { state.isChained = true }
      return !state.isChained
    }
    if isFirst, let url = task.originalRequest?.url {
      session.downloadTask(with: url).resume()
    } else {
      Task { @MainActor in complete() }
    }
  }

  func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
    let waitingCalls = state.withLock { state in
      state.isFinished = true
      defer { state.waitingCalls = [] }
      return state.waitingCalls
    }
    for continuation in waitingCalls { continuation.resume() }
    WidgetCenter.reloadWhereThereAreWidgets()
    guard Form.current != .chain else { return }
    Task { @MainActor in complete() }
  }
}

/// Many downloads of one session: `TRIAL_COUNT` times the URL in `TRIAL_URLS`, each with a different seed. A timeline
/// request creates them when the test has put a file `go` into the shared folder.
final class Bulk: NSObject, URLSessionDownloadDelegate, Sendable {
  static let shared = Bulk()
  private static let environment = ProcessInfo.processInfo.environment
  private static let count = environment["TRIAL_COUNT"].flatMap { Int($0) } ?? 1

  private let session = Mutex<URLSession?>(nil)
  @MainActor private var completions: [() -> Void] = []

  /// The folder of the downloaded files, which are named after their seeds.
  private static var results: URL? { Batch.folder?.appendingPathComponent("results") }

  @discardableResult func makeSession() -> URLSession {
    session.withLock { session in
      if let session { return session }
      let configuration = URLSessionConfiguration.background(withIdentifier: Batch.identifier)
      configuration.sharedContainerIdentifier = Self.environment["TRIAL_GROUP"]
      configuration.httpMaximumConnectionsPerHost = 64
      let made = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
      session = made
      return made
    }
  }

  /// Creates the downloads when `go` exists, and prints the number of tasks.
  func reload() async {
    let session = makeSession()
    if let folder = Batch.folder, unlink(folder.appendingPathComponent("go").path) == 0, let results = Self.results {
      try? FileManager.default.createDirectory(at: results, withIntermediateDirectories: true)
      let began = ContinuousClock.now
      for seed in 1...Self.count {
        guard let url = URL(string: "\(Self.environment["TRIAL_URLS"] ?? "")&seed=\(seed)") else { continue }
        session.downloadTask(with: url).resume()
      }
      print("made \(Self.count) tasks in \((ContinuousClock.now - began) / .milliseconds(1)) ms")
    }
    print("listed \(await session.allTasks.count) tasks")
  }

  @MainActor func handle(_ completion: @escaping () -> Void) {
    completions.append(completion)
    makeSession()
  }

  // MARK: Delegate

  func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
    totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
  ) {
    guard Self.count == 1 else { return }
    print("written \(totalBytesWritten) of \(totalBytesExpectedToWrite)")
  }

  func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
    let query = downloadTask.originalRequest?.url?.query() ?? ""
    guard let results = Self.results, let seed = query.components(separatedBy: "seed=").last else { return }
    let result = results.appendingPathComponent(seed)
    unlink(result.path)
    try? FileManager.default.moveItem(at: location, to: result)
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {}

  func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
    Task { @MainActor in
      let waiting = completions
      completions = []
      for completion in waiting { completion() }
    }
  }
}

/// A widget whose timelines create the downloads.
struct BulkWidget: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Trial", provider: BulkProvider()) { entry in Text(verbatim: entry.text) }
      .onBackgroundURLSessionEvents(matching: Batch.identifier) { _, completion in Bulk.shared.handle(completion) }
  }
}

struct BulkProvider: TimelineProvider {
  func placeholder(in context: Context) -> FixtureEntry { FixtureEntry(date: Date(), text: "placeholder") }

  func getSnapshot(in context: Context, completion: @escaping @Sendable (FixtureEntry) -> Void) {
    completion(FixtureEntry(date: Date(), text: "snapshot"))
  }

  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<FixtureEntry>) -> Void) {
    Task {
      await Bulk.shared.reload()
      completion(Timeline(entries: [FixtureEntry(date: Date(), text: "reloaded")], policy: .never))
    }
  }
}
