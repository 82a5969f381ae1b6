// SPDX-License-Identifier: Apache-2.0

import Archive
package import Foundation
package import JournalAnalysis
package import Messages

/// A hand-written journal of a demo: the messages of each process, in order.
package struct RecordedScenario {
  /// The participants.
  package static let cast = Cast(
    device: "iphone", widgetExtension: .widgetExtension("iphone", "com.example.Lab.Widget"),
    app: .app("iphone", "com.example.Lab"), agent: .agent("iphone", 1))
  /// The extension's session.
  package static let session = "figures"
  /// The app's session.
  package static let appSession = "backup"
  /// The size of the extension's file.
  package static let fileBytes: Int64 = 1000

  /// The envelopes, in order.
  package private(set) var envelopes: [Envelope] = []
  private let cast = RecordedScenario.cast

  private var correlation: UUID { MessageContext.correlation(ofSession: Self.session, of: cast.widgetExtension) }
  private var appCorrelation: UUID { MessageContext.correlation(ofSession: Self.appSession, of: cast.app) }

  /// Creates an empty journal.
  package init() {}

  /// Adds a message, a millisecond after the last one.
  package mutating func send<C: Message>(
    _ body: C, from source: Address, generation: UInt32 = 1, to destination: Address = .journal,
    correlation: UUID? = nil, id: UUID = UUID()
  ) throws {
    var header = EnvelopeHeader(
      kind: C.kind, sentAt: Timestamp(microseconds: Int64(envelopes.count) * 1000), id: id, correlation: correlation,
      source: source, destination: destination)
    header.sequence = UInt64(envelopes.count + 1)
    header.sourceGeneration = generation
    envelopes.append(Envelope(header: header, body: try BodyCoding.encode(body)))
  }

  /// Adds a reply without a body.
  package mutating func answer(
    _ kind: Kind, from source: Address, generation: UInt32 = 1, to destination: Address, cause: UUID? = nil
  ) {
    var header = EnvelopeHeader(
      kind: kind, sentAt: Timestamp(microseconds: Int64(envelopes.count) * 1000), cause: cause, source: source,
      destination: destination)
    header.sequence = UInt64(envelopes.count + 1)
    header.sourceGeneration = generation
    envelopes.append(Envelope(header: header))
  }

  /// A process is launched, connects and sends `process.ready`.
  /// - Parameters:
  ///   - recordedPid: the pid that the agent records, when it is not the child's own.
  ///   - isQuick: whether the child is ready before the agent has recorded its launch.
  package mutating func launch(
    _ address: Address, _ generation: UInt32, pid: Int32, recordedPid: Int32? = nil, isQuick: Bool = false
  ) throws {
    let started = ProcessStarted(
      address: address, generation: generation, pid: recordedPid ?? pid, executable: "/x/\(address.role.rawValue)")
    if !isQuick { try send(started, from: cast.agent) }
    try send(
      RegistrationChanged(
        .connected, Registration(address: address, generation: generation, pid: pid, isConnected: true)),
      from: .messageBus)
    try send(
      ProcessReady(pid: pid, executable: "/x/\(address.role.rawValue)", widgets: []), from: address,
      generation: generation, to: cast.host)
    if isQuick { try send(started, from: cast.agent) }
  }

  /// An upload of the extension to its author's backend, in its own session.
  private mutating func upload() throws {
    let (session, request) = ("subscription", UUID())
    let correlation = MessageContext.correlation(ofSession: session, of: cast.widgetExtension)
    try send(
      CreateTransfer(
        session: session, taskIdentifier: 1, type: .upload, request: TransferRequest(url: "http://x/z"),
        taskDescription: nil),
      from: cast.widgetExtension, to: cast.host, correlation: correlation, id: request)
    answer(CreateTransfer.kind.answered(.ok), from: cast.host, to: cast.widgetExtension, cause: request)
    for step in [TransferProgress.Step.started, .finished] {
      try send(
        TransferProgress(owner: cast.widgetExtension, session: session, taskIdentifier: 1, step: step, bytes: 10),
        from: cast.host, correlation: correlation)
    }
  }

  /// Both downloads begin.
  ///
  /// - Parameter uploads: whether the extension uploads a file first.
  package mutating func beginning(uploads: Bool = false) throws {
    try launch(cast.app, 1, pid: 100)
    try launch(cast.widgetExtension, 1, pid: 200)
    try send(
      OpenSession(identifier: Self.appSession, configuration: SessionConfiguration()), from: cast.app, to: cast.host,
      correlation: appCorrelation)
    try send(
      RequestTimeline(
        widgetKind: "Lab", because: .operator, environment: WidgetEnvironment(family: .systemSmall, width: 1, height: 1)
      ), from: cast.host,
      to: cast.widgetExtension)
    if uploads { try upload() }
    let request = UUID()
    try send(
      CreateTransfer(
        session: Self.session, taskIdentifier: 1, request: TransferRequest(url: "http://x/y"), taskDescription: nil),
      from: cast.widgetExtension, to: cast.host, correlation: correlation, id: request)
    answer(CreateTransfer.kind.answered(.ok), from: cast.host, to: cast.widgetExtension, cause: request)
    try progress(cast.widgetExtension, step: .started, bytes: 0)
    try progress(cast.app, step: .started, bytes: 0)
  }

  /// Adds a step of the owner's download.
  package mutating func progress(_ owner: Address, step: TransferProgress.Step, bytes: Int64) throws {
    let isApp = owner == cast.app
    try send(
      TransferProgress(
        owner: owner, session: isApp ? Self.appSession : Self.session, taskIdentifier: 1, step: step, bytes: bytes,
        sha256: step == .finished ? "abc" : nil),
      from: cast.host, correlation: isApp ? appCorrelation : correlation)
  }

  /// A process exceeds its memory limit.
  package mutating func memory(_ address: Address, _ generation: UInt32, pid: Int32) throws {
    try send(
      MemoryExceeded(address: address, generation: generation, pid: pid, memory: 43_253_760, limit: 30 << 20),
      from: cast.agent, to: cast.host)
  }

  /// A process is killed with SIGKILL.
  package mutating func death(_ address: Address, _ generation: UInt32, pid: Int32) throws {
    try send(
      ProcessExited(address: address, generation: generation, pid: pid, ending: .signalled(signal: 9)),
      from: cast.agent, to: cast.host)
  }

  /// The app receives its own events.
  package mutating func appsOwnEvents(_ generation: UInt32 = 1) throws {
    let delivery = UUID()
    try progress(cast.app, step: .finished, bytes: 10)
    try send(
      SessionEvents(session: Self.appSession, wakesHandler: false, outcomes: []), from: cast.host, to: cast.app,
      correlation: appCorrelation, id: delivery)
    try send(
      DelegateCalled(session: Self.appSession, method: "didFinishDownloadingTo", taskIdentifier: 1, bytes: 10),
      from: cast.app, generation: generation, correlation: appCorrelation)
    try send(
      SessionAcknowledged(owner: cast.app, session: Self.appSession, delivery: delivery), from: cast.host,
      correlation: appCorrelation)
  }

  /// This generation of the extension receives its events and acknowledges them.
  package mutating func events(
    _ generation: UInt32, pid: Int32, to receiver: Address? = nil, completesEarly: Bool = false
  ) throws {
    let delivery = UUID()
    let ownAddress = cast.widgetExtension
    try send(
      SessionEvents(session: Self.session, wakesHandler: true, outcomes: []), from: cast.host,
      to: receiver ?? ownAddress,
      correlation: correlation, id: delivery)
    try send(
      HandlerCalled(session: Self.session, pid: pid, matching: 1), from: ownAddress, generation: generation,
      correlation: correlation
    )
    try send(
      DelegateCalled(
        session: Self.session, method: "didFinishDownloadingTo", taskIdentifier: 1, bytes: Self.fileBytes),
      from: ownAddress, generation: generation, correlation: correlation)
    try send(
      DelegateCalled(session: Self.session, method: "didCompleteWithError", taskIdentifier: 1), from: ownAddress,
      generation: generation, correlation: correlation)
    try send(ReloadTimelines(widgetKind: "Lab"), from: ownAddress, generation: generation, to: cast.host)
    let completion = CompletionCalled(session: Self.session, outstanding: 0)
    if completesEarly { try send(completion, from: ownAddress, generation: generation, correlation: correlation) }
    try send(
      DelegateCalled(session: Self.session, method: "urlSessionDidFinishEvents"), from: ownAddress,
      generation: generation,
      correlation: correlation)
    if !completesEarly { try send(completion, from: ownAddress, generation: generation, correlation: correlation) }
    try send(
      TimelineStored(
        bundle: ownAddress.bundleIdentifier ?? "", widgetKind: "Lab", placement: 1, family: .systemSmall,
        because: .extension,
        entries: 1, first: Date(timeIntervalSince1970: 0), last: Date(timeIntervalSince1970: 0), policy: .never,
        bytes: 64, digest: "00", text: ["95 mg"]),
      from: cast.host)
    answer(SessionEvents.kind.answered(.acknowledged), from: ownAddress, generation: generation, to: cast.host)
    try send(
      SessionAcknowledged(owner: ownAddress, session: Self.session, delivery: delivery), from: cast.host,
      correlation: correlation)
  }

  /// The journal of a killed extension, up to the end of its download.
  package static func extensionKilled(uploads: Bool = false) throws -> RecordedScenario {
    var scenario = RecordedScenario()
    try scenario.beginning(uploads: uploads)
    try scenario.death(cast.widgetExtension, 1, pid: 200)
    try scenario.progress(cast.widgetExtension, step: .finished, bytes: fileBytes)
    return scenario
  }

  /// Checks the journal against the demo's table, with the kill just before the first exit.
  package func watched(killing victim: Victim) -> ScenarioWatch {
    var watch = ScenarioWatch(
      cast: Self.cast, steps: ScenarioTable.steps(killing: victim, fileBytes: Self.fileBytes),
      forbidden: ScenarioTable.forbidden)
    var isBefore = true
    for envelope in envelopes {
      let isDeath =
        [ProcessExited.kind, BusStarted.kind].contains(envelope.header.kind)
        || envelope.reading(RegistrationChanged.self)?.change == .disconnected
      if isBefore, isDeath, let address = Self.cast.address(of: victim) {
        watch.willKill(ObservedInstance(address: address, generation: 1))
        isBefore = false
      }
      _ = watch.see(envelope, isScenario: true)
    }
    return watch
  }
}
