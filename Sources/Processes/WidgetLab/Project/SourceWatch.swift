// SPDX-License-Identifier: Apache-2.0

import CPlatform
import Dispatch
import Foundation
import Glibc

/// The files below some folders of which a build may make something, and what identifies their contents.
struct SourceSnapshot: Equatable {
  struct Stamp: Equatable {
    let seconds: Int
    let nanoseconds: Int
    let size: Int
    /// Another one when an editor saves by renaming.
    let inode: UInt64
  }

  private(set) var files: [String: Stamp] = [:]

  private static let endings: Set<String> = [
    "c", "entitlements", "h", "intentdefinition", "json", "pbxproj", "plist", "strings", "stringsdict", "swift",
    "xcconfig", "xcstrings", "xcworkspacedata", "yaml", "yml",
  ]
  /// Each file in a folder with this ending counts.
  private static let catalog = ".xcassets"

  /// - Parameters:
  ///   - roots: absolute paths. Hidden files and folders below them are left out.
  ///   - excluded: a folder that is left out too.
  ///   - enter: receives each folder before it is read.
  init(_ roots: [String], without excluded: String?, enter: (String) -> Void = { _ in }) {
    var queue = roots
    // A link may lead to a folder above it.
    var seen: Set<UInt64> = []
    while let folder = queue.popLast() {
      guard folder != excluded, let ownStatus = Self.status(folder), seen.insert(ownStatus.inode).inserted else {
        continue
      }
      enter(folder)
      for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] where !name.hasPrefix(".") {
        let path = "\(folder)/\(name)"
        guard let status = Self.status(path) else { continue }
        if status.mode & S_IFMT == S_IFDIR {
          queue.append(path)
        } else if Self.isSource(path, name) {
          files[path] = Stamp(
            seconds: Int(status.seconds), nanoseconds: Int(status.nanoseconds), size: Int(status.size),
            inode: status.inode)
        }
      }
    }
  }

  private static func isSource(_ path: String, _ name: String) -> Bool {
    guard let dot = name.lastIndex(of: ".") else { return false }
    return endings.contains(String(name[name.index(after: dot)...])) || path.contains(catalog + "/")
  }

  private static func status(_ path: String) -> file_status? {
    var status = file_status()
    return file_status_at_path(path, &status) == 0 ? status : nil
  }

  /// The files that are new, gone or different since an earlier one, sorted.
  func changes(since earlier: SourceSnapshot) -> [String] {
    Set(files.keys).union(earlier.files.keys).filter { files[$0] != earlier.files[$0] }.sorted()
  }
}

/// Finds out when an author saves a file.
///
/// The kernel reports a change in a folder (inotify), and what has changed is found by looking at all files. A mounted
/// folder may deliver no reports, and a user may watch only so many folders: so there are looks without a report too.
actor SourceWatch {
  /// The milliseconds between looks without a report.
  private static let pause = 1500
  /// What is saved within this time of each other is one change.
  private static let burst = Duration.milliseconds(60)

  let roots: [String]
  private let excluded: String?
  private var last: SourceSnapshot
  private let descriptor: Int32
  private let reports: AsyncStream<Void>
  // Only retained for the lifetime of this object, and not accessed after init.
  private nonisolated(unsafe) let sources: [any DispatchSourceProtocol]

  /// Changes count from now on.
  ///
  /// - Parameters:
  ///   - roots: absolute paths of folders.
  ///   - excluded: a folder in which changes do not count.
  init(_ roots: [String], without excluded: String? = nil) {
    let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
    let (reports, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let timer = DispatchSource.makeTimerSource()
    timer.setEventHandler { continuation.yield() }
    timer.schedule(deadline: .now() + .milliseconds(Self.pause), repeating: .milliseconds(Self.pause))
    var sources: [any DispatchSourceProtocol] = [timer]
    if descriptor >= 0 {
      let reader = DispatchSource.makeReadSource(fileDescriptor: descriptor)
      reader.setEventHandler {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while read(descriptor, &buffer, buffer.count) > 0 {}
        continuation.yield()
      }
      reader.setCancelHandler { close(descriptor) }
      sources.append(reader)
    }
    for source in sources { source.resume() }
    (self.roots, self.excluded, self.descriptor, self.reports) = (roots, excluded, descriptor, reports)
    self.sources = sources
    last = Self.look(roots, excluded: excluded, descriptor: descriptor)
  }

  deinit { for source in sources { source.cancel() } }

  /// The number of files.
  var count: Int { last.files.count }

  /// Returns the files that have changed since the last call, when no more of them change. A change between two calls is
  /// not lost.
  ///
  /// - Returns: absolute paths, sorted; `nil` when the task is cancelled.
  func next() async -> [String]? {
    for await _ in reports {
      var now = look()
      guard now != last else { continue }
      while true {
        do { try await Task.sleep(for: Self.burst) } catch { return nil }
        let later = look()
        if later == now { break }
        now = later
      }
      let changes = now.changes(since: last)
      last = now
      if !changes.isEmpty { return changes }
    }
    return nil
  }

  private func look() -> SourceSnapshot { Self.look(roots, excluded: excluded, descriptor: descriptor) }

  /// Looks at all files. A folder is watched before it is read, so that no change is lost between the two.
  private static func look(_ roots: [String], excluded: String?, descriptor: Int32) -> SourceSnapshot {
    let events = UInt32(IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO)
    return SourceSnapshot(roots, without: excluded) { _ = inotify_add_watch(descriptor, $0, events) }
  }
}
