// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import WidgetKit

/// A point in the code that a test can wait for. A file in the group's folder makes something happen there; its name
/// consists of an action and the point:
///
///     crash-<point>   the process exits with code 3
///     gate-<point>    the thread waits until this FIFO is opened for writing
///     grow-<point>    the process allocates the number of MiB in the file, and never frees them
///     hold-<point>    the thread waits for ever
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
