// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ChaosCampaign
import Cluster
import Foundation
import Glibc
import Synchronization

/// Failure files on disk.
enum ChaosFailure {
  /// The folders to remove when this process exits, by the path of the file.
  private static let extracted = Mutex<[String: String]>([:])

  static func read(_ path: String) throws -> FailureFile {
    do {
      return try FailureFile(reading: Data(contentsOf: URL(fileURLWithPath: path), options: .mappedIfSafe))
    } catch let problem as TarArchive.Problem {
      throw CommandError(
        Exit.usage, "this is not a failure file of a campaign: \(problem)", at: path,
        advice: "give the file that `widgetlab chaos` wrote, chaos-SEED.tar")
    } catch {
      throw CommandError(Exit.usage, "the failure file cannot be read: \(error.localizedDescription)", at: path)
    }
  }

  /// Extracts the journal of a failure file into a folder that is removed when this process exits.
  ///
  /// - Returns: the folder; `nil` when the file is not an archive.
  static func journal(in path: String) throws -> String? {
    if let folder = extracted.withLock({ $0[path] }) { return folder }
    guard let file = FileHandle(forReadingAtPath: path), let head = try? file.read(upToCount: 512),
      TarArchive.isArchive(head)
    else { return nil }
    let segments = try read(path).segments
    let temporary = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
    var template = Array("\(temporary)/widgetlab-failure-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw CommandError(
        Exit.broken, "cannot create a temporary folder: \(String(cString: strerror(errno)))", at: temporary,
        advice: "set TMPDIR to a writable folder")
    }
    let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let isFirst = extracted.withLock { folders in
      folders[path] = folder
      return folders.count == 1
    }
    if isFirst { atexit { ChaosFailure.removeExtracted() } }
    for segment in segments { try segment.data.write(to: URL(fileURLWithPath: "\(folder)/\(segment.name)")) }
    return folder
  }

  private static func removeExtracted() {
    for folder in extracted.withLock({ $0 }).values { try? FileManager.default.removeItem(atPath: folder) }
  }
}

/// What Ctrl-C does to a campaign: the first one ends the faults, the second one everything.
actor ChaosInterruption {
  private var home: ChaosHome?
  private var run: ChaosRun?
  /// Whether no further campaign is begun.
  private(set) var isSet = false

  /// A campaign has created its folder.
  func began(_ home: ChaosHome) {
    self.home = home
    run = nil
  }

  /// A campaign performs its steps.
  func runs(_ run: ChaosRun) { self.run = run }

  /// Waits for signals until its task is cancelled.
  func watch(_ signals: Signals) async {
    await signals.next()
    guard !Task.isCancelled else { return }
    isSet = true
    if let run {
      Output.printError("widgetlab: the faults end, and the report follows; press Ctrl-C again to end at once")
      await run.interrupt()
      await signals.next()
      guard !Task.isCancelled else { return }
    }
    // The kernel kills the processes of the cluster with this process.
    if let home, home.isTemporary { home.remove() }
    ChaosCommand.exit(withError: Exit.interrupted)
  }
}

/// What a machine forgets that loses power, or gets an older copy of a file: it happens while no process of the cluster
/// runs.
struct ClusterLoss: Sendable {
  /// The newest segment of the journal when this was made, and its length then.
  private let segment: (name: String, length: off_t)?
  private let journal: String
  /// The files of a database and its write-ahead log, and their content; empty when the journal loses its end.
  private let copies: [(path: String, content: Data)]

  /// From now on the journal's writes will be lost.
  init(ofJournal folder: String) {
    journal = folder
    copies = []
    let newest = JournalEnd(folder: folder).newest
    segment = newest.map { ($0, off_t(FileManager.default.size("\(folder)/\($0)"))) }
  }

  /// From now on the writes to the database of a process will be lost. The process must not run.
  init?(ofStore victim: ChaosVictim, _ instance: InstanceFolder) {
    let paths: [ChaosVictim: String] = [
      .host: instance.host + "/host.sqlite", .pushServer: instance.pushServer + "/push.sqlite",
    ]
    guard let path = paths[victim] else { return nil }
    journal = instance.journal
    segment = nil
    copies = [path, path + "-wal", path + ".opening"].compactMap { file in
      FileManager.default.contents(atPath: file).map { (file, $0) }
    }
    guard !copies.isEmpty else { return nil }
  }

  func happen() {
    if let segment {
      for name in JournalEnd(folder: journal).segments where name > segment.name { unlink("\(journal)/\(name)") }
      truncate("\(journal)/\(segment.name)", segment.length)
    }
    guard let database = copies.first?.path else { return }
    for suffix in ["-wal", "-shm"] { unlink(database + suffix) }
    for (path, content) in copies { try? content.write(to: URL(fileURLWithPath: path)) }
  }
}

extension FileManager {
  /// In bytes; 0 when there is no such file.
  fileprivate func size(_ path: String) -> Int {
    ((try? attributesOfItem(atPath: path))?[.size] as? NSNumber)?.intValue ?? 0
  }
}

/// The end of the newest segment of a journal whose broker is dead.
struct JournalEnd {
  let folder: String

  /// The names of the segments, in order.
  var segments: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).filter { $0.hasSuffix(".journal") }.sorted()
  }

  var newest: String? { segments.last }

  /// Adds what a broker leaves that is interrupted in the middle of a write.
  func damage(_ damage: JournalDamage) {
    guard let newest else { return }
    let path = "\(folder)/\(newest)"
    switch damage {
    case .half: append(Self.head(length: 600) + Array(repeating: 0x20, count: 200), to: path)
    case .garbage: append(Self.head(length: 300) + Array(repeating: 0xff, count: 300), to: path)
    case .draft: _ = FileManager.default.createFile(atPath: path + ".draft", contents: Data())
    }
  }

  /// The head of a record: the length of its frame, and a checksum that matches nothing.
  private static func head(length: UInt32) -> [UInt8] {
    withUnsafeBytes(of: length.littleEndian) { Array($0) } + [0xde, 0xad, 0xbe, 0xef]
  }

  private func append(_ bytes: [UInt8], to path: String) {
    guard let file = FileHandle(forWritingAtPath: path) else { return }
    defer { try? file.close() }
    _ = try? file.seekToEnd()
    try? file.write(contentsOf: bytes)
  }
}

/// A soft limit of a running process, by prlimit(2), which needs no root for a process of the same user.
struct ProcessLimit: Sendable {
  private typealias Call = @convention(c) (Int32, Int32, UnsafePointer<rlimit>?, UnsafeMutablePointer<rlimit>?) -> Int32

  let pid: Int32
  private let executable: String
  private let number: Int32
  private let before: rlimit

  /// Limits a process to what it uses now and a rest.
  ///
  /// - Returns: `nil` when it does not run any more, or the kernel refuses.
  init?(_ pid: Int32, _ resource: LimitedResource, spare: Int) {
    guard let executable = ProcessFacts(pid: pid).executable, let used = Self.used(resource, by: pid) else {
      return nil
    }
    self.pid = pid
    self.executable = executable
    number = Int32(resource == .memory ? RLIMIT_AS.rawValue : RLIMIT_NOFILE.rawValue)
    var before = rlimit()
    guard Self.call(pid, number: number, new: nil, old: &before) == 0 else { return nil }
    var limited = before
    limited.rlim_cur = min(before.rlim_max, rlim_t(used + (resource == .memory ? spare << 20 : spare)))
    self.before = before
    guard Self.call(pid, number: number, new: &limited, old: nil) == 0 else { return nil }
  }

  /// Ends the limit, also that of children which were started with it.
  func end() {
    var before = before
    for pid in [pid] + Self.children(of: pid) where pid != self.pid || ProcessFacts(pid: pid).runs(executable) {
      _ = Self.call(pid, number: number, new: &before, old: nil)
    }
  }

  /// One more than the highest open descriptor, or bytes of address space.
  private static func used(_ resource: LimitedResource, by pid: Int32) -> Int? {
    switch resource {
    case .descriptors:
      let open = try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").compactMap { Int($0) }
      return open?.max().map { $0 + 1 }
    case .memory:
      let pages = try? String(contentsOfFile: "/proc/\(pid)/statm", encoding: .utf8).split(separator: " ").first
      return pages.flatMap { Int($0) }.map { $0 * Int(sysconf(Int32(_SC_PAGESIZE))) }
    }
  }

  private static func children(of pid: Int32) -> [Int32] {
    let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task")) ?? []
    return tasks.flatMap { task in
      let list = (try? String(contentsOfFile: "/proc/\(pid)/task/\(task)/children", encoding: .utf8)) ?? ""
      return list.split(separator: " ").compactMap { Int32($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
    }
  }

  /// Glibc's module does not have the function.
  private static func call(
    _ pid: Int32, number: Int32, new: UnsafePointer<rlimit>?, old: UnsafeMutablePointer<rlimit>?
  ) -> Int32 {
    guard let symbol = dlsym(nil, "prlimit") else { return -1 }
    return unsafeBitCast(symbol, to: Call.self)(pid, number, new, old)
  }
}
