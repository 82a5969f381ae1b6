// SPDX-License-Identifier: Apache-2.0

import CPlatform
import Foundation
import Synchronization
import WidgetKit

/// The fixture's one download. With `TRIAL_FILES`, that many concurrent downloads, whose files are not kept.
final class FixtureDownload: NSObject, URLSessionDownloadDelegate, Sendable {
  static let shared = FixtureDownload()
  static let identifier = "com.example.Trial.session"

  private let made = Mutex<URLSession?>(nil)
  /// From the handler's call to the last event: tasks whose events the host has sent are no longer listed by the
  /// session.
  private let isHandedOver = Mutex(false)
  @MainActor private var completions: [() -> Void] = []

  private var session: URLSession {
    made.withLock { made in
      if let made { return made }
      let configuration = URLSessionConfiguration.background(withIdentifier: Self.identifier)
      configuration.sharedContainerIdentifier = Point.group
      let session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
      made = session
      return session
    }
  }

  /// The file that the download is moved to.
  var result: URL { Point.folder.appendingPathComponent("trial-result") }

  /// The digest of the downloaded file; `nil` before the download.
  var digestOfResult: String? {
    let file = open(result.path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var digest = [UInt8](repeating: 0, count: 32)
    guard digest_sha256_of_file(file, .max, &digest) == 0 else { return nil }
    return digest.map { String(format: "%02x", $0) }.joined()
  }

  private let count = ProcessInfo.processInfo.environment["TRIAL_FILES"].flatMap { Int($0) }

  /// Starts the download, unless it is in progress or its events are being delivered.
  func start() async {
    guard let url = ProcessInfo.processInfo.environment["TRIAL_URL"].flatMap({ URL(string: $0) }) else {
      fatalError("TRIAL_URL must be the URL of the download")
    }
    guard await session.allTasks.isEmpty, !isHandedOver.withLock(\.self) else { return }
    for number in 0..<(count ?? 1) {
      let task = session.downloadTask(with: count == nil ? url : url.appendingPathComponent("\(number)"))
      task.resume()
      if count == nil { Point.resumed.reached("\(task.taskIdentifier)") }
    }
  }

  @MainActor func handleEvents(of identifier: String, completion: @escaping () -> Void) {
    isHandedOver.withLock { $0 = true }
    Point.handler.reached(identifier)
    completions.append(completion)
    _ = session
  }

  func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
    guard count == nil else { return }
    Point.fileBefore.reached("\(downloadTask.taskIdentifier)")
    do {
      try? FileManager.default.removeItem(at: result)
      try FileManager.default.moveItem(at: location, to: result)
      let size = try Data(contentsOf: result).count
      Point.fileMoved.reached("\(digestOfResult ?? "no file") \(size)")
    } catch {
      print("the file could not be moved: \(error)")
    }
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    guard count == nil || error != nil else { return }
    Point.completed.reached("\(task.taskIdentifier) \((error as? URLError)?.code.rawValue ?? 0)")
  }

  func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
    Point.finish.reached()
    isHandedOver.withLock { $0 = false }
    WidgetCenter.shared.reloadTimelines(ofKind: FixtureWidget.kind)
    Task { @MainActor in
      let waiting = completions
      completions = []
      for completion in waiting { completion() }
    }
  }
}

/// A point in the code that a test can wait for. A file in the group's folder makes something happen there; its name
/// consists of an action and the point:
///
///     crash-<point>   the process exits with code 3
///     gate-<point>    the thread waits until this FIFO is opened for writing
///     grow-<point>    the process allocates the number of MiB in the file, and never frees them
///     hold-<point>    the thread waits forever
enum Point: String {
  case launched
  case timeline
  case resumed
  case notified
  case handler
  case fileBefore = "file-before"
  case fileMoved = "file-moved"
  case completed
  case finish

  static let group = ProcessInfo.processInfo.environment["TRIAL_GROUP"] ?? "group.com.example.Trial"

  /// The folder that test and extension share.
  static var folder: URL {
    guard let folder = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: group) else {
      fatalError("the fixture must belong to the app group \(group)")
    }
    return folder
  }

  /// Prints one line, then performs the actions whose files exist.
  func reached(_ details: String = "") {
    let isHeld = isAsked(to: "hold")
    let mebibytes = (try? String(contentsOf: file("grow"), encoding: .utf8)).flatMap { Int($0) }
    print("reached \(rawValue)\(details.isEmpty ? "" : " \(details)")")
    if isAsked(to: "crash") { exit(3) }
    if isAsked(to: "gate") { try? FileHandle(forReadingFrom: file("gate")).close() }
    if let mebibytes { Ballast.take(mebibytes) }
    if isHeld { DispatchSemaphore(value: 0).wait() }
  }

  private func isAsked(to act: String) -> Bool { FileManager.default.fileExists(atPath: file(act).path) }
  private func file(_ act: String) -> URL { Point.folder.appendingPathComponent("\(act)-\(rawValue)") }
}

/// Memory that is written to and never freed.
private enum Ballast {
  private static let bytes = Mutex<[UInt8]>([])

  static func take(_ mebibytes: Int) {
    bytes.withLock { $0 = [UInt8](repeating: 1, count: mebibytes << 20) }
  }
}
