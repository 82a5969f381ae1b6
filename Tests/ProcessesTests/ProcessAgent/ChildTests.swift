// SPDX-License-Identifier: Apache-2.0

import BusTesting
import FidelityRules
import Foundation
import Glibc
import MessageBus
import Messages
import Testing

@testable import ProcessAgent

/// The environment of a launched child. One child of `scripts/test --long` idles for a minute.
@Suite(.timeLimit(.minutes(3)))
struct ChildTests {
  @Test func `a child reads its launch context and then the end of file from standard input`() async throws {
    try await withFixture { fixture in
      let instance = try await fixture.spawn(executable: "/bin/cat")
      let line = try await fixture.received(ProcessOutput.self).line
      let certificate = try #require(LaunchContext(line: Array(line.utf8)))
      #expect(certificate.address == AgentFixture.child)
      #expect(certificate.generation == instance.generation)
      #expect(certificate.host == .host("d"))
      #expect(certificate.agentPid == getpid())
      #expect(certificate.endpoint == "tcp://127.0.0.1:1")
      #expect(certificate.groups == ["group.a": fixture.folder + "/group"])
      let registered = try await fixture.received(RegisterInstance.self)
      #expect(certificate.publicKey == registered.publicKey)
      #expect(certificate.secretKey != certificate.publicKey)
      #expect(try await fixture.exit(of: instance.generation).ending == .exited(code: 0))
    }
  }

  @Test func `a child inherits only its three standard descriptors`() async throws {
    try await withFixture { fixture in
      // Descriptors of the parent without close-on-exec.
      let leaks = (0..<5).map { _ in open("/dev/null", O_RDONLY) }
      defer { for leak in leaks { close(leak) } }
      // A child whose pipes are open at the same time. `ls` reads the folder itself through a fourth descriptor.
      _ = try await fixture.spawn(executable: "/bin/cat", address: .app("d", "com.example.B"))
      let instance = try await fixture.spawn("exec ls /proc/self/fd 1>&2")
      _ = try await fixture.received(ProcessExited.self) { $0.pid == instance.pid }
      #expect(try await fixture.lines(of: instance.generation, "stderr") == ["0", "1", "2", "3"])
    }
  }

  @Test func `the agent keeps no descriptor of an exited child`() async throws {
    try await withFixture { fixture in
      // A descriptor of a process that was reaped has the pid -1. Source: proc_pid_fdinfo(5), of a pidfd.
      func count() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fdinfo").count { descriptor in
          (try? String(contentsOfFile: "/proc/self/fdinfo/\(descriptor)", encoding: .utf8))?.contains("\nPid:\t-1\n")
            == true
        }
      }
      for _ in 0..<20 {
        let instance = try await fixture.spawn("exit 0")
        _ = try await fixture.exit(of: instance.generation)
      }
      #expect(try await fixture.children().isEmpty)
      // Concurrent tests hold such a descriptor only until they close it.
      try await eventually { (try? count()) == 0 }
    }
  }

  @Test func `a child has its own session, environment and home folder`() async throws {
    try await withFixture { fixture in
      setenv("WIDGETLAB_SECRET_OF_THE_AGENT", "1", 1)
      let instance = try await fixture.spawn(
        "pwd; env | sort; cut -d' ' -f6 /proc/$$/stat", environment: ["GREETING": "hej"])
      _ = try await fixture.exit(of: instance.generation)
      let lines = try await fixture.lines(of: instance.generation)
      let home = fixture.folder + "/home/com.example.A"
      #expect(lines.first == home)
      for expected in ["GREETING=hej", "HOME=\(home)", "TMPDIR=\(home)/tmp", "CFFIXED_USER_HOME=\(home)"] {
        #expect(lines.contains(expected))
      }
      #expect(!lines.contains { $0.contains("SECRET_OF_THE_AGENT") })
      #expect(lines.last?.trimmingCharacters(in: .whitespaces) == "\(instance.pid)")
      #expect(FileManager.default.fileExists(atPath: home + "/Library/Caches"))
    }
  }

  @Test func `output lines are sent in order with generation and stream, and the last one needs no newline`()
    async throws
  {
    try await withFixture { fixture in
      for _ in 1...2 {
        let instance = try await fixture.spawn("for i in 1 2 3 4 5; do echo line $i; done; echo oh >&2; printf last")
        _ = try await fixture.exit(of: instance.generation)
        #expect(
          try await fixture.lines(of: instance.generation) == [
            "line 1", "line 2", "line 3", "line 4", "line 5", "last",
          ])
        #expect(try await fixture.lines(of: instance.generation, "stderr") == ["oh"])
      }
    }
  }

  @Test func `all output of a child is sent before its exit`() async throws {
    try await withFixture { fixture in
      let instance = try await fixture.spawn("seq 1 20000")
      _ = try await fixture.exit(of: instance.generation)
      let kinds = await fixture.bus.sentEnvelopes.map(\.header.kind)
      let exit = try #require(kinds.firstIndex(of: ProcessExited.kind))
      #expect(kinds.lastIndex(of: ProcessOutput.kind).map { $0 < exit } == true)
      #expect(try await fixture.lines(of: instance.generation) == (1...20_000).map { "\($0)" })
    }
  }

  @Test func `the remaining processes of a child's process group are terminated after its exit`() async throws {
    try await withFixture { fixture in
      let instance = try await fixture.spawn("sleep 600 & echo $!; exit 0")
      let grandchild = try #require(Int32(try await fixture.received(ProcessOutput.self).line))
      #expect(try await fixture.exit(of: instance.generation).ending == .exited(code: 0))
      try await eventually { [nil, "Z", "X"].contains(AgentFixture.state(grandchild)) }
    }
  }

  @Test(.enabled(if: ProcessInfo.processInfo.environment["WIDGETLAB_LONG"] == "1"))
  func `a child that idles for 60 s keeps running`() async throws {
    try await withFixture { fixture in
      let idle = try await fixture.spawn(
        """
        exec python3 -c '
        import ctypes, signal, time
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
        time.sleep(61)'
        """)
      #expect(try await fixture.exit(of: idle.generation).ending == .exited(code: 0))
    }
  }

  @Test(.rule("PROCESS-10"))
  func `a child that writes more than the bus accepts is blocked, and no line is lost`() async throws {
    try await withFixture { fixture in
      let script = """
        while [ ! -e go ]; do sleep 0.02; done
        i=0; while [ $i -lt 12000 ]; do echo "line $i"; i=$((i+1)); done; exit 3
        """
      let instance = try await fixture.spawn(script)
      await fixture.bus.disconnect(.agent("d", 1))
      let home = "\(fixture.folder)/home/\(AgentFixture.child.bundleIdentifier ?? "")"
      #expect(FileManager.default.createFile(atPath: home + "/go", contents: nil))
      // The child writes, has exited, or is blocked. A blocked child has the same count in 50 consecutive reads.
      var (last, looks) = (0, 0)
      try await eventually {
        let now = written(instance.pid)
        looks = now == last && now > 0 ? looks + 1 : 0
        last = now
        return now == .max || looks == 50
      }
      #expect(last < .max, "the child was not blocked: it wrote all its output and exited")
      await fixture.bus.connectAgain(.agent("d", 1))
      #expect(try await fixture.exit(of: instance.generation).ending == .exited(code: 3))
      #expect(try await fixture.lines(of: instance.generation) == (0..<12_000).map { "line \($0)" })
    }
  }
}

/// The number of bytes that a running process has written; `Int.max` after its exit.
private func written(_ pid: Int32) -> Int {
  guard AgentFixture.state(pid).map({ $0 != "Z" }) == true,
    let text = try? String(contentsOfFile: "/proc/\(pid)/io", encoding: .utf8)
  else { return .max }
  let line = text.split(separator: "\n").first { $0.hasPrefix("wchar: ") }
  return line.flatMap { Int($0.dropFirst("wchar: ".count)) } ?? 0
}
