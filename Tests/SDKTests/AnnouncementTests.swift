// SPDX-License-Identifier: Apache-2.0

import BusTesting
import FidelityRules
import Foundation
import MessageBus
import Messages
import OwnedTasks
import Testing

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
