import Foundation
import Glibc
import Synchronization

/// What the clusters of one test leave behind: it is deleted when the test passes, and copied to a named folder when the
/// test fails.
///
/// A test that fails by a recorded issue and not by an error is known to have failed only when it has ended. The folders
/// of its clusters are kept aside until then.
package final class LabRemains: Sendable {
  /// The remains of the test that runs in this task; `nil` outside of tests that keep them.
  @TaskLocal package static var current: LabRemains?

  private struct State {
    var folders: [String] = []
    var failures: [String] = []
  }

  private let test: String
  private let runFolder: String
  private let state = Mutex(State())

  /// - Parameters:
  ///   - test: the name of the test, of which the name of the folder is made.
  ///   - runFolder: where the folder is made when the test fails.
  package init(test: String, in runFolder: String = LabRemains.runFolder) {
    self.test = test
    self.runFolder = runFolder
  }

  /// The folder for the failures of this run: `WIDGETLAB_FAILURES`, or one below `.build/test-failures` that is named
  /// after the time of the first failure.
  package static let runFolder: String = {
    if let folder = ProcessInfo.processInfo.environment["WIDGETLAB_FAILURES"] { return folder }
    let time = Date().ISO8601Format(.iso8601(timeZone: .gmt, timeSeparator: .omitted))
    return FileManager.default.currentDirectoryPath + "/.build/test-failures/" + time
  }()

  /// Records a failure of the test.
  package func fail(_ words: String) { state.withLock { $0.failures.append(words) } }

  /// Gives a folder that is no longer used to the test that runs in this task, or deletes it when there is none.
  package static func retire(_ folder: String) throws {
    if let current { try current.take(folder) } else { try? FileManager.default.removeItem(atPath: folder) }
  }

  /// Takes over the folder of a process or a cluster that has ended. The folder is moved aside at once, so that nothing is
  /// left at its path.
  ///
  /// - Throws: when the folder cannot be moved.
  package func take(_ folder: String) throws {
    let aside = folder + ".ended"
    try FileManager.default.moveItem(atPath: folder, toPath: aside)
    state.withLock { $0.folders.append(aside) }
  }

  /// Ends the test: copies what explains its failure, if it failed, and deletes the folders that it took over.
  ///
  /// - Returns: the folder with the copies; `nil` when the test passed.
  /// - Throws: when a folder cannot be deleted or nothing can be copied.
  @discardableResult
  package func close() throws -> String? {
    let (folders, failures) = state.withLock { state in
      defer { state = State() }
      return (state.folders, state.failures)
    }
    defer { for folder in folders { try? FileManager.default.removeItem(atPath: folder) } }
    guard !failures.isEmpty else { return nil }
    let place = try newFolder()
    try Data(failures.map { $0 + "\n" }.joined(separator: "\n").utf8)
      .write(to: URL(fileURLWithPath: place + "/issues.txt"))
    for (number, folder) in zip(1..., folders) {
      try Self.copy(from: folder, to: folders.count == 1 ? place : "\(place)/cluster-\(number)")
    }
    return place
  }

  /// Makes a folder whose name is made of the test's. A number is added when there is one of that name.
  private func newFolder() throws -> String {
    try FileManager.default.createDirectory(atPath: runFolder, withIntermediateDirectories: true)
    let words = test.split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }
    let name = String(words.joined(separator: "-").prefix(150))
    for number in 1...10_000 {
      let path = "\(runFolder)/\(name)\(number == 1 ? "" : "-\(number)")"
      if mkdir(path, 0o755) == 0 { return path }
      guard errno == EEXIST else { throw LabError("\(path): \(String(cString: strerror(errno)))") }
    }
    throw LabError("\(runFolder)/\(name) exists ten thousand times")
  }

  /// Copies the journal, the logs and the outputs. Keys and certificates stay where they are.
  private static func copy(from folder: String, to place: String) throws {
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
    for name in try FileManager.default.contentsOfDirectory(atPath: folder) where isCopied(name) {
      try FileManager.default.copyItem(atPath: "\(folder)/\(name)", toPath: "\(place)/\(name)")
    }
  }

  private static func isCopied(_ name: String) -> Bool {
    ["journal", "logs", "widgetlab.yaml", "processes.json"].contains(name)
      || [".out", ".err", ".log"].contains { name.hasSuffix($0) }
  }
}
