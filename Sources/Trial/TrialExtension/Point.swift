import Foundation
import WidgetKit

/// A point of the way that a test waits for, and at which it can have this process held and killed.
enum Point: String {
  case launched
  case timeline
  case resumed
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

  /// Says so in one line; then holds this thread for ever, when there is a file `hold-<point>` in the group's folder.
  func reached(_ details: String = "") {
    let isHeld = FileManager.default.fileExists(atPath: Point.folder.appendingPathComponent("hold-\(rawValue)").path)
    print("reached \(rawValue)\(details.isEmpty ? "" : " \(details)")")
    if isHeld { DispatchSemaphore(value: 0).wait() }
  }
}
