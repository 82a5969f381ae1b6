// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages

/// Every process that runs is known, and ends once.
struct NoOrphan: Law {
  let description = LawDescription(
    code: "no-orphan", title: "no process is unknown",
    statement: "An app or an extension that sends a message was registered by an agent. Its exit is reported once, for "
      + "an instance that was registered, before the next instance of its address starts at the same agent. Nothing is "
      + "sent by an instance after its exit was reported, or after another agent has replaced its agent. Generations "
      + "only grow.",
    source: "ours: only the agent starts the author's processes and reports their lifecycle (architecture, Processes)",
    check: "each registration, start and exit of an instance, the first message of each instance, each message of one "
      + "that has ended",
    limits: "A process that sends nothing. The time of a message is compared with that of the exit, by the clocks of "
      + "sender and agent, which are the same machine's; a machine's clock that is set back may hide a message.")

  private struct Instance: Hashable, Sendable {
    let address: Address
    let generation: UInt32
  }

  /// What is known of an instance that may be running.
  private struct Running: Sendable {
    let registered: Mark
    /// The agent and its generation; `nil` when the journal begins after the registration.
    let agent: Instance?
    var started: Mark?
    var hasSent = false
  }

  private struct Ended: Sendable {
    let mark: Mark
    let id: UUID?
    let at: Moment
    /// The registration of the instance; 0 when the journal does not show it.
    let registered: UInt64
  }

  /// A time by the clock of its sender, and by that of the journal.
  private struct Moment: Sendable {
    let sentAt: Timestamp
    let at: Timestamp

    /// Whether both clocks say that it is later than another.
    func isAfter(_ other: Moment) -> Bool { sentAt > other.sentAt && at > other.at }
  }

  var findings = LawFindings()
  private var running: [Address: [UInt32: Running]] = [:]
  private var ended = Recent<Instance, Ended>()
  private var registrations = Recent<UUID, (address: Address, agent: Instance)>(limit: 256)
  private var agents: [Address: (generation: UInt32, mark: Mark, at: Moment)] = [:]
  private var highest: [Address: UInt32] = [:]

  mutating func see(_ seen: LawEnvelope, _ record: LawRecord) {
    let header = seen.header
    judgeSender(seen, record)
    switch seen.body {
    case .busStarted(let started):
      for registration in started.registrations where registration.address.bundleIdentifier != nil {
        highest[registration.address] = max(highest[registration.address] ?? 0, registration.generation)
        guard !registration.isRetired, running[registration.address]?[registration.generation] == nil,
          ended[Instance(address: registration.address, generation: registration.generation)] == nil
        else { continue }
        running[registration.address, default: [:]][registration.generation] = Running(
          registered: Mark(header), agent: nil, hasSent: true)
      }
    case .register(let register):
      let agent = Instance(address: header.source, generation: header.sourceGeneration)
      registrations[header.id] = (register.address, agent)
    case .registered(let reply): registered(reply.generation, seen)
    case .started(let started): judge(started, at: seen, in: record)
    case .exited(let exited): judge(exited, at: seen, in: record)
    case .registration(let changed):
      if changed.change == .retired { retired(changed.registration, at: seen, in: record) }
    default: break
    }
  }

  // MARK: Senders

  private mutating func judgeSender(_ seen: LawEnvelope, _ record: LawRecord) {
    let header = seen.header
    if header.source.role == .agent { noteAgent(header, record) }
    guard header.source.bundleIdentifier != nil else { return }
    let instance = Instance(address: header.source, generation: header.sourceGeneration)
    if let ended = ended[instance] {
      judge(
        Moment(sentAt: header.sentAt, at: record.at), notAfter: ended.at, since: ended.registered, in: record,
        finding: LawFinding(
          "generation \(instance.generation) of \(header.source.tailName) sent a message after its exit was reported",
          [ended.mark.evidence, seen.evidence]))
      return
    }
    guard var knownProcess = running[instance.address]?[instance.generation] else {
      if record.isWhole {
        findings.check(
          false,
          LawFinding(
            "generation \(instance.generation) of \(header.source.tailName) was never registered", [seen.evidence]))
      }
      // Judge each instance once.
      running[instance.address, default: [:]][instance.generation] = Running(
        registered: Mark(header), agent: nil, hasSent: true)
      return
    }
    if let agent = knownProcess.agent, let current = agents[agent.address], current.generation > agent.generation {
      judge(
        Moment(sentAt: header.sentAt, at: record.at), notAfter: current.at, since: knownProcess.registered.sequence,
        in: record,
        finding: LawFinding(
          "generation \(instance.generation) of \(header.source.tailName) sent a message after its agent was replaced",
          [knownProcess.registered.evidence, current.mark.evidence, seen.evidence]))
    }
    guard !knownProcess.hasSent else { return }
    findings.check(true, LawFinding(""))
    knownProcess.hasSent = true
    running[instance.address]?[instance.generation] = knownProcess
  }

  /// Judges the order of two moments, unless a clock was set back during that time.
  private mutating func judge(
    _ moment: Moment, notAfter other: Moment, since registered: UInt64, in record: LawRecord, finding: LawFinding
  ) {
    guard moment.isAfter(other), record.setBack > registered else {
      return findings.check(!moment.isAfter(other), finding)
    }
    findings.doubt(LawFinding("\(finding.what), or a clock was set back", finding.evidence))
  }

  private mutating func noteAgent(_ header: EnvelopeHeader, _ record: LawRecord) {
    guard header.sourceGeneration > agents[header.source]?.generation ?? 0 else { return }
    agents[header.source] = (header.sourceGeneration, Mark(header), Moment(sentAt: header.sentAt, at: record.at))
  }

  // MARK: Lifecycle

  private mutating func registered(_ generation: UInt32, _ seen: LawEnvelope) {
    guard let cause = seen.header.cause, let (address, agent) = registrations[cause] else { return }
    // A request that was sent again gets the same reply.
    guard running[address]?[generation] == nil else { return }
    let formerGeneration = highest[address] ?? 0
    findings.check(
      generation > formerGeneration,
      LawFinding(
        "generation \(generation) of \(address.tailName) was registered after generation \(formerGeneration)",
        [seen.evidence]))
    highest[address] = max(formerGeneration, generation)
    running[address, default: [:]][generation] = Running(registered: Mark(seen.header), agent: agent)
  }

  /// An instance that was registered and could not be started is retired without an exit. The notice of a start may be
  /// lost, so that its exit may follow.
  private mutating func retired(_ registration: Registration, at seen: LawEnvelope, in record: LawRecord) {
    guard let known = running[registration.address]?[registration.generation], known.started == nil else { return }
    running[registration.address]?[registration.generation] = nil
    ended[Instance(address: registration.address, generation: registration.generation)] = Ended(
      mark: Mark(seen.header), id: nil, at: Moment(sentAt: seen.header.sentAt, at: record.at),
      registered: known.registered.sequence)
  }

  private mutating func judge(_ started: ProcessStarted, at seen: LawEnvelope, in record: LawRecord) {
    let instance = Instance(address: started.address, generation: started.generation)
    let name = "generation \(started.generation) of \(started.address.tailName)"
    if let ended = ended[instance] {
      findings.check(
        false, LawFinding("\(name) started after its exit was reported", [ended.mark.evidence, seen.evidence]))
      return
    }
    guard running[started.address]?[started.generation] != nil else {
      if record.isWhole { findings.check(false, LawFinding("\(name) started without a registration", [seen.evidence])) }
      return
    }
    let agent = Instance(address: seen.header.source, generation: seen.header.sourceGeneration)
    let others = running[started.address]?.filter { $0.key < started.generation && $0.value.started != nil } ?? [:]
    let overdue = others.values.first { $0.agent == agent }
    findings.check(
      overdue == nil,
      LawFinding(
        "\(name) started while the exit of an earlier instance was not reported",
        [overdue?.started?.evidence, seen.evidence].compactMap(\.self)))
    // Instances of an earlier agent ended with it, and their exits are not reported.
    for (generation, other) in others {
      running[started.address]?[generation] = nil
      ended[Instance(address: started.address, generation: generation)] = Ended(
        mark: other.started ?? other.registered, id: nil, at: Moment(sentAt: seen.header.sentAt, at: record.at),
        registered: other.registered.sequence)
    }
    running[started.address]?[started.generation]?.started = Mark(seen.header)
  }

  private mutating func judge(_ exited: ProcessExited, at seen: LawEnvelope, in record: LawRecord) {
    let instance = Instance(address: exited.address, generation: exited.generation)
    let name = "generation \(exited.generation) of \(exited.address.tailName)"
    if let earlier = ended[instance] {
      // A redelivery has the same id.
      guard let id = earlier.id, id != seen.header.id else { return }
      findings.check(
        false, LawFinding("the exit of \(name) was reported twice", [earlier.mark.evidence, seen.evidence]))
      return
    }
    let knownProcess = running[exited.address]?[exited.generation]
    if knownProcess == nil, !record.isWhole { return }
    findings.check(
      knownProcess != nil, LawFinding("the exit of \(name) was reported, which was never registered", [seen.evidence]))
    running[exited.address]?[exited.generation] = nil
    ended[instance] = Ended(
      mark: Mark(seen.header), id: seen.header.id, at: Moment(sentAt: seen.header.sentAt, at: record.at),
      registered: knownProcess?.registered.sequence ?? 0)
  }

  mutating func finish(_ record: LawRecord) {}
}
