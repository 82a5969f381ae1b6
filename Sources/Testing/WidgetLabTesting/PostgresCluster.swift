// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
package import Testing

/// A temporary PostgreSQL server of a test: its own folder, a Unix socket in it, and no port. The kernel kills it when
/// the test's process exits.
package actor PostgresCluster {
  /// The folder with the data, the socket and the log.
  package nonisolated let folder: String
  private let programs: String
  private let settings: [String]
  private let disk: Int?
  private var server: LabChild?

  /// The folder of PostgreSQL's programs; `nil` when it is not installed.
  package static let programs: String? = {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    let versions = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
    let folders =
      versions.sorted { $0.compare($1, options: .numeric) == .orderedDescending }.map {
        "/usr/lib/postgresql/\($0)/bin"
      }
      + path.split(separator: ":").map(String.init)
    return folders.first { folder in
      ["initdb", "postgres", "psql"].allSatisfy { access("\(folder)/\($0)", X_OK) == 0 }
    }
  }()

  /// Whether its tests can run.
  package static var isInstalled: Bool { programs != nil }

  /// What a skipped test prints.
  package static let advice = "PostgreSQL is not installed: run scripts/prerequisites"

  /// Whether a server can have its own file system. Only root can mount one.
  package static var canMount: Bool { geteuid() == 0 && isInstalled }

  /// Creates the folder and the data of a server that is not started.
  ///
  /// - Parameters:
  ///   - settings: lines of `name=value` for the server. By default it waits for no disk.
  ///   - disk: the MiB of a file system that has only the data, mounted while the server runs; its log of transactions is
  ///     elsewhere. `nil` for the file system of the folder. Requires `canMount`.
  package init(settings: [String] = ["fsync=off"], disk: Int? = nil) async throws {
    guard let programs = Self.programs else { throw LabError(Self.advice) }
    self.programs = programs
    self.settings = settings
    self.disk = disk
    // Short, because the path of a socket has at most 107 bytes. Another user cannot enter root's own temporary folder.
    let parent = Self.unprivileged == nil ? FileManager.default.temporaryDirectory.path : "/tmp"
    folder = parent + "/pg-" + UUID().uuidString.prefix(8)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    if let user = Self.unprivileged { chown(folder, user.uid, user.gid) }
    guard disk == nil else {
      try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
      return
    }
    let made = try await run("initdb", Self.initialization(data))
    guard made == 0 else { throw LabError("initdb exited with \(made): \(log("initdb"))") }
  }

  /// Calls `body` with a server that has not started, and removes the server afterwards.
  package static func during(_ body: (PostgresCluster) async throws -> Void) async throws {
    let server = try await PostgresCluster()
    do { try await body(server) } catch {
      await server.remove()
      throw error
    }
    await server.remove()
  }

  private static func initialization(_ data: String) -> [String] {
    ["-D", data, "-U", "widgetlab", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]
  }

  private nonisolated var data: String { folder + "/data" }

  /// The URI of the server's database, with tables in a schema.
  package nonisolated func url(schema: String = "public") -> String {
    let path = folder.replacing("/", with: "%2F")
    let schema = schema == "public" ? "" : "&options=-c%20search_path%3D\(schema)"
    return "postgres://widgetlab@\(path)/postgres?connect_timeout=5\(schema)"
  }

  /// Starts the server, and returns when it accepts connections.
  package func start() async throws {
    let words =
      ["-D", data, "-k", folder, "-c", "listen_addresses=", "-c", "max_connections=200"]
      + settings.flatMap { ["-c", $0] }
    server = if let disk { try await onDisk(disk, words) } else { try await child("postgres", words) }
    for _ in 0..<1_200 {
      if try await run("psql", ["-h", folder, "-U", "widgetlab", "-d", "postgres", "-c", "SELECT 1"]) == 0 { return }
      try await Task.sleep(for: .milliseconds(50))  // polls for the server
    }
    throw LabError("PostgreSQL does not accept connections: \(log("postgres"))")
  }

  /// Starts the server in a mount namespace in which its data have their own file system.
  private func onDisk(_ size: Int, _ words: [String]) async throws -> LabChild {
    let script = """
      mount -t tmpfs -o size=\(size)m,mode=700,uid=\(Self.unprivileged?.uid ?? 0) tmpfs "$1"
      shift
      "$@" \(quoted("initdb", Self.initialization(data) + ["--waldir", folder + "/log"])) >&2
      exec "$@" \(quoted("postgres", words))
      """
    return try await LabChild.start(
      "/usr/bin/unshare", ["--mount", "/bin/sh", "-ec", script, "sh", data] + Self.asUser,
      environment: Self.environment,
      output: "\(folder)/postgres.out", errors: "\(folder)/postgres.err")
  }

  private nonisolated func quoted(_ program: String, _ words: [String]) -> String {
    (["\(programs)/\(program)"] + words).map { "'\($0)'" }.joined(separator: " ")
  }

  /// Stops the server as `pg_ctl stop -m immediate` does, without a checkpoint.
  package func stopImmediately() async { await stop(SIGQUIT) }

  /// Stops the server, and ends all connections.
  package func stop() async { await stop(SIGINT) }

  private func stop(_ signal: Int32) async {
    guard let server else { return }
    server.signal(signal)
    _ = await server.ending()
    self.server = nil
  }

  /// Stops the server and removes the folder.
  package func remove() async {
    await stop(SIGQUIT)
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// Executes statements.
  ///
  /// - Returns: the rows, with columns separated by `|`.
  /// - Throws: `LabError` with the error of the server.
  @discardableResult
  package func query(_ sql: String) async throws -> [String] {
    let name = "psql-\(UUID().uuidString)"
    let child = try await child(
      "psql", ["-h", folder, "-U", "widgetlab", "-d", "postgres", "-v", "ON_ERROR_STOP=1", "-qAtc", sql], output: name)
    let status = await child.ending()
    defer {
      unlink("\(folder)/\(name).out")
      unlink("\(folder)/\(name).err")
    }
    guard status == 0 else { throw LabError("\(sql): \(log(name))") }
    let output = (try? String(contentsOfFile: "\(folder)/\(name).out", encoding: .utf8)) ?? ""
    return output.split(separator: "\n").map(String.init)
  }

  /// Starts `psql` with statements, whose rows go to a file, as a process that a test can stop.
  package func session(_ sql: String) async throws -> LabChild {
    try await child(
      "psql", ["-h", folder, "-U", "widgetlab", "-d", "postgres", "-qAtc", sql], output: "session-\(UUID().uuidString)")
  }

  private nonisolated func log(_ name: String) -> String {
    (try? String(contentsOfFile: "\(folder)/\(name).err", encoding: .utf8)) ?? ""
  }

  private func run(_ program: String, _ arguments: [String]) async throws -> Int32 {
    await (try child(program, arguments)).ending()
  }

  private func child(_ program: String, _ arguments: [String], output: String? = nil) async throws -> LabChild {
    let words = Self.asUser + ["\(programs)/\(program)"] + arguments
    let name = output ?? program
    return try await LabChild.start(
      words[0], Array(words.dropFirst()), environment: Self.environment, output: "\(folder)/\(name).out",
      errors: "\(folder)/\(name).err")
  }

  private static let environment = ["LC_ALL": "C", "TZ": "UTC"]

  /// The beginning of a command: PostgreSQL does not run as root. The kernel forgets the signal at the end of the parent
  /// when the user changes.
  private static let asUser: [String] =
    unprivileged.map { user in
      ["/usr/bin/setpriv", "--reuid=\(user.uid)", "--regid=\(user.gid)", "--clear-groups", "--pdeathsig=KILL"]
    } ?? []

  /// The user of the server when this process is root's.
  private static let unprivileged: (uid: uid_t, gid: gid_t)? = {
    guard geteuid() == 0 else { return nil }
    for name in ["postgres", "daemon"] {
      if let entry = getpwnam(name) { return (entry.pointee.pw_uid, entry.pointee.pw_gid) }
    }
    return nil
  }()
}

/// The trait of suites whose tests use one PostgreSQL server, each with its own schema. Without PostgreSQL, the
/// tests are skipped by name.
package struct PostgresTrait: SuiteTrait, TestScoping {
  /// The server of the suite.
  @TaskLocal package static var server: PostgresCluster?

  package let isRecursive = false

  package func scopeProvider(for test: Test, testCase: Test.Case?) -> PostgresTrait? { test.isSuite ? self : nil }

  package func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    guard PostgresCluster.isInstalled else { return try await function() }
    let server = try await PostgresCluster()
    do {
      try await server.start()
      try await Self.$server.withValue(server, operation: function)
    } catch {
      await server.remove()
      throw error
    }
    await server.remove()
  }
}

extension Trait where Self == PostgresTrait {
  /// The tests of this suite use a PostgreSQL server.
  package static var postgres: Self { PostgresTrait() }
}
