// SPDX-License-Identifier: Apache-2.0

import BusTesting
import FidelityRules
import Foundation
import Glibc
import MessageBus
import Messages
import Testing

@testable import ProcessAgent

@Suite(.timeLimit(.minutes(1)))
struct AgentTests {
  @Test func `an exit code is reported as waitpid returns it`() async throws {
    try await withFixture { fixture in
      let instance = try await fixture.spawn("exit 7")
      let exit = try await fixture.exit(of: instance.generation)
      #expect(exit.ending == .exited(code: 7))
      #expect(exit.pid == instance.pid)
      #expect(exit.address == AgentFixture.child)
      _ = try await fixture.received(RetireInstance.self) { $0.generation == instance.generation }
    }
  }

  @Test func `the exit of a killed child is reported with its signal`() async throws {
    try await withFixture { fixture in
      let instance = try await fixture.spawn("exec sleep 600")
      #expect(try await fixture.children().map(\.pid) == [instance.pid])
      #expect(try await fixture.signal(SIGKILL, generation: instance.generation).pid == instance.pid)
      #expect(try await fixture.exit(of: instance.generation).ending == .signalled(signal: SIGKILL))
      #expect(try await fixture.children().isEmpty)
    }
  }

  @Test func `a spawn registers the instance, records the launch and then replies`() async throws {
    try await withFixture { fixture in
      _ = try await fixture.spawn("exec sleep 600")
      let kinds = await fixture.bus.sentEnvelopes.map(\.header.kind)
      let registered = try #require(kinds.firstIndex(of: RegisterInstance.kind))
      let started = try #require(kinds.firstIndex(of: ProcessStarted.kind))
      let replied = try #require(kinds.firstIndex(of: SpawnProcess.kind.answered(.ok)))
      #expect(registered < started)
      #expect(started < replied)
    }
  }

  @Test func `a repeated spawn request starts only one process`() async throws {
    try await withFixture { fixture in
      let id = UUID()
      let first = try await fixture.spawn(executable: "/bin/cat", id: id)
      let second = try await fixture.spawn(executable: "/bin/cat", id: id)
      #expect(first == second)
    }
  }

  @Test func `a stopped child is not reported as exited`() async throws {
    try await withFixture { fixture in
      let instance = try await fixture.spawn("echo up; exec sleep 600")
      _ = try await fixture.received(ProcessOutput.self) { $0.line == "up" }
      _ = try await fixture.signal(SIGSTOP)
      try await eventually { AgentFixture.state(instance.pid) == "T" }
      #expect(try await fixture.children().map(\.isStopped) == [true])
      _ = try await fixture.signal(SIGCONT)
      try await eventually { AgentFixture.state(instance.pid) == "S" }
      #expect(try await fixture.children().map(\.isStopped) == [false])
      #expect(await fixture.bus.sentEnvelopes.allSatisfy { $0.header.kind != ProcessExited.kind })
    }
  }

  @Test func `an exit is reported again until a host acknowledges it, even across a restart of the host`() async throws
  {
    try await withFixture(isHostDeaf: true) { fixture in
      let instance = try await fixture.spawn("exit 3")
      _ = try await fixture.exit(of: instance.generation)
      await fixture.bus.disconnect(.host("d"))
      let second = try await AgentFixture.startHost(on: fixture.bus)
      let acknowledgement = await fixture.bus.first { $0.header.kind == ProcessExited.kind.answered(.acknowledged) }
      let exits = await fixture.bus.sentEnvelopes.filter { $0.header.kind == ProcessExited.kind }
      #expect(exits.count == 2)
      #expect(Set(exits.map(\.header.id)) == [try #require(acknowledgement?.header.cause)])
      await second.leave()
    }
  }

  @Test func `a host that connects receives the list of running children`() async throws {
    try await withFixture { fixture in
      #expect(try await fixture.received(AgentStarted.self).children.isEmpty)
      let instance = try await fixture.spawn("exec sleep 600")
      await fixture.bus.disconnect(.host("d"))
      let second = try await AgentFixture.startHost(on: fixture.bus)
      let news = try await fixture.received(AgentStarted.self) { !$0.children.isEmpty }
      #expect(news.children.map(\.pid) == [instance.pid])
      #expect(news.incarnation == (try await fixture.received(AgentStarted.self).incarnation))
      await second.leave()
    }
  }

  @Test func `a signal to an exited instance fails`() async throws {
    try await withFixture { fixture in
      let first = try await fixture.spawn("exit 0")
      _ = try await fixture.exit(of: first.generation)
      #expect(await failure { try await fixture.signal(SIGKILL) } == .noSuchInstance)
      let second = try await fixture.spawn("exec sleep 600")
      #expect(second.generation > first.generation)
      #expect(await failure { try await fixture.signal(SIGKILL, generation: first.generation) } == .noSuchInstance)
      #expect(try await fixture.children().map(\.generation) == [second.generation])
    }
  }

  @Test func `a spawn for the address of a running child fails`() async throws {
    try await withFixture { fixture in
      _ = try await fixture.spawn("exec sleep 600")
      #expect(await failure { try await fixture.spawn("exit 0") } == .alreadyRunning)
    }
  }

  @Test func `a missing executable is a definite failure, and its address can be spawned again`() async throws {
    try await withFixture { fixture in
      let error = await #expect(throws: BusError.self) { try await fixture.spawn(executable: "nothing") }
      #expect(error?.code == .noSuchExecutable)
      #expect(error?.isDefinite == true)
      #expect(error?.message.contains("\(fixture.folder)/bin/nothing") == true)
      _ = try await fixture.spawn("exit 0")
    }
  }

  @Test func `a file that is not a program is refused with its path before an instance is registered`() async throws {
    try await withFixture { fixture in
      let path = fixture.folder + "/bin/text"
      try Data("just a text\n".utf8).write(to: URL(fileURLWithPath: path))
      chmod(path, 0o700)
      let error = await #expect(throws: BusError.self) { try await fixture.spawn(executable: "text") }
      #expect(error?.code == .notStarted)
      #expect(error?.message == "\(path) is not a program: neither an ELF file nor a script with #!")
      #expect(await fixture.bus.sentEnvelopes.allSatisfy { $0.header.kind != RegisterInstance.kind })
    }
  }

  @Test(arguments: [
    (
      "echo begun >&2; echo 'main.swift:1: Fatal error: no city' >&2; echo later >&2; exit 3",
      "main.swift:1: Fatal error: no city"
    ),
    ("for n in 1 2 3 4 5; do echo line $n >&2; done; exit 1", "line 3\nline 4\nline 5"),
    ("printf 'without an end' >&2; exit 1", "without an end"), ("echo only output; exit 1", nil),
    ("echo all is well >&2; exit 0", nil),
  ])
  func `a failed exit is reported with the executable's path and the relevant lines of standard error`(
    script: String, words: String?
  ) async throws {
    try await withFixture { fixture in
      let instance = try await fixture.spawn(script)
      let exit = try await fixture.exit(of: instance.generation)
      #expect(exit.outputTail == words)
      #expect(exit.executable?.hasPrefix(fixture.folder + "/bin/script-") == true)
    }
  }

  @Test func `an executable that the kernel refuses is a definite failure, and its instance is retired`() async throws {
    try await withFixture { fixture in
      let path = fixture.folder + "/bin/garbage"
      // An ELF header without the sections that it refers to.
      let program = try Data(contentsOf: URL(fileURLWithPath: "/bin/sh"))
      try program.prefix(64).write(to: URL(fileURLWithPath: path))
      chmod(path, 0o700)
      let error = await #expect(throws: BusError.self) { try await fixture.spawn(executable: "garbage") }
      #expect(error?.code == .notStarted)
      #expect(error?.isDefinite == true)
      #expect(try await fixture.received(RetireInstance.self).address == AgentFixture.child)
      #expect(try await fixture.children().isEmpty)
      _ = try await fixture.spawn("exit 0")
    }
  }

  @Test func `a spawn of another device's app is refused`() async throws {
    try await withFixture { fixture in
      #expect(await failure { try await fixture.spawn("exit 0", address: .app("other", "com.example.A")) } == .refused)
    }
  }

  @Test(.rule("PROCESS-11")) func `the agent terminates its children when it ends`() async throws {
    let fixture = try await AgentFixture()
    let meek = try await fixture.spawn("exec sleep 600")
    let stubborn = try await fixture.spawn(
      "trap '' TERM; echo deaf; while :; do sleep 600; done", address: .app("d", "com.example.B"))
    _ = try await fixture.received(ProcessOutput.self) { $0.line == "deaf" }
    await fixture.end()
    #expect(kill(meek.pid, 0) == -1)
    #expect(kill(stubborn.pid, 0) == -1)
    let exits = try await fixture.bus.sentEnvelopes.filter { $0.header.kind == ProcessExited.kind }
      .map { try BodyCoding.decode(ProcessExited.self, from: $0.body) }
    let endings = Dictionary(exits.map { ($0.pid, $0.ending) }) { $1 }
    #expect(endings == [meek.pid: .signalled(signal: SIGTERM), stubborn.pid: .signalled(signal: SIGKILL)])
  }

  @Test func `an injected pid fault changes every reported pid`() async throws {
    try await withFixture(reportedPid: { _ in 4242 }) { fixture in
      let instance = try await fixture.spawn("exit 0")
      #expect(instance.pid == 4242)
      #expect(try await fixture.exit(of: instance.generation).pid == 4242)
      #expect(try await fixture.received(ProcessStarted.self).pid == 4242)
    }
  }
}

/// Returns the code of the error that `body` throws.
private func failure(_ body: () async throws -> some Any) async -> BusError.Code? {
  await #expect(throws: BusError.self) { _ = try await body() }?.code
}

/// Waits until a condition is true, up to the test's time limit. Checks it every 5 ms.
func eventually(_ condition: () -> Bool) async throws {
  // The kernel sends no event when /proc changes, so the condition is polled.
  while !condition() { try await Task.sleep(for: .milliseconds(5)) }
}
