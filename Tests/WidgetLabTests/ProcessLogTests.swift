// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Testing

@testable import WidgetLab

@Suite(.timeLimit(.minutes(1))) struct `The log of a supervised process` {
  private let folder = FileManager.default.temporaryDirectory.path + "/log-\(UUID().uuidString)"
  private var path: String { folder + "/logs/host.log" }

  private func withLog(limit: Int = ProcessLog.defaultLimit, _ work: (ProcessLog) async throws -> Void) async throws {
    try FileManager.default.createDirectory(atPath: folder + "/logs", withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try await work(ProcessLog(path, limit: limit))
  }

  private func write(_ text: String, to log: ProcessLog) async throws {
    let output = try log.open()
    _ = text.withCString { Glibc.write(output, $0, strlen($0)) }
    close(output)
    await log.drain()
  }

  private func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

  @Test func `a log that would exceed its limit becomes the former one`() async throws {
    try await withLog(limit: 100) { log in
      for number in 0..<50 { try await write("line \(number) of the process\n", to: log) }
      let all = try text(path + ".1") + text(path)
      #expect(all.hasSuffix("line 49 of the process\n"))
      #expect(all.split(separator: "\n").allSatisfy { $0.hasPrefix("line ") && $0.hasSuffix(" of the process") })
      #expect(try text(path).utf8.count <= 100 && text(path + ".1").utf8.count <= 100)
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: folder + "/logs").sorted() == ["host.log", "host.log.1"])
    }
  }

  @Test func `a log is continued by the next supervisor`() async throws {
    try await withLog { log in
      try await write("first\n", to: log)
      try await write("second\n", to: ProcessLog(path))
      #expect(try text(path) == "first\nsecond\n")
    }
  }

  @Test func `the last lines are known without the file, and have control characters escaped`() async throws {
    try await withLog { log in
      try FileManager.default.removeItem(atPath: folder)
      try await write("one\nhost-system: no space\u{1b}[2J left\n", to: log)
      #expect(log.lastLines == ["one", "host-system: no space\\u{1b}[2J left"])
    }
  }

  @Test func `the bytes that could not be written are counted in the log`() async throws {
    try await withLog { log in
      try FileManager.default.removeItem(atPath: folder)
      try await write("one\n", to: log)
      try FileManager.default.createDirectory(atPath: folder + "/logs", withIntermediateDirectories: true)
      try await write("two\n", to: log)
      #expect(try text(path) == "widgetlab: 4 bytes of this log were lost, because it could not be written\ntwo\n")
    }
  }

  @Test func `an exit with a fault is reported with the last line of the process`() async throws {
    try await withLog { _ in
      let (events, continuation) = AsyncStream.makeStream(of: Supervisor.Event.self)
      let supervisor = Supervisor(instance: folder) { continuation.yield($0) }
      try await supervisor.keep(
        SupervisedProcess(name: "host", executable: "/bin/sh") { ["-c", "echo the disk is full >&2; exit 74"] })
      for await case .exited(_, _, let ending, _) in events {
        #expect(ending == "exit code 74: the disk is full")
        break
      }
      await supervisor.stop()
      #expect(try text(path).hasPrefix("the disk is full\n"))
    }
  }

  @Test func `the list of processes can be written in place`() async throws {
    try await withLog { _ in
      var list = SupervisedProcessList(supervisor: 1, processes: [])
      try list.write(in: folder)
      list.processes = [.init(name: "host", pid: 4711, generation: 2, executable: "/host-system")]
      let longer = try list.padded()
      #expect(SupervisedProcessList.overwrite(SupervisedProcessList.file(in: folder), with: longer))
      #expect(SupervisedProcessList.read(in: folder)?.processes.first?.pid == 4711)
      #expect(!SupervisedProcessList.overwrite(SupervisedProcessList.file(in: folder), with: longer + longer))
      #expect(SupervisedProcessList.read(in: folder)?.processes.first?.pid == 4711)
    }
  }
}
