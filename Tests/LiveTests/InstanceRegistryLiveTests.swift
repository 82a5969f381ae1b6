// SPDX-License-Identifier: Apache-2.0

import Cluster
import Foundation
import Testing
import WidgetLabTesting

/// Many clusters of real processes on one machine: each is found by name and leaves no trace, however it ends.
@Suite(.live, .timeLimit(.live)) struct `Clusters in the instance registry` {
  /// A device without apps: a bus, an agent and a host.
  private static let configuration = """
    device: { name: phone, model: iPhone 16, platform: iOS, version: "18.0" }
    """

  private struct Book: Decodable {
    struct Entry: Decodable {
      let name: String
      let instance: String
      let pid: Int32
      let endpoint: String?
    }
    let registry: String
    let clusters: [Entry]
  }

  private func registry(_ cluster: LabCluster) async throws -> Book {
    let answer = try await cluster.attempt(["list", "--json"], instance: false)
    #expect(answer.status == 0, "\(answer.errors)")
    return try JSONDecoder().decode(Book.self, from: Data(answer.output.utf8))
  }

  /// Checks that no process of the cluster runs, that its lock is free, and that the registry does not list it.
  private func expectGone(_ cluster: LabCluster, _ processes: [LabProcess]) async throws {
    for process in processes { try await process.ended() }
    #expect(LabProcess.all(naming: cluster.folder).isEmpty)
    let entries = try await registry(cluster).clusters.filter { $0.instance == cluster.folder }
    #expect(entries.isEmpty)
    let down = try await cluster.run("down")
    #expect(down.contains("no cluster is running"))
    let lock = open(cluster.folder + "/up.lock", O_RDWR)
    if lock >= 0 {
      #expect(flock(lock, LOCK_EX | LOCK_NB) == 0)
      close(lock)
    }
  }

  private func with(_ name: String, _ body: @Sendable (LabCluster) async throws -> Void) async throws {
    try await LabCluster.with(name, configuration: Self.configuration) { try await body($0) }
  }

  @Test func `a running cluster is listed with its pid and endpoint, and commands find it by name from another folder`()
    async throws
  {
    try await with("book") { cluster in
      let entry = try #require(try await registry(cluster).clusters.first { $0.instance == cluster.folder })
      #expect(entry.pid == cluster.up.pid)
      #expect(entry.endpoint == cluster.ready.endpoint)
      let ping = try await cluster.attempt(["ping", "host", "--instance", entry.name], instance: false)
      #expect(ping.status == 0, "\(ping.errors)")
      let wait = try await cluster.attempt(["wait", "--for", "host=ready", "--instance", entry.name], instance: false)
      #expect(wait.status == 0, "\(wait.errors)")
    }
  }

  @Test func `a cluster leaves no process, no lock file and no registry entry after Ctrl-C`() async throws {
    try await with("book ctrl-c") { cluster in
      let processes = LabProcess.descendants(of: cluster.up.pid)
      #expect(processes.count == 3, "bus, agent and host")
      #expect(await cluster.stop() == 0)
      try await expectGone(cluster, processes)
      #expect(!FileManager.default.fileExists(atPath: cluster.folder + "/up.lock"))
    }
  }

  @Test func `a cluster leaves no process and no registry entry after repeated Ctrl-C`() async throws {
    try await with("book ctrl-c twice") { cluster in
      let processes = LabProcess.descendants(of: cluster.up.pid)
      try await cluster.eventually("up has ended") {
        guard cluster.up.isAlive else { return true }
        // The process may exit between the check and the signal.
        try? cluster.up.signal(SIGINT)
        return false
      }
      try await expectGone(cluster, processes)
    }
  }

  @Test func `a cluster leaves no process and no lock file when its terminal is closed`() async throws {
    let executables = try LabCluster.findExecutables()
    let folder = FileManager.default.temporaryDirectory.appending(path: "widgetlab-terminal-\(UUID().uuidString)")
      .path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try Self.configuration.write(toFile: folder + "/widgetlab.yaml", atomically: true, encoding: .utf8)
    let terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var (unlocked, number) = (CInt(0), CInt(0))
    // TIOCSPTLCK and TIOCGPTN, which Swift does not import.
    try #require(terminal >= 0 && ioctl(terminal, 0x4004_5431, &unlocked) == 0)
    try #require(ioctl(terminal, 0x8004_5430, &number) == 0)
    let name = "/dev/pts/\(number)"
    let up = try await LabChild.start(
      executables + "/widgetlab",
      ["up", "--instance", folder, "--config", folder + "/widgetlab.yaml", "--executables", executables],
      output: name, errors: name)
    let ending = Task { await up.ending() }
    let wait = try await LabCluster.tool(
      ["wait", "--for", "host=ready", "--instance", folder, "--config", folder + "/widgetlab.yaml"],
      executables: executables, in: folder)
    #expect(wait.status == 0, "\(wait.errors)")
    let processes = LabProcess.descendants(of: up.pid)
    #expect(processes.count == 3, "bus, agent and host")
    // The kernel sends SIGHUP to the processes of a closed terminal. From here on their output has no reader.
    close(terminal)
    up.signal(SIGHUP)
    #expect(await ending.value == 0)
    for process in processes { try await process.ended() }
    #expect(LabProcess.all(naming: folder).isEmpty)
    #expect(!FileManager.default.fileExists(atPath: folder + "/up.lock"))
  }

  @Test func `a cluster leaves no process after SIGKILL of up, and the same instance starts again`() async throws {
    try await with("book kill") { cluster in
      let processes = LabProcess.descendants(of: cluster.up.pid)
      try cluster.up.signal(SIGKILL)
      try await cluster.up.ended()
      try await expectGone(cluster, processes)
      let again = try await LabChild.start(
        cluster.executables + "/widgetlab",
        [
          "up", "--instance", cluster.folder, "--config", cluster.ready.configuration, "--executables",
          cluster.executables, "--die-with-parent", "\(getpid())",
        ], output: cluster.folder + "/again.out", errors: cluster.folder + "/again.err")
      let ending = Task { await again.ending() }
      try await cluster.run("wait", "--for", "host=ready")
      try await cluster.run("down")
      #expect(await ending.value == 0)
    }
  }

  /// Four clusters, or twenty with `WIDGETLAB_LONG=1`, beside everything else on this machine.
  @Test
  func `clusters run side by side in bounded memory, and all of them stop without leaving a trace`() async throws {
    let count = ProcessInfo.processInfo.environment["WIDGETLAB_LONG"] == "1" ? 20 : 4
    // The memory bound below is not checked with a sanitizer, whose own memory is a multiple of it.
    let executables = try LabCluster.findExecutables()
    let present = Present()
    let stays = try await withThrowingTaskGroup(of: Stay.self) { group in
      for number in 1...count {
        group.addTask {
          try await LabCluster.with("many \(number)", configuration: Self.configuration, executables: executables) {
            cluster in
            await present.come()
            try await cluster.eventually("all clusters are up") { await present.count == count }
            let mine = try await registry(cluster).clusters.filter { $0.instance == cluster.folder }
            #expect(mine.count == 1)
            let processes = [cluster.up] + LabProcess.descendants(of: cluster.up.pid)
            #expect(processes.count == 4, "up, bus, agent and host")
            let kilobytes = processes.map { ($0.memory ?? 0) >> 10 }.reduce(0, +)
            #expect(
              kilobytes < 100_000 || LiveFixture.isSanitized,
              "a cluster of \(processes.count) processes: \(kilobytes) kB")
            await present.done()
            try await cluster.eventually("all clusters were checked") { await present.finished == count }
            return Stay(
              folder: cluster.folder, endpoint: cluster.ready.endpoint, processes: processes, kilobytes: kilobytes)
          }
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    let most = stays.map(\.kilobytes).max() ?? 0
    print("\(count) clusters at once: \(stays.map(\.kilobytes).reduce(0, +)) kB, at most \(most) kB for one")
    #expect(Set(stays.map(\.endpoint)).count == count)
    try await expectNoTrace(of: stays, executables)
  }

  /// Checks that no process, folder or registry entry of the clusters is left.
  private func expectNoTrace(of stays: [Stay], _ executables: String) async throws {
    for stay in stays {
      #expect(!FileManager.default.fileExists(atPath: stay.folder))
      #expect(stay.processes.allSatisfy { !$0.isAlive })
      #expect(LabProcess.all(naming: stay.folder).isEmpty)
    }
    let folder = FileManager.default.temporaryDirectory.appending(path: "widgetlab-list-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let answer = try await LabCluster.tool(["list", "--json"], executables: executables, in: folder)
    let entries = try JSONDecoder().decode(Book.self, from: Data(answer.output.utf8)).clusters.map(\.instance)
    #expect(Set(entries).isDisjoint(with: stays.map(\.folder)))
  }
}

/// The state of one cluster while all were up.
private struct Stay: Sendable {
  let folder: String
  let endpoint: String
  let processes: [LabProcess]
  let kilobytes: Int
}

/// How many clusters are up, and how many have been checked.
private actor Present {
  private(set) var count = 0
  private(set) var finished = 0
  func come() { count += 1 }
  func done() { finished += 1 }
}
