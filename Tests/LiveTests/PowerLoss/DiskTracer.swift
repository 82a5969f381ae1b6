// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import WidgetLabTesting

/// `strace` on running processes, and what the disk had when it began.
struct DiskTracer {
  private static let strace = "/usr/bin/strace"
  /// The calls that change files, and those that give descriptors their offsets.
  private static let calls = [
    "open", "openat", "creat", "write", "pwrite64", "writev", "pwritev", "pwritev2", "ftruncate", "truncate",
    "fallocate", "rename", "renameat", "renameat2", "link", "linkat", "unlink", "unlinkat", "mkdir", "mkdirat", "rmdir",
    "symlink", "symlinkat", "fsync", "fdatasync", "sendfile", "copy_file_range", "splice", "ioctl", "mmap", "lseek",
  ]

  /// One traced process.
  private struct Traced {
    let pid: Int32
    let child: LabChild
    let output: String
    let descriptors: [Int32: DiskTrace.Descriptor]
  }

  private let folder: String
  private let traced: [Traced]
  /// What the disk has in any case.
  let start: DiskModel.State
  /// A copy of the whole folder, for what is not traced.
  let copy: String
  /// Seconds since 1970.
  private let began: Double

  /// Whether this machine lets a process trace another. A missing `strace` is not a reason to skip a test.
  static func isPermitted() async throws -> Bool {
    guard access(strace, X_OK) == 0 else { return true }
    let folder = FileManager.default.temporaryDirectory.path + "/strace-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let child = try await LabChild.start(
      strace, ["-o", folder + "/trace", "/bin/true"], output: folder + "/out", errors: folder + "/err")
    return await child.ending() == 0
  }

  /// Paths that no recovery reads: SQLite's shared memory, the clock page, and the output of the processes.
  static func ignores(_ path: String, in folder: String) -> Bool {
    let name = path.dropFirst(folder.count + 1)
    return name.hasSuffix("-shm") || name.hasPrefix("logs/") || name.hasSuffix("/clock") || !name.contains("/")
      || name.contains("/bundles/")
  }

  /// Attaches to the processes, and copies what the disk has when they are idle.
  ///
  /// - Throws: `LabError` when a process cannot be traced, or the processes do not become idle.
  static func begin(_ processes: [String: Int32], of cluster: LabCluster, output: String) async throws -> DiskTracer {
    var traced: [Traced] = []
    for (name, pid) in processes.sorted(by: { $0.key < $1.key }) {
      let file = "\(output)/\(name).trace"
      let arguments = [
        "-f", "-y", "-xx", "-s", "4194304", "-ttt", "-T", "-e", "trace=" + calls.joined(separator: ","), "-e",
        "signal=none", "-o", file, "-p", "\(pid)",
      ]
      let errors = file + ".err"
      let child = try await LabChild.start(strace, arguments, output: file + ".out", errors: errors)
      try await cluster.eventually("strace is attached to \(name)") {
        let text = (try? String(contentsOfFile: errors, encoding: .utf8)) ?? ""
        guard LabProcess(pid: child.pid).isAlive else { throw LabError("strace of \(name) has ended: \(text)") }
        return text.contains("attached")
      }
      traced.append(Traced(pid: pid, child: child, output: file, descriptors: try descriptors(of: pid)))
    }
    var foundStart: (start: DiskModel.State, began: Double)?
    try await cluster.eventually("the traced processes change no file while their folder is copied") {
      let begun = Date.now.timeIntervalSince1970
      let start = try read(cluster.folder)
      try? FileManager.default.removeItem(atPath: output + "/copy")
      try FileManager.default.copyItem(atPath: cluster.folder, toPath: output + "/copy")
      let ended = Date.now.timeIntervalSince1970
      foundStart = (start, ended)
      return try traced.flatMap { try items($0, below: cluster.folder) }.allSatisfy { $0.ended.time < begun }
    }
    guard let foundStart else { throw LabError("the folder was not copied") }
    return DiskTracer(
      folder: cluster.folder, traced: traced, start: foundStart.start, copy: output + "/copy", began: foundStart.began)
  }

  /// What a whole trace has.
  struct Result {
    /// All changes since the copy.
    let steps: [DiskTrace.Step]
    /// What the processes would read at the end.
    let end: DiskModel.State
  }

  /// Stops the processes, reads the folder, and ends the tracing.
  ///
  /// - Throws: `SystemCall.Malformed`, `DiskTrace.Unknown`.
  func end(of cluster: LabCluster) async throws -> Result {
    for item in traced { try LabProcess(pid: item.pid).signal(SIGSTOP) }
    try await cluster.eventually("the traced processes are stopped") {
      traced.allSatisfy { item in
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(item.pid)/task")) ?? []
        return threads.compactMap(Int32.init).allSatisfy { "Tt".contains(LabProcess(pid: $0).state ?? "T") }
      }
    }
    let end = try Self.read(folder)
    for item in traced {
      try LabProcess(pid: item.child.pid).signal(SIGINT)
      _ = await item.child.ending()
      try LabProcess(pid: item.pid).signal(SIGCONT)
    }
    let items = try traced.map { try Self.items($0, below: folder).filter { $0.ended.time > began } }
    return Result(steps: DiskTrace.steps(items), end: end)
  }

  private static func items(_ traced: Traced, below folder: String) throws -> [DiskTrace.Item] {
    let trace = try Data(contentsOf: URL(fileURLWithPath: traced.output), options: .mappedIfSafe)
    return try DiskTrace.items(
      SystemCall.all(in: trace, below: folder), below: folder, descriptors: traced.descriptors
    ) { ignores($0, in: folder) }
  }

  /// The offsets and the flags of a process's open files.
  private static func descriptors(of pid: Int32) throws -> [Int32: DiskTrace.Descriptor] {
    var foundDescriptors: [Int32: DiskTrace.Descriptor] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fdinfo") {
      guard let number = Int32(name),
        let text = try? String(contentsOfFile: "/proc/\(pid)/fdinfo/\(name)", encoding: .utf8)
      else { continue }
      var descriptor = DiskTrace.Descriptor()
      for line in text.split(separator: "\n") {
        let words = line.split { $0 == ":" || $0 == "\t" || $0 == " " }
        if words.first == "pos", let offset = words.last.flatMap({ Int($0) }) { descriptor.offset = offset }
        if words.first == "flags", let flags = words.last.flatMap({ Int32($0, radix: 8) }) {
          descriptor.appends = flags & O_APPEND != 0
        }
      }
      foundDescriptors[number] = descriptor
    }
    return foundDescriptors
  }

  /// The folders and files below a folder that a recovery reads.
  static func read(_ folder: String) throws -> DiskModel.State {
    var state = DiskModel.State()
    guard let names = FileManager.default.enumerator(atPath: folder) else { throw LabError("\(folder) cannot be read") }
    for case let name as String in names {
      let path = folder + "/" + name
      var status = stat()
      guard lstat(path, &status) == 0 else { continue }
      switch status.st_mode & S_IFMT {
      case S_IFDIR: state.folders.insert(path)
      case S_IFREG where !ignores(path, in: folder):
        state.contents[path] = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
      default: break
      }
    }
    return state
  }
}
