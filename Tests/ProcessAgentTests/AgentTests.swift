import Conversations
import Foundation
import Glibc
import MessageBus
import Testing

@testable import ProcessAgent

@Suite(.timeLimit(.minutes(1)))
struct AgentTests {
  @Test func `an exit code is reported as waitpid tells it`() async throws {
    try await onStage { stage in
      let life = try await stage.spawn("exit 7")
      let exit = try await stage.exit(of: life.generation)
      #expect(exit.ending == .exited(code: 7))
      #expect(exit.pid == life.pid)
      #expect(exit.address == Stage.child)
      _ = try await stage.heard(RetireLife.self) { $0.generation == life.generation }
    }
  }

  @Test func `a kill is reported with its signal`() async throws {
    try await onStage { stage in
      let life = try await stage.spawn("exec sleep 600")
      #expect(try await stage.children().map(\.pid) == [life.pid])
      #expect(try await stage.signal(SIGKILL, generation: life.generation).pid == life.pid)
      #expect(try await stage.exit(of: life.generation).ending == .signalled(signal: SIGKILL))
      #expect(try await stage.children().isEmpty)
    }
  }

  @Test func `the life is registered first, then the birth is written down, then the reply goes`() async throws {
    try await onStage { stage in
      _ = try await stage.spawn("exec sleep 600")
      let kinds = await stage.bus.said.map(\.header.kind)
      let registered = try #require(kinds.firstIndex(of: RegisterLife.kind))
      let started = try #require(kinds.firstIndex(of: ProcessStarted.kind))
      let replied = try #require(kinds.firstIndex(of: SpawnProcess.kind.answered(.ok)))
      #expect(registered < started)
      #expect(started < replied)
    }
  }

  @Test func `a repeated request starts nothing twice`() async throws {
    try await onStage { stage in
      let id = UUID()
      let first = try await stage.spawn(executable: "/bin/cat", id: id)
      let second = try await stage.spawn(executable: "/bin/cat", id: id)
      #expect(first == second)
    }
  }

  @Test func `a stopped child is not reported as dead`() async throws {
    try await onStage { stage in
      let life = try await stage.spawn("echo up; exec sleep 600")
      _ = try await stage.heard(ProcessOutput.self) { $0.line == "up" }
      _ = try await stage.signal(SIGSTOP)
      try await eventually { Stage.state(life.pid) == "T" }
      #expect(try await stage.children().map(\.isStopped) == [true])
      _ = try await stage.signal(SIGCONT)
      try await eventually { Stage.state(life.pid) == "S" }
      #expect(try await stage.children().map(\.isStopped) == [false])
      #expect(await stage.bus.said.allSatisfy { $0.header.kind != ProcessExited.kind })
    }
  }

  @Test func `an exit is kept until a host acknowledges it, also through the host's death`() async throws {
    try await onStage(isHostDeaf: true) { stage in
      let life = try await stage.spawn("exit 3")
      _ = try await stage.exit(of: life.generation)
      await stage.bus.disconnect(.host("d"))
      let second = try await Stage.startHost(on: stage.bus)
      let acknowledgement = await stage.bus.first { $0.header.kind == ProcessExited.kind.answered(.acknowledged) }
      let exits = await stage.bus.said.filter { $0.header.kind == ProcessExited.kind }
      #expect(exits.count == 2)
      #expect(Set(exits.map(\.header.id)) == [try #require(acknowledgement?.header.cause)])
      await second.leave()
    }
  }

  @Test func `a host that comes is told of the children that live`() async throws {
    try await onStage { stage in
      #expect(try await stage.heard(AgentStarted.self).children.isEmpty)
      let life = try await stage.spawn("exec sleep 600")
      await stage.bus.disconnect(.host("d"))
      let second = try await Stage.startHost(on: stage.bus)
      let news = try await stage.heard(AgentStarted.self) { !$0.children.isEmpty }
      #expect(news.children.map(\.pid) == [life.pid])
      #expect(news.incarnation == (try await stage.heard(AgentStarted.self).incarnation))
      await second.leave()
    }
  }

  @Test func `a life that has ended takes no signal`() async throws {
    try await onStage { stage in
      let first = try await stage.spawn("exit 0")
      _ = try await stage.exit(of: first.generation)
      #expect(await failure { try await stage.signal(SIGKILL) } == .noSuchLife)
      let second = try await stage.spawn("exec sleep 600")
      #expect(second.generation > first.generation)
      #expect(await failure { try await stage.signal(SIGKILL, generation: first.generation) } == .noSuchLife)
      #expect(try await stage.children().map(\.generation) == [second.generation])
    }
  }

  @Test func `an address has one child at a time`() async throws {
    try await onStage { stage in
      _ = try await stage.spawn("exec sleep 600")
      #expect(await failure { try await stage.spawn("exit 0") } == .alreadyRunning)
    }
  }

  @Test func `a missing executable is a definite failure, and its place is free again`() async throws {
    try await onStage { stage in
      let error = await #expect(throws: BusError.self) { try await stage.spawn(executable: "nothing") }
      #expect(error?.code == .noSuchExecutable)
      #expect(error?.isDefinite == true)
      #expect(error?.message.contains("\(stage.folder)/bin/nothing") == true)
      _ = try await stage.spawn("exit 0")
    }
  }

  @Test func `a file that is no program is refused with its path before a life is registered`() async throws {
    try await onStage { stage in
      let path = stage.folder + "/bin/text"
      try Data("just a text\n".utf8).write(to: URL(fileURLWithPath: path))
      chmod(path, 0o700)
      let error = await #expect(throws: BusError.self) { try await stage.spawn(executable: "text") }
      #expect(error?.code == .notStarted)
      #expect(error?.message == "\(path) is no program: neither an ELF file nor a script with #!")
      #expect(await stage.bus.said.allSatisfy { $0.header.kind != RegisterLife.kind })
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
  func `an exit with a failure tells the path and what standard error says of it`(
    script: String, words: String?
  ) async throws {
    try await onStage { stage in
      let life = try await stage.spawn(script)
      let exit = try await stage.exit(of: life.generation)
      #expect(exit.lastWords == words)
      #expect(exit.executable?.hasPrefix(stage.folder + "/bin/script-") == true)
    }
  }

  @Test func `what the kernel refuses is a definite failure, and the life is retired`() async throws {
    try await onStage { stage in
      let path = stage.folder + "/bin/garbage"
      // The header of a program, and nothing that it names.
      let program = try Data(contentsOf: URL(fileURLWithPath: "/bin/sh"))
      try program.prefix(64).write(to: URL(fileURLWithPath: path))
      chmod(path, 0o700)
      let error = await #expect(throws: BusError.self) { try await stage.spawn(executable: "garbage") }
      #expect(error?.code == .notStarted)
      #expect(error?.isDefinite == true)
      #expect(try await stage.heard(RetireLife.self).address == Stage.child)
      #expect(try await stage.children().isEmpty)
      _ = try await stage.spawn("exit 0")
    }
  }

  @Test func `an app of another device is refused`() async throws {
    try await onStage { stage in
      #expect(await failure { try await stage.spawn("exit 0", address: .app("other", "com.example.A")) } == .refused)
    }
  }

  @Test func `the agent's end is its children's end`() async throws {
    let stage = try await Stage()
    let meek = try await stage.spawn("exec sleep 600")
    let stubborn = try await stage.spawn(
      "trap '' TERM; echo deaf; while :; do sleep 600; done", address: .app("d", "com.example.B"))
    _ = try await stage.heard(ProcessOutput.self) { $0.line == "deaf" }
    await stage.end()
    #expect(kill(meek.pid, 0) == -1)
    #expect(kill(stubborn.pid, 0) == -1)
    let exits = try await stage.bus.said.filter { $0.header.kind == ProcessExited.kind }
      .map { try BodyCoding.decode(ProcessExited.self, from: $0.body) }
    let endings = Dictionary(exits.map { ($0.pid, $0.ending) }) { $1 }
    #expect(endings == [meek.pid: .signalled(signal: SIGTERM), stubborn.pid: .signalled(signal: SIGKILL)])
  }

  @Test func `a build that is broken on purpose lies about pids everywhere`() async throws {
    try await onStage(reportedPid: { _ in 4242 }) { stage in
      let life = try await stage.spawn("exit 0")
      #expect(life.pid == 4242)
      #expect(try await stage.exit(of: life.generation).pid == 4242)
      #expect(try await stage.heard(ProcessStarted.self).pid == 4242)
    }
  }
}

/// The code with which something fails.
private func failure(_ body: () async throws -> some Any) async -> BusError.Code? {
  await #expect(throws: BusError.self) { _ = try await body() }?.code
}

/// Whether something becomes true; looked at every 5 ms, for as long as the test may take.
func eventually(_ condition: () -> Bool) async throws {
  // What the kernel shows in /proc changes without telling anybody: it is looked at again.
  while !condition() { try await Task.sleep(for: .milliseconds(5)) }
}
