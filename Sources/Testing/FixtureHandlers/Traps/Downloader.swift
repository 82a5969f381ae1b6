// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import WidgetKit

/// The state of a downloader: its session and the system's completions.
final class Kept: NSObject, Sendable {
  let session = Mutex<URLSession?>(nil)
  /// From the handler's call to the last event.
  let isHandlingEvents = Mutex(false)
  @MainActor var completions: [() -> Void] = []
  /// All events were delivered before the handler was called.
  @MainActor var hasFinished = false
}

/// Downloads one file in a background session, and shows the number of bytes received. The default implementations
/// avoid every pitfall; each type with a pitfall overrides what it does otherwise.
protocol Downloader: NSObject, URLSessionDownloadDelegate {
  var keptState: Kept { get }
  /// One for each process: an app and its extension do not share a session. The diagnosis `same-identifier` advises it.
  var identifier: String { get }
  var configuration: URLSessionConfiguration { get }

  /// The widget's content; starts the download when there is no content yet.
  func text() async -> String
  /// Starts the download, unless this or an earlier run of the process started it.
  func begin() async
  @MainActor func handleEvents(of identifier: String, completion: @escaping () -> Void)
  /// Replaces the last file with a downloaded one.
  func take(_ file: URL)
}

extension Downloader {
  var identifier: String { "\(Bundle.main.bundleIdentifier ?? "").session" }

  var configuration: URLSessionConfiguration {
    let configuration = URLSessionConfiguration.background(withIdentifier: identifier)
    configuration.sharedContainerIdentifier = Folder.group
    return configuration
  }

  /// The session of this process. It may be a new object for a session that an earlier process created.
  var session: URLSession {
    keptState.session.withLock { session in
      if let session { return session }
      let made = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
      session = made
      return made
    }
  }

  func text() async -> String {
    if let bytes = Folder.bytes { return "\(bytes) bytes" }
    await begin()
    return "nothing yet"
  }

  func begin() async {
    guard Folder.isFirst("began") else { return }
    start()
  }

  func start() { session.downloadTask(with: FixtureURL.file).resume() }

  @MainActor func handleEvents(of identifier: String, completion: @escaping () -> Void) {
    keptState.completions.append(completion)
    keptState.isHandlingEvents.withLock { $0 = true }
    _ = session
    if keptState.hasFinished { complete() }
  }

  @MainActor func complete() {
    keptState.hasFinished = keptState.completions.isEmpty
    let waiting = keptState.completions
    keptState.completions = []
    for completion in waiting { completion() }
  }

  func take(_ file: URL) {
    do {
      try? FileManager.default.removeItem(at: Folder.result)
      try FileManager.default.moveItem(at: file, to: Folder.result)
      print("came \(Folder.bytes ?? 0)")
    } catch {
      print("could not be read: \((error as? CocoaError)?.code.rawValue ?? 0)")
    }
  }

  func reload() {
    guard !FixtureTraps.isApp else { return }
    WidgetCenter.shared.reloadTimelines(ofKind: "Trap")
  }

  /// Requests data from the server and awaits the response.
  func askServer() async {
    do {
      _ = try await URLSession.shared.data(from: FixtureURL.inline)
    } catch {
      print("the server did not answer: \((error as? URLError)?.code.rawValue ?? 0)")
    }
  }

  // MARK: Delegate

  func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
    let status = (downloadTask.response as? HTTPURLResponse)?.statusCode ?? 0
    guard status == 200 else { return print("the server answered \(status)") }
    take(location)
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    print("completed \(task.taskIdentifier) \((error as? URLError)?.code.rawValue ?? 0)")
    // While the process runs it is not woken, and `urlSessionDidFinishEvents` is not called.
    if !keptState.isHandlingEvents.withLock(\.self) { reload() }
  }

  func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
    keptState.isHandlingEvents.withLock { $0 = false }
    reload()
    Task { @MainActor in complete() }
  }

  func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
    print("invalid \((error as? URLError)?.code.rawValue ?? 0)")
  }
}

/// Avoids every pitfall.
final class Careful: NSObject, Downloader {
  let keptState = Kept()
}

/// The URLs from the environment.
enum FixtureURL {
  /// The URL of the download.
  static let file = named("TRIAL_URL")
  /// The URL of a request that the process itself performs.
  static let inline = named("TRIAL_INLINE_URL")

  private static func named(_ name: String) -> URL {
    guard let url = FixtureTraps.environment[name].flatMap({ URL(string: $0) }) else {
      fatalError("\(name) must be a URL")
    }
    return url
  }
}

/// The folder of the app group.
enum Folder {
  static let group = FixtureTraps.environment["TRIAL_GROUP"] ?? ""

  static func file(_ name: String) -> URL {
    guard let folder = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: group) else {
      fatalError("TRIAL_GROUP: '\(group)' is not an app group of this process")
    }
    return folder.appendingPathComponent(name)
  }

  /// The app and its extension have separate files.
  private static func own(_ name: String) -> URL { file("\(name)-\(FixtureTraps.isApp ? "app" : "widget")") }

  static var result: URL { own("result") }
  /// The number of bytes received.
  static var bytes: Int? { (try? Data(contentsOf: result))?.count }

  /// Whether this is the first call in any run of the process.
  static func isFirst(_ name: String) -> Bool {
    let path = own(name).path
    return !FileManager.default.fileExists(atPath: path) && FileManager.default.createFile(atPath: path, contents: nil)
  }
}
