// SPDX-License-Identifier: Apache-2.0

import BusTesting
import FidelityRules
import Foundation
import MessageBus
import Messages
import Testing
import Timekeeping

@testable import AuthorRuntime
@testable import URLSessionAPI

/// How a process announces itself to the host.
@Suite(.timeLimit(.minutes(1))) struct `An announced process` {
  @Test func `an announced process waits for a host that connects later`() async throws {
    let fixture = try SDKFixture()
    try await fixture.announce()
    _ = await fixture.bus.first { $0.header.kind == Undelivered.kind }
    try await fixture.host.start()
    _ = await fixture.bus.first { $0.header.kind == ProcessReady.kind.answered(.ok) }
    #expect(await fixture.host.readies == 1)
  }

  @Test func `a process announces itself and reopens its sessions when the host comes back`() async throws {
    let fixture = try SDKFixture()
    try await fixture.begin()
    let session = fixture.session(Delegate())
    _ = await session.allTasks
    await fixture.bus.disconnect(fixture.host.connection.address)
    _ = await fixture.bus.first {
      $0.header.kind == Presence.kind && $0.header.destination == SDKFixture.widget
    }
    let next = HostModel(fixture.bus.connection(fixture.host.connection.address))
    try await next.start()
    _ = await fixture.bus.first { envelope in
      envelope.header.kind == OpenSession.kind.answered(.ok) && envelope.header.sourceGeneration == 2
    }
    #expect(await next.readies == 1)
    #expect(await next.opened.map(\.identifier) == ["daily"])
    #expect(await fixture.host.opened.count == 1)
  }

  @Test func `a process whose tasks end no longer waits for its host`() async throws {
    let fixture = try SDKFixture()
    try await fixture.announce()
    _ = await fixture.bus.first { $0.header.kind == Undelivered.kind }
    #expect(fixture.process.tasks.count == 1)
    await fixture.process.tasks.end()
    #expect(fixture.process.tasks.count == 0)
    try await fixture.host.start()
    #expect(await fixture.host.readies == 0)
  }

  @Test(.rule("TASK-01"))
  func `a task that is resumed before the announcement is stored, and its events wait for the announcement`()
    async throws
  {
    let fixture = try SDKFixture(rules: .waiting(20))
    try await fixture.host.start()
    fixture.process.connect()
    let (delegate, url) = (Delegate(), try #require(URL(string: "http://a.example/figures")))
    await fixture.blocking { [process = fixture.process] in
      process.session(delegate).downloadTask(with: url).resume()
    }
    #expect(await fixture.host.created.map(\.taskIdentifier) == [1])
    #expect(await fixture.host.readies == 0)
    let events = SessionEvents(session: "daily", wakesHandler: false, outcomes: [try fixture.success(1)])
    async let acknowledged: Void = fixture.host.connection.deliver(events, to: SDKFixture.widget)
    _ = await fixture.bus.first { $0.header.kind == SessionEvents.kind }
    await MainActor.run { fixture.registry.serve([]) }
    try await fixture.announce()
    try await acknowledged
    #expect(delegate.calls == ["file 1 figures", "end 1 0"])
  }

  @Test func `a session that was opened before the announcement is opened again at a host that appears later`()
    async throws
  {
    let fixture = try SDKFixture(rules: .waiting(20))
    try await fixture.host.start()
    fixture.process.connect()
    let session = fixture.session(Delegate())
    _ = await session.allTasks
    await fixture.bus.disconnect(fixture.host.connection.address)
    let next = HostModel(fixture.bus.connection(fixture.host.connection.address))
    try await next.start()
    await MainActor.run { fixture.registry.serve([]) }
    try await fixture.announce()
    _ = await fixture.bus.first { envelope in
      envelope.header.kind == OpenSession.kind.answered(.ok) && envelope.header.sourceGeneration == 2
    }
    #expect(await next.readies == 1)
    #expect(await next.opened.map(\.identifier) == ["daily"])
  }

  @Test func `a process replies to a ping and is ready once the host has accepted its announcement`() async throws {
    let fixture = try SDKFixture()
    try await fixture.begin()
    _ = await fixture.bus.first { $0.header.kind == ProcessReady.kind.answered(.ok) }
    let reply = try await fixture.host.connection.request(Ping(), to: SDKFixture.widget)
    #expect(reply.pid == ProcessInfo.processInfo.processIdentifier)
    #expect(reply.isReady)
  }

  @Test(.rule("PROCESS-08")) func `a process finds the container of its app group and of no other group`() throws {
    let fixture = try SDKFixture()
    let files = FileManager.default
    #expect(
      fixture.process.asCurrent { files.containerURL(forSecurityApplicationGroupIdentifier: SDKFixture.group) }?.path
        == fixture.folder.path)
    #expect(
      fixture.process.asCurrent { files.containerURL(forSecurityApplicationGroupIdentifier: "group.other") } == nil)
  }

  @Test func `a process reads its launch context from one line and rejects any other input`() throws {
    let fixture = try SDKFixture()
    let launchContext = LaunchContext(
      address: SDKFixture.widget, generation: 3, host: .host("phone"), endpoint: "tcp://127.0.0.1:1", serverKey: "s",
      publicKey: "p", secretKey: "q", container: fixture.folder.path, groups: [:], agentPid: 1)
    for (bytes, expected) in [(launchContext.line, launchContext), (Array("garbage\n".utf8), nil), ([], nil)] {
      let file = fixture.folder.appendingPathComponent(UUID().uuidString)
      try Data(bytes).write(to: file)
      let handle = try FileHandle(forReadingFrom: file)
      #expect(HostedProcess.readLaunchContext(from: handle.fileDescriptor) == expected)
      try handle.close()
    }
  }
}
