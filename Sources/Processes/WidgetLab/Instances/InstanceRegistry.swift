// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CPlatform
import Foundation
import Glibc
import JournalAnalysis

/// The registry of this user's running clusters on this machine: a folder with one file for each running `widgetlab
/// up`.
///
/// Each file is locked (`flock`) while its `up` runs, and released however it exits. Readers remove files that are no
/// longer locked. Folder mode 0700, files 0600, so that other users cannot read or write them.
struct InstanceRegistry: Sendable {
  /// One running cluster, stored as JSON.
  struct Entry: Codable, Equatable, Sendable {
    /// The last part of the instance's folder.
    let name: String
    /// The instance's folder.
    let instance: String
    let configuration: String
    /// The pid of its `widgetlab up`.
    let pid: Int32
    /// The start time of that process, in the kernel's ticks since boot. It distinguishes processes when a pid is
    /// reused.
    let startTime: UInt64
    /// ISO 8601.
    let since: String
    /// The bus endpoint. This and all following properties are `nil` until the cluster is ready.
    var endpoint: String?
    var tap: String?
    var publicKey: String?
    var provider: String?

    var isReady: Bool { endpoint != nil }

    /// Creates the entry of this process.
    init(instance: String, configuration: String) {
      name = instance.split(separator: "/").last.map(String.init) ?? instance
      self.instance = instance
      self.configuration = configuration
      pid = getpid()
      startTime = ProcessFacts(pid: getpid()).startTime ?? 0
      since = Date().formatted(.iso8601)
    }
  }

  let folder: String

  /// This user's registry: `$XDG_RUNTIME_DIR/widgetlab-<uid>`, else in /tmp.
  static var ofThisUser: InstanceRegistry {
    let place =
      ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
    return InstanceRegistry(folder: "\(place)/widgetlab-\(getuid())")
  }

  /// The file of an instance.
  func file(of instance: String) -> String {
    "\(folder)/\(String(FNV1a.hash(instance.utf8), radix: 16)).json"
  }

  /// Creates the folder if it is missing.
  ///
  /// - Throws: a command error when it cannot be created, or is accessible to other users.
  func open() throws {
    guard mkdir(folder, 0o700) == 0 || errno == EEXIST else {
      throw CommandError(
        Exit.configuration, "the instance registry cannot be created: \(String(cString: strerror(errno)))", at: folder,
        advice: "set XDG_RUNTIME_DIR to a folder that you own")
    }
    var facts = file_status()
    guard file_status_of_link(folder, &facts) == 0, facts.mode & S_IFMT == S_IFDIR, facts.owner == getuid(),
      facts.mode & 0o077 == 0
    else {
      throw CommandError(
        Exit.configuration, "the instance registry is not a folder owned by and private to this user", at: folder,
        advice: "remove it, or set XDG_RUNTIME_DIR to a folder that you own")
    }
  }

  /// Returns all running clusters, by name, and removes stale entries. Empty when there is no registry.
  ///
  /// - Throws: a command error when the registry is accessible to other users.
  func running() throws -> [Entry] {
    guard access(folder, F_OK) == 0 else { return [] }
    try open()
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.filter { $0.hasSuffix(".json") }.compactMap { entry(at: "\(folder)/\($0)") }
      .sorted { ($0.name, $0.instance) < ($1.name, $1.instance) }
  }

  /// Reads the entry of a file whose `up` is running. Removes the file otherwise.
  private func entry(at path: String) -> Entry? {
    let descriptor = Glibc.open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    if flock(descriptor, LOCK_EX | LOCK_NB) == 0 {
      // Another process may have replaced the file. Then it must not be removed.
      if InstanceLease.isStill(descriptor, at: path) { unlink(path) }
      return nil
    }
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
    guard let data = try? handle.readToEnd(), let entry = try? JSONDecoder().decode(Entry.self, from: data),
      ProcessFacts(pid: entry.pid).startTime == entry.startTime
    else { return nil }
    return entry
  }
}

/// The file of an `up` in the registry.
final class InstanceLease: Sendable {
  private let path: String
  private let descriptor: CInt

  /// Creates the file, locked until this process exits or `remove` is called.
  ///
  /// - Throws: a command error on failure.
  init(_ entry: InstanceRegistry.Entry, in registry: InstanceRegistry) throws {
    try registry.open()
    path = registry.file(of: entry.instance)
    var foundDescriptor: CInt = -1
    // A reader may be removing the file of an `up` that has exited.
    for _ in 0..<100 where foundDescriptor < 0 {
      let candidate = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
      guard candidate >= 0 else { break }
      if flock(candidate, LOCK_EX) == 0, Self.isStill(candidate, at: path) {
        foundDescriptor = candidate
      } else {
        close(candidate)
      }
    }
    descriptor = foundDescriptor
    guard foundDescriptor >= 0 else {
      throw CommandError(
        Exit.configuration, "the instance registry cannot be written: \(String(cString: strerror(errno)))", at: path)
    }
    try write(entry)
  }

  /// Rewrites the entry.
  func write(_ entry: InstanceRegistry.Entry) throws {
    let bytes = Array(try Output.jsonData(entry)) + [UInt8(ascii: "\n")]
    guard pwrite(descriptor, bytes, bytes.count, 0) == bytes.count, ftruncate(descriptor, off_t(bytes.count)) == 0
    else {
      throw CommandError(
        Exit.configuration, "the instance registry cannot be written: \(String(cString: strerror(errno)))", at: path)
    }
  }

  /// Removes the file.
  func remove() {
    unlink(path)
    close(descriptor)
  }

  /// Whether the open file still has this path.
  static func isStill(_ descriptor: CInt, at path: String) -> Bool {
    var (own, there) = (file_status(), file_status())
    return file_status_of_descriptor(descriptor, &own) == 0 && file_status_of_link(path, &there) == 0
      && own.inode == there.inode && own.device == there.device
  }
}

extension ProcessFacts {
  /// The start time of the process, in the kernel's ticks since boot; `nil` when the process does not exist.
  var startTime: UInt64? {
    guard let stat = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
      let end = stat.lastIndex(of: ")")
    else { return nil }
    // The 22nd field. The second field ends with the parenthesis.
    let fields = stat[stat.index(after: end)...].split(separator: " ")
    return fields.count > 19 ? UInt64(fields[19]) : nil
  }
}

/// `widgetlab list`.
struct ListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Shows all of your clusters that run on this machine.",
    discussion: """
      Each `widgetlab up` is in the instance registry while it runs. Every command finds a running cluster by its NAME \
      from any folder, if the name is unique: --instance NAME.

      The registry is a folder with one JSON file per cluster: widgetlab-<uid> in $XDG_RUNTIME_DIR, or in /tmp.

      EXAMPLES
        widgetlab list
        widgetlab list --json              with endpoints and the bus's public key
      """)

  @Flag(help: "Print one JSON object: {\"registry\":…,\"clusters\":[…]}.")
  var json = false

  private struct Report: Encodable {
    let registry: String
    let clusters: [InstanceRegistry.Entry]
  }

  func run() async throws {
    try await reporting {
      let registry = InstanceRegistry.ofThisUser
      let running = try registry.running()
      if json { return try Output.json(Report(registry: registry.folder, clusters: running)) }
      guard !running.isEmpty else { return Output.print("none of your clusters is running on this machine") }
      var table = TextTable(headings: ["NAME", "UP", "SINCE", "BUS", "INSTANCE"])
      table.rows = running.map { [$0.name, "\($0.pid)", $0.since, $0.endpoint ?? "starting", $0.instance] }
      for line in table.lines { Output.print(line) }
    }
  }
}
