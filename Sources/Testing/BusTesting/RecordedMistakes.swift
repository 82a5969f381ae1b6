// SPDX-License-Identifier: Apache-2.0

import Archive
package import Foundation
package import JournalAnalysis
package import Messages

/// A hand-written journal, whose envelopes are a millisecond apart unless `pass` is called.
package struct RecordedMistakes {
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
  /// The time at which the journal begins.
  package static let start = Date(timeIntervalSince1970: 1_790_000_000)

  /// The envelopes, in order.
  package private(set) var envelopes: [Envelope] = []
  private var time = Self.start

  /// Creates an empty journal.
  package init() {}

  /// The time of the last envelope.
  package var now: Date { time }

  /// Lets seconds pass.
  package mutating func pass(_ seconds: Double) { time += seconds }

  /// Adds a message.
  @discardableResult
  package mutating func send<C: Message>(
    _ body: C, from source: Address, to destination: Address = .journal, cause: UUID? = nil, again: UInt16 = 0
  ) throws -> UUID {
    try add(
      C.kind, body: try BodyCoding.encode(body), source: source, destination: destination, cause: cause, attempt: again)
  }

  /// Adds a reply to the envelope with an id.
  @discardableResult
  package mutating func answer<Reply: Encodable>(
    _ kind: Kind, answer: Kind.Answer, body reply: Reply, from source: Address, to destination: Address, cause: UUID
  ) throws -> UUID {
    try add(
      kind.answered(answer), body: try BodyCoding.encode(reply), source: source, destination: destination, cause: cause,
      attempt: 0)
  }

  private mutating func add(
    _ kind: Kind, body: [UInt8], source: Address, destination: Address, cause: UUID?, attempt: UInt16
  ) throws -> UUID {
    time += 0.001
    var header = EnvelopeHeader(
      kind: kind, sentAt: Timestamp(time), cause: cause, source: source, destination: destination, attempt: attempt)
    header.sequence = UInt64(envelopes.count + 1)
    envelopes.append(Envelope(header: header, body: body))
    return header.id
  }

  // MARK: Common envelopes

  /// The extension is launched and announces its widgets, by kind and the provider's type.
  package mutating func launch(_ widgets: [String: String] = ["Quote": "QuoteProvider"], handlesEvents: Bool = false)
    throws
  {
    try send(
      ProcessStarted(address: Self.widget, generation: 1, pid: 1, executable: "/x"), from: Self.agent)
    let declarations = widgets.sorted { $0.key < $1.key }.map { kind, provider in
      var declaration = WidgetDeclaration(kind: kind)
      declaration.provider = provider
      declaration.handlesBackgroundEvents = handlesEvents
      return declaration
    }
    try send(ProcessReady(pid: 1, executable: "/x", widgets: declarations), from: Self.widget, to: Self.host)
  }

  /// The extension exits.
  package mutating func death(_ ending: Ending) throws {
    try send(
      ProcessExited(address: Self.widget, generation: 1, pid: 1, ending: ending), from: Self.agent, to: Self.host)
  }

  /// A process opens a session.
  @discardableResult
  package mutating func open(_ session: String, in owner: Address = widget) throws -> UUID {
    try send(OpenSession(identifier: session, configuration: SessionConfiguration()), from: owner, to: Self.host)
  }

  /// The extension creates a task.
  package mutating func create(_ session: String, task: Int = 1) throws {
    try send(
      CreateTransfer(
        session: session, taskIdentifier: task, request: TransferRequest(url: "http://x/y"), taskDescription: nil),
      from: Self.widget, to: Self.host)
  }

  /// The handlers of a session are called.
  package mutating func handler(_ session: String, matching: Int = 1, delivery: UUID = UUID()) throws {
    try send(HandlerCalled(session: session, pid: 1, matching: matching), from: Self.widget, cause: delivery)
  }

  /// A completion handler is called.
  package mutating func completion(_ session: String, outstanding: Int = 0) throws {
    try send(CompletionCalled(session: session, outstanding: outstanding), from: Self.widget)
  }

  /// The time to handle a session's events is running out.
  package mutating func expire(_ session: String) throws {
    try send(ExpireEvents(session: session, delivery: UUID()), from: Self.host, to: Self.widget)
  }

  /// The host asks for a timeline.
  @discardableResult
  package mutating func ask(_ kind: String = "Quote", because: ReloadCause = .operator, cause: UUID? = nil) throws
    -> UUID
  {
    try send(
      RequestTimeline(
        widgetKind: kind, placement: 1, because: because,
        environment: WidgetEnvironment(family: .systemSmall, width: 1, height: 1)),
      from: Self.host, to: Self.widget, cause: cause)
  }

  /// The extension replies with a timeline.
  package mutating func give(_ question: UUID, entries: Int = 1) throws {
    let entry = ArchivedEntry(date: Self.start, view: .empty)
    try answer(
      RequestTimeline.kind, answer: .ok,
      body: RequestTimeline.Reply(entries: Array(repeating: entry, count: entries), policy: .never), from: Self.widget,
      to: Self.host, cause: question)
  }

  /// The host stores a timeline.
  package mutating func stored(
    _ policy: ReloadPolicy, entries: Int = 1, last: Date? = nil, because: ReloadCause = .operator, digest: String = "00"
  ) throws {
    try send(
      TimelineStored(
        bundle: "com.example.Lab.Widget", widgetKind: "Quote", placement: 1, family: .systemSmall, because: because,
        entries: entries, first: now, last: last ?? now, policy: policy, bytes: 1, digest: digest, text: []),
      from: Self.host)
  }

  /// The host gives up on a timeline.
  package mutating func failed(_ failure: ReloadFailed.Failure) throws {
    try send(
      ReloadFailed(
        bundle: "com.example.Lab.Widget", widgetKind: "Quote", placement: 1, failure: failure, reason: "it failed"),
      from: Self.host)
  }

  /// A process requests a reload.
  @discardableResult
  package mutating func reload(_ kind: String?, by source: Address = widget, cause: UUID? = nil, within: String? = nil)
    throws
    -> UUID
  {
    try send(ReloadTimelines(widgetKind: kind, within: within), from: source, to: Self.host, cause: cause)
  }

  // MARK: Results

  /// The diagnoses of the journal.
  package func diagnosed(_ thresholds: DiagnosticThresholds = DiagnosticThresholds()) -> [Diagnosis] {
    var diagnostician = Diagnostician(thresholds)
    for envelope in envelopes { _ = diagnostician.handle(envelope) }
    return diagnostician.diagnoses
  }

  /// Their codes.
  package var codes: [String] { diagnosed().map(\.description.code) }

  /// The diagnoses of the journal that a closure writes.
  package static func diagnosing(_ write: (inout RecordedMistakes) throws -> Void) rethrows -> [Diagnosis] {
    var journal = RecordedMistakes()
    try write(&journal)
    return journal.diagnosed()
  }

  /// The codes of the diagnoses of the journal that a closure writes.
  package static func codes(_ write: (inout RecordedMistakes) throws -> Void) rethrows -> [String] {
    try diagnosing(write).map(\.description.code)
  }
}
