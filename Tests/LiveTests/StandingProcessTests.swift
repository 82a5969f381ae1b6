// SPDX-License-Identifier: Apache-2.0

import Cluster
import Foundation
import Glibc
import MessageBus
import Messages
import Testing
import WidgetLabTesting
import ZeroMQ

/// The shared options, the form of a fatal error and the exit codes of all standing processes, with real executables.
@Suite(.live, .timeLimit(.live)) struct `Standing processes` {
  @Test(arguments: StandingProcessFixture.Name.allCases)
  func `wrong arguments end a standing process with 64 and its usage`(name: StandingProcessFixture.Name) async throws {
    try await StandingProcessFixture.with { fixture in
      for arguments in [[], ["--instance"], fixture.arguments(of: name) + ["--nonsense"]] {
        let end = try await fixture.run(name, arguments)
        #expect(end.status == 64, "\(end)")
        // The usage follows the mistake; without any argument it is the beginning of the help.
        #expect(end.errors.lowercased().contains("usage: \(name.rawValue) "), "\(end)")
      }
    }
  }

  @Test(arguments: StandingProcessFixture.Name.allCases)
  func `help is printed with the shared options and the exit code 0`(name: StandingProcessFixture.Name) async throws {
    try await StandingProcessFixture.with { fixture in
      let end = try await fixture.run(name, ["--help"])
      #expect(end.status == 0, "\(end)")
      for option in ["--instance <instance>", "--config <config>", "--die-with-parent <die-with-parent>"] {
        #expect(end.output.contains(option), "\(option): \(end)")
      }
    }
  }

  @Test(arguments: StandingProcessFixture.Name.allCases)
  func `a configuration that cannot be used ends a standing process with 78`(
    name: StandingProcessFixture.Name
  ) async throws {
    try await StandingProcessFixture.with { fixture in
      let missing = fixture.folder + "/missing.yaml"
      let end = try await fixture.run(name, ["--instance", fixture.folder, "--config", missing])
      try fixture.check(end, of: name, status: 78, text: missing)
    }
  }

  @Test(arguments: StandingProcessFixture.Name.allCases, ["ulimit -n 48", "ulimit -v 500000"])
  func `limits that are too low end a standing process with 78 and their names`(
    name: StandingProcessFixture.Name, limit: String
  ) async throws {
    try await StandingProcessFixture.with { fixture in
      if name != .messageBus { try fixture.announceBus() }
      let end = try await fixture.run(name, fixture.arguments(of: name), limit: limit)
      try fixture.check(end, of: name, status: 78, text: "raise the limit of the shell")
    }
  }

  @Test(arguments: StandingProcessFixture.Name.allCases)
  func `a missing key ends a standing process with 78`(name: StandingProcessFixture.Name) async throws {
    try await StandingProcessFixture.with { fixture in
      if name != .messageBus { try fixture.announceBus() }
      try FileManager.default.removeItem(atPath: fixture.instance.keys)
      let end = try await fixture.run(name, fixture.arguments(of: name))
      try fixture.check(end, of: name, status: 78, text: fixture.instance.keys)
    }
  }

  @Test(arguments: StandingProcessFixture.Name.allCases)
  func `a file that cannot be read or written ends a standing process with 74`(
    name: StandingProcessFixture.Name
  ) async throws {
    try await StandingProcessFixture.with { fixture in
      // The broker needs the folder of the journal, and all others the announcement of the broker.
      let damaged = name == .messageBus ? fixture.instance.journal : fixture.instance.busAnnouncement
      try? FileManager.default.removeItem(atPath: damaged)
      try FileManager.default.createDirectory(atPath: fixture.instance.bus, withIntermediateDirectories: true)
      try "{".write(toFile: damaged, atomically: false, encoding: .utf8)
      let end = try await fixture.run(name, fixture.arguments(of: name))
      try fixture.check(end, of: name, status: 74, text: damaged)
    }
  }

  @Test func `an instance or a port in use ends a standing process with 69`() async throws {
    try await StandingProcessFixture.with { fixture in
      let bus = try await fixture.start(.messageBus)
      let second = try await fixture.run(.messageBus, fixture.arguments(of: .messageBus))
      try fixture.check(second, of: .messageBus, status: 69, text: "pid \(bus.pid)")
      let announcement = try await BusAnnouncement.wait(in: fixture.instance, within: LabTimeout.usual)
      let port = try #require(announcement.endpoint.split(separator: ":").last)
      let push = try await fixture.run(
        .pushServer, fixture.arguments(of: .pushServer) + ["--development-port", "\(port)"])
      try fixture.check(push, of: .pushServer, status: 69, text: ":\(port)")
      #expect(try await fixture.end(bus) == 0)
    }
  }

  @Test(arguments: StandingProcessFixture.Name.allCases)
  func `a parent-death signal needs a pid, and a parent that has exited ends a standing process with 0`(
    name: StandingProcessFixture.Name
  ) async throws {
    try await StandingProcessFixture.with { fixture in
      for wrong in [["--die-with-parent"], ["--die-with-parent", "none"], ["--die-with-parent", "0"]] {
        let end = try await fixture.run(name, fixture.arguments(of: name) + wrong)
        try fixture.check(end, of: name, status: 64, text: "--die-with-parent")
      }
      // Process 1 is not the parent.
      let end = try await fixture.run(name, fixture.arguments(of: name) + ["--die-with-parent", "1"])
      #expect(end.status == 0 && end.errors.isEmpty, "\(end)")
    }
  }

  @Test func `SIGTERM ends each standing process with 0`() async throws {
    try await StandingProcessFixture.with { fixture in
      var children: [LabChild] = []
      for name in StandingProcessFixture.Name.allCases { children.append(try await fixture.start(name)) }
      // The broker started first, and ends last.
      for child in children.reversed() { #expect(try await fixture.end(child) == 0) }
    }
  }

  @Test func `SIGTERM ends a broker with 0 as soon as it has announced itself`() async throws {
    for _ in 1...5 {
      try await StandingProcessFixture.with { fixture in
        let broker = try await fixture.start(.messageBus)
        #expect(try await fixture.end(broker) == 0)
      }
    }
  }
}

/// An instance in which a test starts standing processes.
struct StandingProcessFixture: Sendable {
  /// The executables, in the order in which they are started.
  enum Name: String, CaseIterable, Sendable {
    case messageBus = "message-bus"
    case processAgent = "process-agent"
    case hostSystem = "host-system"
    case pushServer = "push-server"
  }

  /// How a process ended.
  struct End: Sendable {
    let status: Int32
    let output: String
    let errors: String
  }

  let folder: String
  private let executables: String
  var instance: InstanceFolder { InstanceFolder(folder) }
  private var configuration: String { folder + "/widgetlab.yaml" }

  /// Creates an instance with keys and a configuration, and removes it after `body`.
  static func with(_ body: (StandingProcessFixture) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "standing-\(UUID().uuidString)").path
    let yaml = """
      device:
        name: iphone
      apps:
        - bundle: com.example.A
          executable: nothing
      pushServer:
        productionPort: 0
      """
    try StandingKey.makeAll(for: try ClusterConfiguration(yaml: yaml), in: InstanceFolder(folder))
    defer { try? LabRemains.retire(folder) }
    let fixture = StandingProcessFixture(folder: folder, executables: try LabCluster.findExecutables())
    try yaml.write(toFile: fixture.configuration, atomically: true, encoding: .utf8)
    try await body(fixture)
  }

  func arguments(of name: Name) -> [String] { ["--instance", folder, "--config", configuration] }

  /// Runs a process until it ends.
  ///
  /// - Parameter limit: a command of the shell that lowers a limit of the process.
  func run(_ name: Name, _ arguments: [String], limit: String = ":") async throws -> End {
    let file = "\(folder)/\(name.rawValue)-\(UUID().uuidString)"
    let child = try await LabChild.start(
      "/bin/sh", ["-c", "\(limit) && exec \"$0\" \"$@\"", "\(executables)/\(name.rawValue)"] + arguments,
      output: file + ".out", errors: file + ".err")
    let status = await child.ending()
    return End(
      status: status, output: try String(contentsOfFile: file + ".out", encoding: .utf8),
      errors: try String(contentsOfFile: file + ".err", encoding: .utf8))
  }

  /// Starts a process, and returns when it handles SIGTERM.
  func start(_ name: Name) async throws -> LabChild {
    let file = "\(folder)/\(name.rawValue)"
    let child = try await LabChild.start(
      "\(executables)/\(name.rawValue)", arguments(of: name) + ["--die-with-parent", "\(getpid())"],
      output: file + ".out", errors: file + ".err")
    if name == .messageBus {
      // It handles SIGTERM before it announces itself.
      _ = try await BusAnnouncement.wait(in: instance, within: LabTimeout.usual)
      return child
    }
    let deadline = ContinuousClock.now + LabTimeout.usual
    while try !handlesTermination(child.pid) {
      guard ContinuousClock.now < deadline else {
        throw LabError("\(name) does not run: \(try String(contentsOfFile: file + ".err", encoding: .utf8))")
      }
      // Polls the signals of a process, which nothing announces.
      try await Task.sleep(for: LabTimeout.pollInterval)
    }
    return child
  }

  /// Ends a process with SIGTERM, and returns its exit code.
  func end(_ child: LabChild) async throws -> Int32 {
    try LabProcess(pid: child.pid).signal(SIGTERM)
    return await child.ending()
  }

  /// Whether SIGTERM does not have its default action. A signal source ignores the signal, and reads it elsewhere.
  private func handlesTermination(_ pid: Int32) throws -> Bool {
    let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
    return status.split(separator: "\n").contains { line in
      guard line.hasPrefix("SigIgn:") || line.hasPrefix("SigCgt:"),
        let mask = line.split(separator: "\t").last.flatMap({ UInt64($0, radix: 16) })
      else { return false }
      return mask & (1 << UInt64(SIGTERM - 1)) != 0
    }
  }

  /// Writes the announcement of a broker that does not run.
  func announceBus() throws {
    try instance.create()
    try BusAnnouncement(
      endpoint: "tcp://127.0.0.1:1", tap: "tcp://127.0.0.1:2", publicKey: CurveKeyPair.generate().publicKey, pid: 1
    ).write(in: instance)
  }

  /// Checks the exit code and the one line on standard error: the name, a colon, and a reason that contains `text`.
  func check(_ end: End, of name: Name, status: Int32, text: String) throws {
    #expect(end.status == status, "\(end)")
    #expect(end.errors.hasPrefix("\(name.rawValue): "), "\(end)")
    #expect(end.errors.contains(text), "\(end)")
    #expect(end.errors.hasSuffix("\n") && end.output.isEmpty, "\(end)")
  }
}
