import Foundation
import Synchronization
import WidgetKit

/// What a downloader holds: its session and the completions of the system.
final class Kept: NSObject, Sendable {
  let session = Mutex<URLSession?>(nil)
  /// From the handler's call to the last of the events.
  let isHandlingEvents = Mutex(false)
  @MainActor var completions: [() -> Void] = []
  /// All events had been told before the handler was called.
  @MainActor var hasFinished = false
}

/// Downloads one file in a background session, and shows how much came. What stands here is the careful author's code,
/// which falls into none of the traps; those who do say what they do otherwise.
protocol Downloader: NSObject, URLSessionDownloadDelegate {
  var kept: Kept { get }
  /// One for each process: an app and its extension do not share a session.
  var identifier: String { get }
  var configuration: URLSessionConfiguration { get }

  /// What the widget shows; begins the download where there is nothing to show.
  func text() async -> String
  /// Begins the download, unless it was begun in this life or an earlier one.
  func begin() async
  @MainActor func handleEvents(of identifier: String, completion: @escaping () -> Void)
  /// Puts a downloaded file in place of the last one.
  func take(_ file: URL)
}

extension Downloader {
  var identifier: String { "com.example.Trial.\(TrialTraps.isApp ? "app" : "widget")" }

  var configuration: URLSessionConfiguration {
    let configuration = URLSessionConfiguration.background(withIdentifier: identifier)
    configuration.sharedContainerIdentifier = Folder.group
    return configuration
  }

  /// The session of this process; a new object for what an earlier process began.
  var session: URLSession {
    kept.session.withLock { session in
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

  func start() { session.downloadTask(with: TrialURL.file).resume() }

  @MainActor func handleEvents(of identifier: String, completion: @escaping () -> Void) {
    kept.completions.append(completion)
    kept.isHandlingEvents.withLock { $0 = true }
    _ = session
    if kept.hasFinished { complete() }
  }

  @MainActor func complete() {
    kept.hasFinished = kept.completions.isEmpty
    let waiting = kept.completions
    kept.completions = []
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
    guard !TrialTraps.isApp else { return }
    WidgetCenter.shared.reloadTimelines(ofKind: "Trap")
  }

  /// Asks the server for what this process needs before it goes on.
  func askServer() async {
    do {
      _ = try await URLSession.shared.data(from: TrialURL.inline)
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
    // While the process runs nobody wakes it, and it is not told that it was told all.
    if !kept.isHandlingEvents.withLock(\.self) { reload() }
  }

  func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
    kept.isHandlingEvents.withLock { $0 = false }
    reload()
    Task { @MainActor in complete() }
  }

  func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
    print("invalid \((error as? URLError)?.code.rawValue ?? 0)")
  }
}

/// Does it as it should be done.
final class Careful: NSObject, Downloader {
  let kept = Kept()
}

/// What the process is told.
enum TrialURL {
  /// What is downloaded.
  static let file = named("TRIAL_URL")
  /// What the process itself asks for.
  static let inline = named("TRIAL_INLINE_URL")

  private static func named(_ name: String) -> URL {
    guard let url = TrialTraps.environment[name].flatMap({ URL(string: $0) }) else {
      fatalError("\(name) is the URL of something")
    }
    return url
  }
}

/// The folder of the app group.
enum Folder {
  static let group = TrialTraps.environment["TRIAL_GROUP"] ?? ""

  static func file(_ name: String) -> URL {
    guard let folder = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: group) else {
      fatalError("TRIAL_GROUP is a group of this process, and not '\(group)'")
    }
    return folder.appendingPathComponent(name)
  }

  /// An app and its extension have one each.
  private static func own(_ name: String) -> URL { file("\(name)-\(TrialTraps.isApp ? "app" : "widget")") }

  static var result: URL { own("result") }
  /// How much came.
  static var bytes: Int? { (try? Data(contentsOf: result))?.count }

  /// Whether this is asked for the first time, in all lives.
  static func isFirst(_ name: String) -> Bool {
    let path = own(name).path
    return !FileManager.default.fileExists(atPath: path) && FileManager.default.createFile(atPath: path, contents: nil)
  }
}
