import Foundation
import Synchronization
import WidgetKit

/// A point of the way that a test waits for, and at which it can have something happen to this process: with a file in the
/// group's folder, named after both.
///
///     crash-<point>   the process ends there, with code 3
///     gate-<point>    the thread waits until somebody opens this FIFO for writing
///     grow-<point>    as many MiB of memory are taken as the file says, for ever
///     hold-<point>    the thread waits for ever
enum Point: String {
  case launched
  case timeline
  case resumed
  case told
  case handler
  case fileBefore = "file-before"
  case fileMoved = "file-moved"
  case completed
  case finish

  static let group = ProcessInfo.processInfo.environment["TRIAL_GROUP"] ?? "group.com.example.Trial"

  /// The folder that test and extension share.
  static var folder: URL {
    guard let folder = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: group) else {
      fatalError("the trial extension belongs to the app group \(group)")
    }
    return folder
  }

  /// Says so in one line; then happens what the files of this moment say.
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

/// Memory that is written to and never given back.
private enum Ballast {
  private static let bytes = Mutex<[UInt8]>([])

  static func take(_ mebibytes: Int) {
    bytes.withLock { $0 = [UInt8](repeating: 1, count: mebibytes << 20) }
  }
}
