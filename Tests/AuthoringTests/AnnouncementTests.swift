import Conversations
import Foundation
import MessageBus
import Testing

@testable import AuthoredProcess
@testable import BackgroundURLSession

/// How a process shows that it is there.
@Suite(.timeLimit(.minutes(1))) struct `An announced process` {
  @Test func `waits for a host that comes later`() async throws {
    let stage = try Stage()
    try await stage.announce()
    _ = await stage.bus.first { $0.header.kind == Undelivered.kind }
    try await stage.host.start()
    _ = await stage.bus.first { $0.header.kind == ProcessReady.kind.answered(.ok) }
    #expect(await stage.host.readies == 1)
  }

  @Test func `tells a host that came back of itself and of its sessions`() async throws {
    let stage = try Stage()
    try await stage.begin()
    let session = stage.session(Delegate())
    _ = await session.allTasks
    await stage.bus.disconnect(stage.host.connection.address)
    _ = await stage.bus.first {
      $0.header.kind == Presence.kind && $0.header.destination == Stage.widget
    }
    let next = HostModel(stage.bus.connection(stage.host.connection.address))
    try await next.start()
    _ = await stage.bus.first { envelope in
      envelope.header.kind == OpenSession.kind.answered(.ok) && envelope.header.sourceGeneration == 2
    }
    #expect(await next.readies == 1)
    #expect(await next.opened.map(\.identifier) == ["daily"])
    #expect(await stage.host.opened.count == 1)
  }

  @Test func `answers a ping, and is ready once the host knows it`() async throws {
    let stage = try Stage()
    try await stage.begin()
    _ = await stage.bus.first { $0.header.kind == ProcessReady.kind.answered(.ok) }
    let reply = try await stage.host.connection.request(Ping(), to: Stage.widget)
    #expect(reply.pid == ProcessInfo.processInfo.processIdentifier)
    #expect(reply.isReady)
  }

  @Test func `finds the folders of its app groups`() throws {
    let stage = try Stage()
    let files = FileManager.default
    #expect(
      stage.process.asCurrent { files.containerURL(forSecurityApplicationGroupIdentifier: Stage.group) }?.path
        == stage.folder.path)
    #expect(stage.process.asCurrent { files.containerURL(forSecurityApplicationGroupIdentifier: "group.other") } == nil)
  }

  @Test func `is born of one line of JSON and of nothing else`() throws {
    let stage = try Stage()
    let certificate = BirthCertificate(
      address: Stage.widget, generation: 3, host: .host("phone"), endpoint: "tcp://127.0.0.1:1", serverKey: "s",
      publicKey: "p", secretKey: "q", container: stage.folder.path, groups: [:], agentPid: 1)
    let line = try BodyCoding.encode(certificate) + [UInt8(ascii: "\n")]
    for (bytes, expected) in [(line, certificate), (Array("garbage\n".utf8), nil), ([], nil)] {
      let file = stage.folder.appendingPathComponent(UUID().uuidString)
      try Data(bytes).write(to: file)
      let handle = try FileHandle(forReadingFrom: file)
      #expect(HostedProcess.readCertificate(from: handle.fileDescriptor) == expected)
      try handle.close()
    }
  }
}
