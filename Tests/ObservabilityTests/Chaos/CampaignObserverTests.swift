// SPDX-License-Identifier: Apache-2.0

import ChaosCampaign
import Foundation
import Messages
import Testing

@Suite struct `The observer of a campaign` {
  private static let host = Address.host("iphone")
  private static let agent = Address.agent("iphone", 1)
  private static let app = Address.app("iphone", "com.example.App")
  private static let victims: [Address: ChaosVictim] = [
    .messageBus: .messageBus, host: .host, agent: .agent(1), app: .app,
  ]

  /// Writes envelopes with consecutive numbers and given times.
  private struct Journal {
    var observer = CampaignObserver(victims: victims, digests: ["figures": "good"])

    mutating func send<M: Message>(
      _ body: M, from source: Address, to destination: Address = .journal, kind: Kind? = nil, id: UUID = UUID(),
      at milliseconds: Int64 = 0, generation: UInt32 = 1
    ) throws {
      var header = EnvelopeHeader(
        kind: kind ?? M.kind, sentAt: Timestamp(microseconds: milliseconds * 1000), id: id, source: source,
        destination: destination)
      header.sourceGeneration = generation
      header.destinationGeneration = destination == .journal ? 0 : 1
      observer.handle(Envelope(header: header, body: try BodyCoding.encode(body)))
    }

    func state(of victim: ChaosVictim, at milliseconds: Int64) -> String {
      observer.state(of: victim, at: Timestamp(microseconds: milliseconds * 1000))
    }
  }

  private static let ready = ProcessReady(pid: 12, executable: "/bin/app", widgets: [])

  @Test func `an instance is known from its start to its exit`() throws {
    var journal = Journal()
    try journal.send(
      ProcessStarted(address: Self.app, generation: 3, pid: 12, executable: "/bin/app"), from: Self.agent)
    #expect(journal.observer.instances[.app]?.pid == 12)
    #expect(journal.observer.instances[.app]?.readyAt == nil)
    try journal.send(Self.ready, from: Self.app, to: Self.host, at: 5, generation: 3)
    #expect(journal.observer.instances[.app]?.readyAt == Timestamp(microseconds: 5000))
    let exit = { ProcessExited(address: Self.app, generation: $0, pid: 12, ending: .signalled(signal: 9)) }
    try journal.send(exit(2), from: Self.agent, to: Self.host)
    #expect(journal.observer.instances[.app] != nil)
    try journal.send(exit(3), from: Self.agent, to: Self.host)
    #expect(journal.observer.instances[.app] == nil)
  }

  @Test func `an app that ends by a trap is noted once, with what it wrote`() throws {
    var journal = Journal()
    let exit = { (signal: Int32) in
      ProcessExited(
        address: Self.app, generation: 3, pid: 12, ending: .signalled(signal: signal), outputTail: "Fatal error: x")
    }
    try journal.send(exit(9), from: Self.agent, to: Self.host)
    #expect(journal.observer.traps.isEmpty)
    // The agent sends it until the host has acknowledged it.
    for _ in 1...2 { try journal.send(exit(4), from: Self.agent, to: Self.host) }
    #expect(journal.observer.traps.map(\.description) == ["app (pid 12) ended with SIGILL: Fatal error: x"])
    #expect(journal.observer.afterLoss().traps.count == 1)
  }

  @Test func `a task has one end, and the time of its creation`() throws {
    var journal = Journal()
    let request = TransferRequest(url: "http://127.0.0.1/x")
    try journal.send(
      CreateTransfer(session: "figures", taskIdentifier: 1, request: request, taskDescription: nil), from: Self.app,
      to: Self.host, at: 5)
    for time: Int64 in [9, 12] {
      try journal.send(
        DelegateCalled(session: "figures", method: "didCompleteWithError", taskIdentifier: 1, failureCode: -1017),
        from: Self.app, at: time)
    }
    #expect(
      journal.observer.ended == [
        DownloadJudge.Ended(
          session: "figures", task: 1, created: Timestamp(microseconds: 5000), ended: Timestamp(microseconds: 9000),
          end: .failure(-1017))
      ])
  }

  @Test func `another host and a change of the network are interruptions`() throws {
    var journal = Journal()
    try journal.send(Self.ready, from: Self.host, at: 1, generation: 1)
    try journal.send(Self.ready, from: Self.host, at: 2, generation: 1)
    try journal.send(Self.ready, from: Self.host, at: 3, generation: 2)
    try journal.send(SetNetwork(state: NetworkState()), from: .operator("x"), to: Self.host, at: 4)
    #expect(journal.observer.interruptions.map(\.microseconds) == [1000, 3000, 4000])
  }

  @Test func `an instance whose start is announced after its own message remains ready`() throws {
    var journal = Journal()
    let started = { ProcessStarted(address: Self.app, generation: $0, pid: 12, executable: "/bin/app") }
    try journal.send(Self.ready, from: Self.app, to: Self.host, at: 5, generation: 3)
    try journal.send(started(3), from: Self.agent)
    #expect(journal.observer.instances[.app]?.readyAt == Timestamp(microseconds: 5000))
    try journal.send(started(4), from: Self.agent)
    #expect(journal.observer.instances[.app]?.readyAt == nil)
  }

  @Test func `the state is the last message, and idle after a while`() throws {
    var journal = Journal()
    #expect(journal.state(of: .app, at: 0) == "idle")
    try journal.send(Self.ready, from: Self.app, to: Self.host, at: 100)
    #expect(journal.state(of: .app, at: 110) == "sent process.ready")
    #expect(journal.state(of: .host, at: 110) == "received process.ready")
    #expect(journal.state(of: .messageBus, at: 110) == "routed process.ready")
    #expect(journal.state(of: .app, at: 151) == "idle")
    #expect(journal.state(of: .provider, at: 110) == "not observed")
  }

  @Test func `the campaign's own pings are not what a process does`() throws {
    var journal = Journal()
    try journal.send(Ping(), from: .operator("1"), to: Self.host, at: 100)
    #expect(journal.state(of: .host, at: 101) == "idle")
  }

  @Test func `deliveries that are sent again and calls that are repeated are counted`() throws {
    var journal = Journal()
    let delivery = UUID()
    let events = SessionEvents(session: "figures", wakesHandler: true, outcomes: [])
    for _ in 1...3 { try journal.send(events, from: Self.host, to: Self.app, id: delivery) }
    let call = DelegateCalled(session: "figures", method: "didCompleteWithError", taskIdentifier: 1)
    for _ in 1...2 { try journal.send(call, from: Self.app) }
    #expect(journal.observer.work.redelivered == 2)
    #expect(journal.observer.work.repeated == 1)
  }

  @Test func `a file that is not the served one is reported`() throws {
    var journal = Journal()
    let progress = { (session: String, hash: String) in
      TransferProgress(owner: Self.app, session: session, taskIdentifier: 1, step: .finished, bytes: 1, sha256: hash)
    }
    try journal.send(progress("figures", "good"), from: Self.host)
    try journal.send(progress("other", "bad"), from: Self.host)
    #expect(journal.observer.wrongFiles.isEmpty)
    try journal.send(progress("figures", "bad"), from: Self.host)
    #expect(journal.observer.wrongFiles.count == 1)
    #expect(journal.observer.work.compared == 2)
  }
}
