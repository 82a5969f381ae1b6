// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Testing

@testable import Cluster

/// Child processes, with real ones. The tests await the end of a child, and no time.
@Suite(.timeLimit(.minutes(1)))
struct SpawnedProcessTests {
  /// A folder that exists during `body`.
  private func withFolder(_ body: (String) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "children-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try await body(folder)
  }

  private func shell(_ script: String, in folder: String) -> ChildCommand {
    ChildCommand(
      "/bin/sh", ["-c", script], output: .file(folder + "/output"), errors: .file(folder + "/errors"))
  }

  private func text(_ file: String) throws -> String { try String(contentsOfFile: file, encoding: .utf8) }

  @Test(arguments: [("exit 0", ChildEnding.exited(code: 0), 0), ("exit 3", .exited(code: 3), 3)])
  func `the exit code of a child is its ending`(script: String, ending: ChildEnding, status: Int32) async throws {
    let child = try await SpawnedProcess.start(ChildCommand("/bin/sh", ["-c", script]))
    #expect(await child.ending() == ending)
    #expect(ending.shellStatus == status)
  }

  @Test func `a signal that ends a child is its ending`() async throws {
    let child = try await SpawnedProcess.start(ChildCommand("/bin/sleep", ["600"]))
    #expect(child.signal(SIGTERM) == 0)
    let ending = await child.ending()
    #expect(ending == .signalled(SIGTERM))
    #expect(ending.shellStatus == 128 + SIGTERM)
  }

  @Test func `the ending of a child is returned to each caller and again later`() async throws {
    let child = try await SpawnedProcess.start(ChildCommand("/bin/sleep", ["600"]))
    async let first = child.ending()
    async let second = child.ending()
    child.signal(SIGKILL)
    #expect(await [first, second, child.ending()] == [.signalled(SIGKILL), .signalled(SIGKILL), .signalled(SIGKILL)])
    #expect(child.reap() == .signalled(SIGKILL))
  }

  @Test func `a signal to a child that was reaped fails with ESRCH`() async throws {
    let child = try await SpawnedProcess.start(ChildCommand("/bin/sh", ["-c", "exit 0"]))
    _ = await child.ending()
    #expect(child.signal(SIGKILL) == ESRCH)
  }

  @Test func `a child that runs is not reaped`() async throws {
    let child = try await SpawnedProcess.start(ChildCommand("/bin/sleep", ["600"]))
    #expect(child.reap() == nil)
    child.signal(SIGKILL)
    #expect(await child.ending() == .signalled(SIGKILL))
  }

  @Test func `an executable that does not exist is a failure with the reason of the kernel`() async throws {
    let failure = await #expect(throws: SpawnFailure.self) {
      try await SpawnedProcess.start(ChildCommand("/does/not/exist"))
    }
    #expect(failure?.code == ENOENT)
    #expect(failure?.description == "No such file or directory")
  }

  @Test func `an output file in a missing folder is a failure and starts nothing`() async throws {
    try await withFolder { folder in
      var command = shell("touch '\(folder)/started'", in: folder)
      command.errors = .file(folder + "/missing/errors")
      let failure = await #expect(throws: SpawnFailure.self) { try await SpawnedProcess.start(command) }
      #expect(failure?.code == ENOENT)
      #expect(!FileManager.default.fileExists(atPath: folder + "/started"))
    }
  }

  @Test func `a child has the arguments, environment, folder and outputs of its command`() async throws {
    try await withFolder { folder in
      for round in ["one", "two"] {
        var command = shell("pwd; echo \"$0 $1 $GREETING\"; env | grep -c HOME; echo to errors >&2; cat", in: folder)
        command.arguments += ["name", round]
        command.environment = ["GREETING": "hello"]
        command.directory = folder
        let child = try await SpawnedProcess.start(command)
        // The count of a missing variable is 0, and the end of the empty input ends `cat`.
        #expect(await child.ending() == .exited(code: 0))
      }
      #expect(try text(folder + "/output") == "\(folder)\nname one hello\n0\n\(folder)\nname two hello\n0\n")
      #expect(try text(folder + "/errors") == "to errors\nto errors\n")
    }
  }

  @Test func `one file for both outputs has them in order`() async throws {
    try await withFolder { folder in
      var command = shell("echo 1; echo 2 >&2; echo 3", in: folder)
      command.errors = command.output
      _ = try await SpawnedProcess.start(command).ending()
      #expect(try text(folder + "/output") == "1\n2\n3\n")
    }
  }

  @Test func `a child reads a given input and writes to a given descriptor`() async throws {
    let (input, output) = (Pipe(), Pipe())
    try input.fileHandleForWriting.write(contentsOf: Data("a line\n".utf8))
    try input.fileHandleForWriting.close()
    let child = try await SpawnedProcess.start(
      ChildCommand(
        "/bin/cat", input: input.fileHandleForReading.fileDescriptor,
        output: .descriptor(output.fileHandleForWriting.fileDescriptor)))
    try output.fileHandleForWriting.close()
    #expect(try output.fileHandleForReading.readToEnd() == Data("a line\n".utf8))
    #expect(await child.ending() == .exited(code: 0))
  }

  @Test func `a child inherits only its three standard descriptors and no ignored signal`() async throws {
    try await withFolder { folder in
      // A descriptor without close-on-exec.
      let leak = open("/dev/null", O_RDONLY)
      defer { close(leak) }
      // `ls` reads the folder itself through a fourth descriptor.
      for arguments in [["/bin/ls", "/proc/self/fd"], ["/bin/grep", "-E", "Sig(Blk|Ign)", "/proc/self/status"]] {
        let child = try await SpawnedProcess.start(
          ChildCommand(arguments[0], Array(arguments.dropFirst()), output: .file(folder + "/output")))
        #expect(await child.ending() == .exited(code: 0))
      }
      // The C library ignores its two internal signals, 32 and 33, in each process that it spawns.
      let (none, internalSignals) = (String(repeating: "0", count: 16), "0000000180000000")
      #expect(
        try text(folder + "/output") == "0\n1\n2\n3\nSigBlk:\t\(none)\nSigIgn:\t\(internalSignals)\n")
    }
  }

  @Test(arguments: [false, true])
  func `a child leads a process group, and a session on request`(leadsSession: Bool) async throws {
    try await withFolder { folder in
      var command = shell("cut -d' ' -f5,6 /proc/$$/stat", in: folder)
      command.leadsSession = leadsSession
      let child = try await SpawnedProcess.start(command)
      _ = await child.ending()
      #expect(try text(folder + "/output") == "\(child.pid) \(leadsSession ? child.pid : getsid(0))\n")
    }
  }

  @Test func `all children are spawned on one thread`() async throws {
    var threads: Set<UInt> = []
    for _ in 0..<20 { threads.insert(await SpawningThread.shared.run { UInt(pthread_self()) }) }
    #expect(threads.count == 1)
  }

  @Test func `work on the spawning thread runs in order, and its error is thrown to the caller`() async throws {
    let failure = await #expect(throws: SpawnFailure.self) {
      try await SpawningThread.shared.run { () throws(SpawnFailure) in throw SpawnFailure(code: EPERM) }
    }
    #expect(failure?.code == EPERM)
  }

  @Test func `a child with a parent-death signal outlives the task that started it`() async throws {
    let script = """
      import ctypes, signal, sys
      ctypes.CDLL(None).prctl(1, signal.SIGKILL)
      print('bound', flush=True)
      sys.stdin.read()
      """
    let (input, output) = (Pipe(), Pipe())
    let child = try await Task.detached {
      try await SpawnedProcess.start(
        ChildCommand(
          "/usr/bin/env", ["python3", "-c", script], input: input.fileHandleForReading.fileDescriptor,
          output: .descriptor(output.fileHandleForWriting.fileDescriptor)))
    }.value
    var bytes: [UInt8] = [0]
    #expect(read(output.fileHandleForReading.fileDescriptor, &bytes, 1) == 1)
    try input.fileHandleForWriting.close()
    #expect(await child.ending() == .exited(code: 0))
  }
}
