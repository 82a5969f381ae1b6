// SPDX-License-Identifier: Apache-2.0

package import Foundation
package import JournalAnalysis
package import Messages

/// A hand-written journal of work that the laws judge: a download and its delivery, a push, processes. Envelopes are a
/// millisecond apart unless `pass` is called.
package struct RecordedWork {
  /// The name of the device.
  package static let device = "iphone"
  /// The extension.
  package static let widget = Address.widgetExtension(device, "com.example.Lab.Widget")
  /// The containing app.
  package static let app = Address.app(device, "com.example.Lab")
  /// The device's host.
  package static let host = Address.host(device)
  /// The agent of both processes.
  package static let agent = Address.agent(device, 1)
  /// The extension's session.
  package static let session = "com.example.Lab.session"
  /// The id of the delivery that `deliver` makes by default.
  package static let delivery = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
  /// The time at which the journal begins.
  package static let start = Date(timeIntervalSince1970: 1_790_000_000)

  /// The envelopes, in order.
  package var envelopes: [Envelope] = []
  private var time = Self.start
  private var next: UInt64

  /// Creates an empty journal.
  ///
  /// - Parameter first: its first sequence number; greater than 1 for a journal whose beginning was removed.
  package init(from first: UInt64 = 1) { next = first }

  /// Lets seconds pass.
  package mutating func pass(_ seconds: Double) { time += seconds }

  /// The time of the last envelope.
  package var now: Date { time }

  // MARK: Envelopes

  /// Adds a message.
  @discardableResult
  package mutating func send<M: Message>(
    _ body: M, from source: Address, to destination: Address = .journal, id: UUID = UUID(), cause: UUID? = nil,
    correlation: UUID? = nil, generation: UInt32 = 1, receiver: UInt32 = 1
  ) throws -> UUID {
    try add(
      EnvelopeHeader(
        kind: M.kind, id: id, cause: cause, correlation: correlation, source: source, destination: destination),
      body: try BodyCoding.encode(body), generation: generation, receiver: receiver)
  }

  /// Adds a reply to the envelope with an id.
  @discardableResult
  package mutating func answer(
    _ kind: Kind, answer: Kind.Answer, body: (some Encodable)? = Done?.none, from source: Address,
    to destination: Address, cause: UUID, generation: UInt32 = 1
  ) throws -> UUID {
    try add(
      EnvelopeHeader(kind: kind.answered(answer), cause: cause, source: source, destination: destination),
      body: try body.map { try BodyCoding.encode($0) } ?? [], generation: generation, receiver: 1)
  }

  private mutating func add(
    _ header: EnvelopeHeader, body: [UInt8], generation: UInt32, receiver: UInt32
  ) throws -> UUID {
    time += 0.001
    var stamped = EnvelopeHeader(
      kind: header.kind, sentAt: Timestamp(time), id: header.id, cause: header.cause, correlation: header.correlation,
      source: header.source, destination: header.destination)
    stamped.sequence = next
    stamped.sourceGeneration = generation
    stamped.destinationGeneration = header.destination.role == .journal ? 0 : receiver
    next += 1
    envelopes.append(Envelope(header: stamped, body: body))
    return header.id
  }

  // MARK: Processes

  /// The bus starts, and a process of a role connects.
  package mutating func boot(_ generation: UInt32 = 1) throws {
    try send(BusStarted(pid: 1, generation: generation, registrations: []), from: .messageBus)
    for address in [Self.agent, Self.host, .pushServer] { try connect(address) }
  }

  /// A process connects.
  package mutating func connect(_ address: Address, generation: UInt32 = 1) throws {
    try change(.connected, of: address, generation: generation)
  }

  /// The registration of a process changes.
  package mutating func change(_ change: RegistrationChanged.Change, of address: Address, generation: UInt32 = 1)
    throws
  {
    try send(
      RegistrationChanged(change, Registration(address: address, generation: generation)), from: .messageBus)
  }

  /// The agent registers and starts an instance, which connects.
  package mutating func launch(
    _ address: Address = widget, generation: UInt32 = 1, agent: UInt32 = 1, isReported: Bool = true
  ) throws {
    let request = try send(
      RegisterInstance(address: address, publicKey: "key"), from: Self.agent, to: .messageBus, generation: agent)
    try answer(
      RegisterInstance.kind, answer: .ok, body: RegisterInstance.Reply(generation: generation), from: .messageBus,
      to: Self.agent,
      cause: request)
    if isReported {
      try send(
        ProcessStarted(address: address, generation: generation, pid: 7, executable: "/x"), from: Self.agent,
        generation: agent)
    }
    try connect(address, generation: generation)
  }

  /// The agent reports the exit of an instance, and the host acknowledges it.
  package mutating func exit(_ address: Address = widget, generation: UInt32 = 1, id: UUID = UUID()) throws {
    try send(
      ProcessExited(address: address, generation: generation, pid: 7, ending: .signalled(signal: 9)), from: Self.agent,
      to: Self.host, id: id)
    try answer(ProcessExited.kind, answer: .acknowledged, from: Self.host, to: Self.agent, cause: id)
  }

  // MARK: A download

  private static func correlation(_ owner: Address) -> UUID {
    MessageContext.correlation(ofSession: session, of: owner)
  }

  /// The owner creates a task, and the host accepts it.
  @discardableResult
  package mutating func create(_ task: Int = 1, by owner: Address = widget, isAccepted: Bool = true) throws -> UUID {
    let id = try send(
      CreateTransfer(
        session: Self.session, taskIdentifier: task, request: TransferRequest(url: "http://x/y"), taskDescription: nil),
      from: owner, to: Self.host, correlation: Self.correlation(owner))
    if isAccepted { try answer(CreateTransfer.kind, answer: .ok, body: Done(), from: Self.host, to: owner, cause: id) }
    return id
  }

  /// The host reports a step of a transfer.
  package mutating func progress(
    _ step: TransferProgress.Step, _ task: Int = 1, of owner: Address = widget, bytes: Int64 = 10,
    sha256: String? = nil
  ) throws {
    try send(
      TransferProgress(
        owner: owner, session: Self.session, taskIdentifier: task, step: step, bytes: bytes, sha256: sha256),
      from: Self.host)
  }

  /// The host sends the events of tasks.
  package mutating func deliver(
    _ tasks: [Int] = [1], to owner: Address = widget, generation: UInt32 = 1, id: UUID = delivery, wakes: Bool = true,
    session: Address? = nil
  ) throws {
    let outcomes = tasks.map { task in
      TaskOutcome(
        task: TaskSnapshot(
          taskIdentifier: task, request: TransferRequest(url: "http://x/y"), taskDescription: nil, bytesReceived: 10,
          bytesExpected: 10), response: nil, file: nil, failure: nil)
    }
    try send(
      SessionEvents(session: Self.session, wakesHandler: wakes, outcomes: outcomes), from: Self.host, to: owner, id: id,
      correlation: Self.correlation(session ?? owner), receiver: generation)
  }

  /// The owner's handler is called.
  package mutating func handler(generation: UInt32 = 1, id: UUID = delivery, matching: Int = 1) throws {
    try record(HandlerCalled(session: Self.session, pid: 7, matching: matching), generation: generation, id: id)
  }

  /// The owner's delegate gets a file.
  package mutating func file(
    _ task: Int = 1, bytes: Int64 = 10, sha256: String? = "aa", generation: UInt32 = 1, id: UUID = delivery
  ) throws {
    try record(
      DelegateCalled(
        session: Self.session, method: "didFinishDownloadingTo", taskIdentifier: task, bytes: bytes, sha256: sha256),
      generation: generation, id: id)
  }

  /// The owner's delegate gets the end of a task.
  package mutating func end(_ task: Int = 1, generation: UInt32 = 1, id: UUID = delivery) throws {
    try record(
      DelegateCalled(session: Self.session, method: "didCompleteWithError", taskIdentifier: task),
      generation: generation, id: id)
  }

  /// The owner's delegate gets the finish of all events.
  package mutating func finish(generation: UInt32 = 1, id: UUID = delivery) throws {
    try record(
      DelegateCalled(session: Self.session, method: "urlSessionDidFinishEvents"), generation: generation, id: id)
  }

  /// The author calls the completion handler.
  package mutating func complete(generation: UInt32 = 1, id: UUID = delivery) throws {
    try record(CompletionCalled(session: Self.session, outstanding: 0), generation: generation, id: id)
  }

  private mutating func record(_ notice: some Notice, generation: UInt32, id: UUID) throws {
    try send(
      notice, from: Self.widget, cause: id, correlation: Self.correlation(Self.widget), generation: generation)
  }

  /// The owner acknowledges the events.
  package mutating func acknowledge(by owner: Address = widget, generation: UInt32 = 1, id: UUID = delivery) throws {
    try answer(
      SessionEvents.kind, answer: .acknowledged, from: owner, to: Self.host, cause: id, generation: generation)
  }

  /// The host deletes the events.
  package mutating func discard(_ tasks: [Int]? = [1], id: UUID = delivery) throws {
    try send(
      SessionAcknowledged(
        owner: Self.widget, session: Self.session, delivery: id, tasks: tasks.flatMap { TaskNumbers($0) }),
      from: Self.host, cause: id, correlation: Self.correlation(Self.widget))
  }

  /// The whole handling of a delivery, without its acknowledgement.
  package mutating func handle(generation: UInt32 = 1, sha256: String? = "aa") throws {
    try handler(generation: generation)
    try file(sha256: sha256, generation: generation)
    try end(generation: generation)
    try finish(generation: generation)
    try complete(generation: generation)
  }

  /// A download from its creation to the deletion of its events.
  package static func download() throws -> RecordedWork {
    var work = RecordedWork()
    try work.boot()
    try work.launch()
    try work.create()
    try work.progress(.started)
    try work.progress(.finished, sha256: "aa")
    try work.deliver()
    try work.handle()
    try work.acknowledge()
    try work.discard()
    return work
  }

  // MARK: Verdicts

  /// The verdict of one law.
  package func verdict(
    _ code: String, _ limits: LawLimits = LawLimits(), until end: Date? = nil
  ) -> LawVerdict {
    var checker = LawChecker(limits, codes: [code])
    for envelope in envelopes { _ = checker.handle(envelope) }
    let verdicts = checker.verdicts(until: end.map { Timestamp($0) })
    guard let verdict = verdicts.first else { preconditionFailure("\(code) is not a law") }
    return verdict
  }

  /// The verdict of one law about the journal that a closure writes.
  package static func verdict(
    _ code: String, from first: UInt64 = 1, _ write: (inout RecordedWork) throws -> Void
  ) rethrows -> LawVerdict {
    var work = RecordedWork(from: first)
    try write(&work)
    return work.verdict(code)
  }
}
