import Archive
import Conversations
import Foundation

/// What the journal has told so far of the devices on its bus, as far as more than one rule asks for it.
struct DeviceRecord: Sendable {
  /// A timeline, snapshot or placeholder that a provider was asked for and has not given.
  struct Asked: Sendable {
    let request: RequestTimeline
    let evidence: Evidence
  }

  /// The handlers of a session's events were called.
  struct Handling: Sendable {
    let delivery: UUID?
    /// How many handlers there were.
    let matching: Int
    let called: Evidence
    /// Completions that were called.
    var completions: [Evidence] = []
    /// Completions that were not.
    var outstanding: Int
  }

  /// A life that goes on.
  struct Life: Sendable {
    var asked: [UUID: Asked] = [:]
    /// By session.
    var handling: [String: Handling] = [:]
    /// The sessions that it has open.
    var sessions: [String: Evidence] = [:]
    /// The first line on standard error since it was asked for something.
    var complaint: Evidence?
    /// Whether its birth was seen: of another one there may be sessions that nobody has told of here.
    var isWhole = false

    /// What it was asked for and has not given, the first first.
    var questions: [Asked] { asked.values.sorted { $0.evidence.sequence < $1.evidence.sequence } }
  }

  /// How a device's clock goes.
  private struct Clock: Sendable {
    let state: ClockState
    let at: Timestamp
  }

  private var lives: [Address: Life] = [:]
  /// As each extension said last.
  private var declarations: [Address: [WidgetDeclaration]] = [:]
  /// Who ever made a background session, or tried to.
  private var downloaders: Set<Address> = []
  /// Extensions that ever gave a timeline.
  private var givers: Set<Address> = []
  /// Whether all that was ever said on the bus was seen.
  private(set) var isWhole = false
  private var openings: [UUID: (identifier: String, evidence: Evidence)] = [:]
  private var clocks: [String: Clock] = [:]

  func life(of address: Address) -> Life { lives[address] ?? Life() }

  /// `nil` before it has said which it has.
  func kinds(of address: Address) -> [String]? { declarations[address]?.map(\.kind) }

  /// Extensions of an app that have said what kinds they have; an extension is its own.
  func extensions(of source: Address) -> [Address] {
    if source.role == .widgetExtension { return declarations[source] == nil ? [] : [source] }
    let prefix = (source.bundleIdentifier ?? "") + "."
    return declarations.keys.filter {
      $0.device == source.device && $0.bundleIdentifier?.hasPrefix(prefix) == true
    }.sorted { $0.text < $1.text }
  }

  /// The kinds of an extension that has given a timeline, has actions for the events of background sessions, and has never
  /// made one. Empty for another one.
  func unfedHandlers(of address: Address) -> [String] {
    guard isWhole, givers.contains(address), !downloaders.contains(address) else { return [] }
    return (declarations[address] ?? []).filter(\.handlesBackgroundEvents).map(\.kind)
  }

  /// `QuoteProvider of the kind Quote`, or the kind alone where its extension has not said who provides it.
  func provider(of kind: String, in address: Address) -> String {
    let type = declarations[address]?.last { $0.kind == kind }?.provider ?? ""
    return type.isEmpty ? "kind \(kind)" : "\(type) of the kind \(kind)"
  }

  /// The session that an answer to `session.open` is about.
  func opening(answeredBy header: EnvelopeHeader) -> (identifier: String, evidence: Evidence)? {
    header.cause.flatMap { openings[$0] }
  }

  /// Who has a session of this name open, but for one.
  func holder(of session: String, except address: Address) -> (owner: Address, opened: Evidence)? {
    let others = lives.filter { $0.key != address && $0.key.device == address.device }
    return others.compactMap { other in other.value.sessions[session].map { (other.key, $0) } }.first
  }

  /// The device's time at an instant of the machine's.
  func date(on device: String?, at time: Timestamp) -> Date {
    guard let clock = device.flatMap({ clocks[$0] }) else { return time.date }
    guard !clock.state.isHeld else { return clock.state.now }
    return clock.state.now.addingTimeInterval(time.date.timeIntervalSince(clock.at.date) * clock.state.rate)
  }

  /// Device seconds in one of the machine's.
  func rate(on device: String?) -> Double { device.flatMap { clocks[$0]?.state.rate } ?? 1 }

  // MARK: Taking

  mutating func take(_ envelope: Envelope) {
    let header = envelope.header
    if header.sequence == 1 { isWhole = true }
    switch header.kind {
    case ProcessReady.kind:
      guard header.source.role == .widgetExtension, let ready = envelope.reading(ProcessReady.self) else { return }
      declarations[header.source] = ready.widgets
    case ProcessStarted.kind:
      // A quick child may have spoken before its agent tells of its birth.
      if let started = envelope.reading(ProcessStarted.self) { lives[started.address, default: Life()].isWhole = true }
    case ProcessExited.kind:
      if let exited = envelope.reading(ProcessExited.self) { lives[exited.address] = nil }
    case ProcessOutput.kind: takeOutput(envelope)
    case ClockChanged.kind:
      guard let changed = envelope.reading(ClockChanged.self), let device = header.source.device else { return }
      clocks[device] = Clock(state: changed.state, at: header.sentAt)
    case OpenSession.kind, OpenSession.kind.answered(.ok), OpenSession.kind.answered(.failed), CloseSession.kind:
      takeSession(envelope)
    case HandlerCalled.kind, CompletionCalled.kind: takeHandling(envelope)
    case FaultNoticed.kind:
      let noticed = envelope.reading(FaultNoticed.self)
      if noticed?.fault == .noSharedContainer { downloaders.insert(header.source) }
    case RequestTimeline.kind, RequestTimeline.kind.answered(.ok), RequestTimeline.kind.answered(.failed),
      ReloadFailed.kind:
      takeTimeline(envelope)
    default: return
    }
  }

  private mutating func takeOutput(_ envelope: Envelope) {
    guard let output = envelope.reading(ProcessOutput.self), output.stream == "stderr",
      let life = lives[output.address], !life.asked.isEmpty, life.complaint == nil
    else { return }
    lives[output.address]?.complaint = Evidence(envelope)
  }

  private mutating func takeSession(_ envelope: Envelope) {
    let header = envelope.header
    if let opened = envelope.reading(OpenSession.self) {
      downloaders.insert(header.source)
      openings[header.id] = (opened.identifier, Evidence(envelope))
      lives[header.source, default: Life()].sessions[opened.identifier] = Evidence(envelope)
    } else if let closed = envelope.reading(CloseSession.self) {
      lives[header.source]?.sessions[closed.identifier] = nil
    } else if let cause = header.cause, let opening = openings.removeValue(forKey: cause),
      header.kind.answer == .failed
    {
      lives[header.destination]?.sessions[opening.identifier] = nil
    }
  }

  private mutating func takeHandling(_ envelope: Envelope) {
    let header = envelope.header
    if let called = envelope.reading(HandlerCalled.self) {
      lives[header.source, default: Life()].handling[called.session] = Handling(
        delivery: header.cause, matching: called.matching, called: Evidence(envelope), outstanding: called.matching)
    } else if let completion = envelope.reading(CompletionCalled.self) {
      lives[header.source]?.handling[completion.session]?.completions.append(Evidence(envelope))
      lives[header.source]?.handling[completion.session]?.outstanding = completion.outstanding
    }
  }

  private mutating func takeTimeline(_ envelope: Envelope) {
    let header = envelope.header
    if let request = envelope.reading(RequestTimeline.self) {
      if lives[header.destination]?.asked.isEmpty != false { lives[header.destination]?.complaint = nil }
      lives[header.destination, default: Life()].asked[header.id] = Asked(
        request: request, evidence: Evidence(envelope))
    } else if let failed = envelope.reading(ReloadFailed.self), let address = header.owner(of: failed.bundle) {
      for (id, _) in unanswered(failed, by: address) { lives[address]?.asked[id] = nil }
    } else if let cause = header.cause {
      let asked = lives[header.source]?.asked.removeValue(forKey: cause)
      if asked?.request.purpose == .timeline, header.kind.answer == .ok { givers.insert(header.source) }
    }
  }

  /// The timelines of a placement that its extension still owes when the host has given them up.
  func unanswered(_ failed: ReloadFailed, by address: Address) -> [(id: UUID, asked: Asked)] {
    life(of: address).asked.filter { _, asked in
      asked.request.widgetKind == failed.widgetKind && asked.request.purpose == .timeline
        && (failed.placement == nil || asked.request.placement == nil || asked.request.placement == failed.placement)
    }.map { ($0.key, $0.value) }
  }
}

extension EnvelopeHeader {
  /// The extension that a host speaks of.
  func owner(of bundle: String) -> Address? { source.device.map { .widgetExtension($0, bundle) } }
}
