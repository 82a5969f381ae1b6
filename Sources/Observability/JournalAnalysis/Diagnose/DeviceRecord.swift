// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Messages

/// State of the devices on the bus, from the journal, as far as several rules need it.
struct DeviceRecord: Sendable {
  /// A request for a timeline, snapshot or placeholder that a provider has not answered.
  struct Asked: Sendable {
    let request: RequestTimeline
    let evidence: Evidence
  }

  /// A call of the handlers of a session's events.
  struct Handling: Sendable {
    let delivery: UUID?
    /// The number of handlers.
    let matching: Int
    let called: Evidence
    /// The completion handlers that were called.
    var completions: [Evidence] = []
    /// The number of completion handlers that were not called.
    var outstanding: Int
  }

  /// A running process instance.
  struct RunningInstance: Sendable {
    var askedRequests: [UUID: Asked] = [:]
    /// Handler calls by session.
    var handling: [String: Handling] = [:]
    /// Its open sessions.
    var sessions: [String: Evidence] = [:]
    /// The first line on standard error since its last request.
    var errorOutput: Evidence?
    /// Whether its start was seen. Otherwise it may have sessions that were opened before the journal begins.
    var isWhole = false

    /// Its unanswered requests, oldest first.
    var questions: [Asked] { askedRequests.values.sorted { $0.evidence.sequence < $1.evidence.sequence } }
  }

  /// The state of a device's clock.
  private struct Clock: Sendable {
    let state: ClockState
    let at: Timestamp
  }

  private var instances: [Address: RunningInstance] = [:]
  /// The last declarations of each extension.
  private var declarations: [Address: [WidgetDeclaration]] = [:]
  /// Processes that ever created a background session, or tried to.
  private var downloaders: Set<Address> = []
  /// Extensions that ever provided a timeline.
  private var givers: Set<Address> = []
  /// Whether the record contains all envelopes since the start of the bus.
  private(set) var isWhole = false
  private var openings: [UUID: (identifier: String, evidence: Evidence)] = [:]
  private var clocks: [String: Clock] = [:]

  func instance(of address: Address) -> RunningInstance { instances[address] ?? RunningInstance() }

  /// The kinds of an extension; `nil` before it has declared them.
  func kinds(of address: Address) -> [String]? { declarations[address]?.map(\.kind) }

  /// The extensions of an app that have declared their kinds. For an extension, the extension itself.
  func extensions(of source: Address) -> [Address] {
    if source.role == .widgetExtension { return declarations[source] == nil ? [] : [source] }
    let prefix = (source.bundleIdentifier ?? "") + "."
    return declarations.keys.filter {
      $0.device == source.device && $0.bundleIdentifier?.hasPrefix(prefix) == true
    }.sorted { $0.text < $1.text }
  }

  /// The kinds of an extension that has provided a timeline, has actions for the events of background sessions, and has
  /// never created a background session. Empty for other extensions.
  func unfedHandlers(of address: Address) -> [String] {
    guard isWhole, givers.contains(address), !downloaders.contains(address) else { return [] }
    return (declarations[address] ?? []).filter(\.handlesBackgroundEvents).map(\.kind)
  }

  /// `QuoteProvider of the kind Quote`, or only the kind when its extension has not declared the provider.
  func provider(of kind: String, in address: Address) -> String {
    let type = declarations[address]?.last { $0.kind == kind }?.provider ?? ""
    return type.isEmpty ? "kind \(kind)" : "\(type) of the kind \(kind)"
  }

  /// The session of the request that a reply to `session.open` answers.
  func opening(answeredBy header: EnvelopeHeader) -> (identifier: String, evidence: Evidence)? {
    header.cause.flatMap { openings[$0] }
  }

  /// The process that has a session of this name open, other than `address`.
  func holder(of session: String, except address: Address) -> (owner: Address, opened: Evidence)? {
    let others = instances.filter { $0.key != address && $0.key.device == address.device }
    return others.compactMap { other in other.value.sessions[session].map { (other.key, $0) } }.first
  }

  /// Converts machine time to device time.
  func date(on device: String?, at time: Timestamp) -> Date {
    guard let clock = device.flatMap({ clocks[$0] }) else { return time.date }
    guard !clock.state.isHeld else { return clock.state.now }
    return clock.state.now.addingTimeInterval(time.date.timeIntervalSince(clock.at.date) * clock.state.rate)
  }

  /// Device seconds per machine second.
  func rate(on device: String?) -> Double { device.flatMap { clocks[$0]?.state.rate } ?? 1 }

  // MARK: Updating

  mutating func handle(_ envelope: Envelope) {
    let header = envelope.header
    if header.sequence == 1 { isWhole = true }
    switch header.kind {
    case ProcessReady.kind:
      guard header.source.role == .widgetExtension, let ready = envelope.reading(ProcessReady.self) else { return }
      declarations[header.source] = ready.widgets
    case ProcessStarted.kind:
      // A fast child may have sent messages before its agent reports its start.
      if let started = envelope.reading(ProcessStarted.self) {
        instances[started.address, default: RunningInstance()].isWhole = true
      }
    case ProcessExited.kind:
      if let exited = envelope.reading(ProcessExited.self) { instances[exited.address] = nil }
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
      let instance = instances[output.address], !instance.askedRequests.isEmpty, instance.errorOutput == nil
    else { return }
    instances[output.address]?.errorOutput = Evidence(envelope)
  }

  private mutating func takeSession(_ envelope: Envelope) {
    let header = envelope.header
    if let opened = envelope.reading(OpenSession.self) {
      downloaders.insert(header.source)
      openings[header.id] = (opened.identifier, Evidence(envelope))
      instances[header.source, default: RunningInstance()].sessions[opened.identifier] = Evidence(envelope)
    } else if let closed = envelope.reading(CloseSession.self) {
      instances[header.source]?.sessions[closed.identifier] = nil
    } else if let cause = header.cause, let opening = openings.removeValue(forKey: cause),
      header.kind.answer == .failed
    {
      instances[header.destination]?.sessions[opening.identifier] = nil
    }
  }

  private mutating func takeHandling(_ envelope: Envelope) {
    let header = envelope.header
    if let called = envelope.reading(HandlerCalled.self) {
      instances[header.source, default: RunningInstance()].handling[called.session] = Handling(
        delivery: header.cause, matching: called.matching, called: Evidence(envelope), outstanding: called.matching)
    } else if let completion = envelope.reading(CompletionCalled.self) {
      instances[header.source]?.handling[completion.session]?.completions.append(Evidence(envelope))
      instances[header.source]?.handling[completion.session]?.outstanding = completion.outstanding
    }
  }

  private mutating func takeTimeline(_ envelope: Envelope) {
    let header = envelope.header
    if let request = envelope.reading(RequestTimeline.self) {
      if instances[header.destination]?.askedRequests.isEmpty != false {
        instances[header.destination]?.errorOutput = nil
      }
      instances[header.destination, default: RunningInstance()].askedRequests[header.id] = Asked(
        request: request, evidence: Evidence(envelope))
    } else if let failed = envelope.reading(ReloadFailed.self), let address = header.owner(of: failed.bundle) {
      for (id, _) in unanswered(failed, by: address) { instances[address]?.askedRequests[id] = nil }
    } else if let cause = header.cause {
      let asked = instances[header.source]?.askedRequests.removeValue(forKey: cause)
      if asked?.request.purpose == .timeline, header.kind.answer == .ok { givers.insert(header.source) }
    }
  }

  /// The timelines of a placement that its extension has not provided when the host gives up.
  func unanswered(_ failed: ReloadFailed, by address: Address) -> [(id: UUID, asked: Asked)] {
    instance(of: address).askedRequests.filter { _, asked in
      asked.request.widgetKind == failed.widgetKind && asked.request.purpose == .timeline
        && (failed.placement == nil || asked.request.placement == nil || asked.request.placement == failed.placement)
    }.map { ($0.key, $0.value) }
  }
}

extension EnvelopeHeader {
  /// The extension of a host's message.
  func owner(of bundle: String) -> Address? { source.device.map { .widgetExtension($0, bundle) } }
}
