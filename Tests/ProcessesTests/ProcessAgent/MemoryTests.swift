// SPDX-License-Identifier: Apache-2.0

import BusTesting
import FidelityRules
import Foundation
import Glibc
import MessageBus
import Messages
import Testing

@testable import ProcessAgent

extension QuietTests {
  /// The agent's supervision of its children's memory.
  @Suite(.timeLimit(.minutes(1)))
  struct MemoryTests {
    /// A shell script that allocates some MiB when the file `go` exists.
    private static let grower = """
      until [ -e go ]; do sleep 0.01; done
      text=0123456789abcdef
      for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18; do text=$text$text; done
      echo grown
      while :; do sleep 0.1; done
      """
    private static let limit = MemoryLimit(bytes: 3 << 20, interval: 0.02)

    private static func letGrow(_ fixture: AgentFixture) throws {
      try Data().write(to: URL(fileURLWithPath: fixture.folder + "/home/com.example.A/go"))
    }

    @Test(.rule("PROCESS-04", "PROCESS-05", "PROCESS-06"))
    func `a child over its memory limit is reported once and runs until the host ends it`() async throws {
      try await withFixture { fixture in
        let instance = try await fixture.spawn(Self.grower, memory: Self.limit)
        let modest = try #require(try await fixture.children().first)
        #expect(modest.memoryLimit == 3 << 20)
        #expect(try #require(modest.memory) < 3 << 20)
        try Self.letGrow(fixture)
        let exceeded = try await fixture.received(MemoryExceeded.self)
        #expect(
          exceeded.address == AgentFixture.child && exceeded.generation == instance.generation
            && exceeded.pid == instance.pid)
        #expect(exceeded.memory > exceeded.limit && exceeded.limit == 3 << 20)
        _ = try await fixture.received(ProcessOutput.self) { $0.line == "grown" }
        #expect(try #require(try await fixture.children().first?.memory) > 3 << 20)
        #expect(await fixture.bus.sentEnvelopes.count { $0.header.kind == MemoryExceeded.kind } == 1)
        _ = try await fixture.signal(SIGKILL, generation: instance.generation)
        _ = try await fixture.exit(of: instance.generation)
      }
    }

    @Test(.rule("PROCESS-04")) func `a child below its memory limit is not reported`() async throws {
      try await withFixture { fixture in
        let instance = try await fixture.spawn(Self.grower, memory: MemoryLimit(bytes: 512 << 20, interval: 0.02))
        try Self.letGrow(fixture)
        _ = try await fixture.received(ProcessOutput.self) { $0.line == "grown" }
        #expect(try #require(try await fixture.children().first?.memory) > Self.limit.bytes)
        _ = try await fixture.signal(SIGKILL, generation: instance.generation)
        _ = try await fixture.exit(of: instance.generation)
        #expect(await fixture.bus.sentEnvelopes.allSatisfy { $0.header.kind != MemoryExceeded.kind })
      }
    }

    @Test(.rule("PROCESS-09")) func `a child without a memory limit is not reported`() async throws {
      try await withFixture { fixture in
        _ = try await fixture.spawn(Self.grower)
        try Self.letGrow(fixture)
        _ = try await fixture.received(ProcessOutput.self) { $0.line == "grown" }
        let child = try #require(try await fixture.children().first)
        #expect(child.memoryLimit == nil)
        #expect(try #require(child.memory) > 3 << 20)
        #expect(await fixture.bus.sentEnvelopes.allSatisfy { $0.header.kind != MemoryExceeded.kind })
      }
    }

    @Test func `a child over its memory limit is reported again until a host acknowledges it`() async throws {
      try await withFixture(isHostDeaf: true) { fixture in
        _ = try await fixture.spawn(Self.grower, memory: Self.limit)
        try Self.letGrow(fixture)
        _ = try await fixture.received(MemoryExceeded.self)
        await fixture.bus.disconnect(.host("d"))
        let second = try await AgentFixture.startHost(on: fixture.bus)
        let acknowledgement = await fixture.bus.first { $0.header.kind == MemoryExceeded.kind.answered(.acknowledged) }
        let received = await fixture.bus.sentEnvelopes.filter { $0.header.kind == MemoryExceeded.kind }
        #expect(received.count == 2)
        #expect(Set(received.map(\.header.id)) == [try #require(acknowledgement?.header.cause)])
        await second.leave()
      }
    }

    @Test(.rule("PROCESS-05"), arguments: [0.02, 600])
    func `the memory of a child is sampled from its launch at the interval of memoryInterval`(
      memoryInterval: Double
    ) async throws {
      try await withFixture { fixture in
        let limit = MemoryLimit(bytes: Self.limit.bytes, interval: memoryInterval)
        let instance = try await fixture.spawn(Self.grower, memory: limit)
        try Self.letGrow(fixture)
        _ = try await fixture.received(ProcessOutput.self) { $0.line == "grown" }
        if memoryInterval < 1 {
          _ = try await fixture.received(MemoryExceeded.self)
        } else {
          // Between two samples it is over its limit, and nothing sees that.
          #expect(try #require(try await fixture.children().first?.memory) > limit.bytes)
        }
        _ = try await fixture.signal(SIGKILL, generation: instance.generation)
        _ = try await fixture.exit(of: instance.generation)
        let reports = await fixture.bus.sentEnvelopes.count { $0.header.kind == MemoryExceeded.kind }
        #expect(reports == (memoryInterval < 1 ? 1 : 0))
      }
    }

    @Test(.rule("PROCESS-05"), arguments: [0.001, 600])
    func `a child that stopped as soon as it was over its limit is found at its next sample`(
      memoryInterval: Double
    ) throws {
      let script = """
        text=0123456789abcdef
        for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18; do text=$text$text; done
        kill -STOP $$
        """
      let limit = MemoryLimit(bytes: Self.limit.bytes, interval: memoryInterval)
      let child = try WatchedChild.spawn(
        SpawnOrder(
          instance: ChildInstance(address: AgentFixture.child, generation: 1), executable: "/bin/sh",
          environment: [:], directory: "/", input: Array(script.utf8), memory: limit))
      var status: Int32 = 0
      defer {
        _ = child.signal(SIGKILL)
        waitpid(child.pid, &status, 0)
        child.close()
      }
      #expect(waitpid(child.pid, &status, WUNTRACED) == child.pid)
      #expect(AgentFixture.state(child.pid) == "T")
      let wait = try #require(child.millisecondsToLook)
      #expect(wait <= Int32((memoryInterval * 1000).rounded(.up)), "measured from its launch")
      if memoryInterval < 1 {
        while child.millisecondsToLook != 0 {}
        #expect(try #require(child.excessMemory()) > limit.bytes)
      } else {
        #expect(child.excessMemory() == nil)
      }
    }

    @Test(.rule("PROCESS-06"))
    func `the memory of a child is what it wrote, to a few hundred KiB, and not the files that it maps`() throws {
      let file = FileManager.default.temporaryDirectory.path + "/mapped-\(UUID().uuidString)"
      defer { try? FileManager.default.removeItem(atPath: file) }
      try Data(repeating: 7, count: 32 << 20).write(to: URL(fileURLWithPath: file))
      let script = """
        exec /usr/bin/python3 -c '
        import mmap, os, signal
        def stop(): os.kill(os.getpid(), signal.SIGSTOP)
        stop()
        with open("\(file)", "rb") as file: mapped = mmap.mmap(file.fileno(), 0, mmap.MAP_PRIVATE, mmap.PROT_READ)
        read = sum(mapped[at] for at in range(0, 32 << 20, 4096))
        stop()
        own = mmap.mmap(-1, 32 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        for at in range(0, 32 << 20, 4096): own[at] = 1
        stop()'
        """
      let child = try WatchedChild.spawn(
        SpawnOrder(
          instance: ChildInstance(address: AgentFixture.child, generation: 1), executable: "/bin/sh", environment: [:],
          directory: "/", input: Array(script.utf8), memory: nil))
      var status: Int32 = 0
      defer {
        _ = child.signal(SIGKILL)
        waitpid(child.pid, &status, 0)
        child.close()
      }
      func memoryAtStop() throws -> Int {
        #expect(waitpid(child.pid, &status, WUNTRACED) == child.pid)
        defer { _ = child.signal(SIGCONT) }
        return try #require(ChildStatus(of: child.pid)?.memory)
      }
      let before = try memoryAtStop()
      let mapped = try memoryAtStop()
      #expect(abs(mapped - before) < 512 << 10, "\(before) and \(mapped)")
      let written = try memoryAtStop() - mapped
      #expect(abs(written - 32 << 20) < 512 << 10, "\(written)")
    }

    @Test(.rule("PROCESS-06"))
    func `a process name that looks like a status field is not parsed as one, and swapped memory does not count`() {
      let status = ChildStatus(
        reading: """
          Name:\tState:\\nT
          Umask:\t0022
          State:\tS (sleeping)
          RssAnon:\t    1234 kB
          RssFile:\t    5678 kB
          VmSwap:\t    4321 kB
          """)
      #expect(!status.isStopped)
      #expect(status.memory == 1234 << 10)
      #expect(ChildStatus(reading: "Name:\tsh\nState:\tT (stopped)\n").isStopped)
      #expect(ChildStatus(reading: "Name:\tsh\nState:\tZ (zombie)\n").memory == nil)
      #expect(ChildStatus(of: -1) == nil)
    }
  }
}
