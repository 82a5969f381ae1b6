// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Testing

@testable import WidgetLab

@Suite(.timeLimit(.minutes(1))) struct `The supervisor of standing processes` {
  @Test func `a process whose executable is missing for a while is started when it is there again`() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    try FileManager.default.createDirectory(atPath: folder + "/logs", withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let executable = folder + "/sleeper"
    try FileManager.default.copyItem(atPath: "/bin/sleep", toPath: executable)
    let (events, continuation) = AsyncStream.makeStream(of: Supervisor.Event.self)
    let supervisor = Supervisor(instance: folder) { continuation.yield($0) }
    try await supervisor.keep(SupervisedProcess(name: "sleeper", executable: executable) { ["1000"] })
    await supervisor.allReady()
    try FileManager.default.moveItem(atPath: executable, toPath: executable + ".away")
    #expect(await supervisor.signal(["sleeper"], SIGKILL).keys.sorted() == ["sleeper"])
    var failures = 0
    for await event in events {
      switch event {
      case .notStarted:
        failures += 1
        if failures == 2 { try FileManager.default.moveItem(atPath: executable + ".away", toPath: executable) }
      case .launched(_, _, 2):
        #expect(failures >= 2)
        await supervisor.stop()
        return
      case .launched, .exited: break
      }
    }
  }

  @Test func `the event of a process that ended itself has the reason that it wrote`() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    try FileManager.default.createDirectory(atPath: folder + "/logs", withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let (events, continuation) = AsyncStream.makeStream(of: Supervisor.Event.self)
    let supervisor = Supervisor(instance: folder) { continuation.yield($0) }
    let script = "echo 'sh: too few descriptors' >&2; echo later >&2; exit 78"
    try await supervisor.keep(SupervisedProcess(name: "host", executable: "/bin/sh") { ["-c", script] })
    for await event in events {
      guard case .exited(_, _, let ending, _) = event else { continue }
      #expect(ending == "exit code 78: too few descriptors")
      break
    }
    await supervisor.stop()
  }

  @Test func `work is done after the exit of a killed process and before its restart`() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    try FileManager.default.createDirectory(atPath: folder + "/logs", withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let (events, continuation) = AsyncStream.makeStream(of: Supervisor.Event?.self)
    let supervisor = Supervisor(instance: folder, restarts: .inCampaign) { continuation.yield($0) }
    try await supervisor.keep(SupervisedProcess(name: "sleeper", executable: "/bin/sleep") { ["1000"] })
    await supervisor.allReady()
    #expect(await supervisor.kill("other") {} == nil)
    #expect(await supervisor.kill("sleeper") { continuation.yield(nil) } != nil)
    var seen: [String] = []
    for await event in events {
      switch event {
      case .launched(_, _, let generation): seen.append("launched \(generation)")
      case .exited(_, _, _, let pause): seen.append("exited, pause \(pause / .milliseconds(1))")
      case .notStarted: seen.append("not started")
      case nil: seen.append("work")
      }
      if seen.last == "launched 2" { break }
    }
    await supervisor.stop()
    #expect(seen == ["launched 1", "exited, pause 0.0", "work", "launched 2"])
  }
}
