// SPDX-License-Identifier: Apache-2.0

import Foundation
package import Messages

/// A step that must be seen in the journal.
package struct ScenarioStep: Sendable {
  /// The name that other steps refer to.
  package let name: String
  /// The text that is printed when the step was seen, and when it is missing.
  let title: String
  /// Steps that must have been seen earlier.
  let after: [String]
  /// Returns the text to print after the title when an envelope is this step, or `nil`.
  let matches: @Sendable (Envelope, ScenarioFacts) -> String?

  /// Creates a step.
  init(
    _ name: String, _ title: String, after: [String] = [],
    matches: @escaping @Sendable (Envelope, ScenarioFacts) -> String?
  ) {
    self.name = name
    self.title = title
    self.after = after
    self.matches = matches
  }
}

/// Something that must never occur.
package struct ForbiddenSight: Sendable {
  /// The violation, in a few words.
  let title: String
  /// Describes the violation in an envelope, or returns `nil`.
  let matches: @Sendable (Envelope, ScenarioFacts, Set<UUID>) -> String?
}

/// Checks the journal against the table of one victim. A value, so that it can be tested with a recorded journal.
package struct ScenarioWatch: Sendable {
  /// The result of one envelope.
  package struct Sight: Sendable {
    /// The steps that it completes.
    package var steps: [(title: String, note: String)] = []
    /// The violations, as text.
    package var forbidden: [String] = []
  }

  /// The expected steps.
  package let steps: [ScenarioStep]
  /// The violations to detect.
  package let forbidden: [ForbiddenSight]
  /// What the journal states about the participants.
  package private(set) var facts: ScenarioFacts
  /// The names of the steps that were seen.
  package private(set) var seen: Set<String> = []
  /// The violations that were seen, as text.
  package private(set) var violations: [String] = []
  /// Envelopes to or from the app since the demo began.
  package private(set) var envelopesOfApp = 0
  /// Deliveries that the host has deleted.
  private var forgotten: Set<UUID> = []
  private var contradictionsReported = 0

  /// Creates a watch for one victim.
  package init(cast: Cast, steps: [ScenarioStep], forbidden: [ForbiddenSight]) {
    self.facts = ScenarioFacts(cast: cast)
    self.steps = steps
    self.forbidden = forbidden
  }

  /// Titles of the steps that were not seen, in table order.
  package var missing: [String] { steps.filter { !seen.contains($0.name) }.map(\.title) }
  /// Whether every step was seen.
  package var isComplete: Bool { seen.count == steps.count }
  /// Whether a step was seen.
  package func hasSeen(_ name: String) -> Bool { seen.contains(name) }

  /// Records the instance that is about to be killed.
  package mutating func willKill(_ instance: ObservedInstance) { facts.willKill(instance) }

  /// Processes the next envelope.
  ///
  /// - Parameter isScenario: `false` for envelopes before the demo began: facts are recorded, steps and violations are
  ///   not.
  package mutating func see(_ envelope: Envelope, isScenario: Bool) -> Sight {
    facts.learn(envelope, isScenario: isScenario)
    guard isScenario else {
      contradictionsReported = facts.contradictions.count
      return Sight()
    }
    var sight = Sight()
    let header = envelope.header
    if header.source == facts.cast.app || header.destination == facts.cast.app { envelopesOfApp += 1 }
    sight.forbidden = forbidden.compactMap { rule in
      rule.matches(envelope, facts, forgotten).map { "\(rule.title): \($0) (sequence \(header.sequence))" }
    }
    sight.forbidden += facts.contradictions.dropFirst(contradictionsReported)
    contradictionsReported = facts.contradictions.count
    violations += sight.forbidden
    if let acknowledged = envelope.reading(SessionAcknowledged.self) { forgotten.insert(acknowledged.delivery) }
    // A step and its successor may be the same envelope: check in table order, each step once.
    for step in steps where !seen.contains(step.name) && seen.isSuperset(of: step.after) {
      guard let note = step.matches(envelope, facts) else { continue }
      seen.insert(step.name)
      sight.steps.append((step.title, note))
    }
    return sight
  }

  /// Records a contradiction outside the journal, such as a pid of another process.
  package mutating func contradict(_ what: String) { violations.append(what) }
}

/// The process that the demo kills in the middle of the download.
package enum Victim: String, CaseIterable, Sendable {
  case widgetExtension = "extension"
  case host
  case bus
  case agent
  case app
  case none
}

/// One process instance of an address.
package struct ObservedInstance: Hashable, Sendable, CustomStringConvertible {
  /// The address.
  package let address: Address
  /// The number of this run.
  package let generation: UInt32

  /// Creates an instance.
  package init(address: Address, generation: UInt32) {
    self.address = address
    self.generation = generation
  }

  /// The generation and the address.
  package var description: String { "generation \(generation) of \(address.tailName)" }
}

/// The participants of the demo.
package struct Cast: Sendable {
  /// The name of the device.
  package let device: String
  /// The extension that downloads.
  package let widgetExtension: Address
  /// Its containing app.
  package let app: Address
  /// The agent of the extension.
  package let agent: Address
  /// Whether that agent also spawns the app, which then exits with it.
  package var sharesAgent = true

  /// Creates the participants.
  package init(device: String, widgetExtension: Address, app: Address, agent: Address, sharesAgent: Bool = true) {
    self.device = device
    self.widgetExtension = widgetExtension
    self.app = app
    self.agent = agent
    self.sharesAgent = sharesAgent
  }

  /// The device's host.
  package var host: Address { .host(device) }

  /// The address of the victim; `nil` for `none`.
  package func address(of victim: Victim) -> Address? {
    switch victim {
    case .widgetExtension: widgetExtension
    case .host: host
    case .bus: .messageBus
    case .agent: agent
    case .app: app
    case .none: nil
    }
  }
}

/// Facts from the journal about process instances, pids and the extension's session. Reads the journal from its
/// beginning.
package struct ScenarioFacts: Sendable {
  /// The participants.
  package let cast: Cast
  /// The newest generation of each address.
  package private(set) var generation: [Address: UInt32] = [:]
  /// The pid of each process instance, and the first source of it.
  package private(set) var pids: [ObservedInstance: (pid: Int32, source: String)] = [:]
  /// The executables that the agent reported at the start.
  package private(set) var executables: [ObservedInstance: String] = [:]
  /// The extension's background session of this demo: the one of its first download after the demo requested a reload.
  package private(set) var session: String?
  /// The message id of that download's `resume()`.
  private(set) var request: UUID?
  /// Bytes of the extension's file, once the download has ended.
  private(set) var fileBytes: Int64?
  /// Sessions that the app created.
  private(set) var sessionsOfApp: Set<String> = []
  /// The process instance that was killed.
  var killed: ObservedInstance?
  /// Process instances with contradictory pids, as text.
  private(set) var contradictions: [String] = []
  private var spawns: [UUID: Address] = [:]

  /// Creates the facts of an empty journal.
  init(cast: Cast) { self.cast = cast }

  /// The correlation id of the extension's session.
  var correlation: UUID? { session.map { MessageContext.correlation(ofSession: $0, of: cast.widgetExtension) } }

  /// Whether an envelope's sender is an instance of `address` that was started after the kill; any instance when that
  /// address was not a victim.
  func isNewInstance(_ header: EnvelopeHeader, of address: Address) -> Bool {
    header.source == address && isNew(header.sourceGeneration, of: address)
  }

  /// Same, for a generation in a message body.
  func isNew(_ generation: UInt32, of address: Address) -> Bool {
    guard let killed, killed.address == address || exitsWith(killed.address, address) else { return true }
    let last = killed.address == address ? killed.generation : (lastBefore[address] ?? 0)
    return generation > last
  }

  /// The generations at the time of the kill, for processes that exit with an agent.
  private var lastBefore: [Address: UInt32] = [:]

  private func exitsWith(_ ended: Address, _ address: Address) -> Bool {
    ended == cast.agent && (address == cast.widgetExtension || (address == cast.app && cast.sharesAgent))
  }

  /// Records the instance that is about to be killed.
  mutating func willKill(_ instance: ObservedInstance) {
    lastBefore = generation
    killed = instance
  }

  /// Processes the next envelope of the journal. `isScenario`: it was sent after the demo began.
  mutating func learn(_ envelope: Envelope, isScenario: Bool) {
    let header = envelope.header
    let sender = ObservedInstance(address: header.source, generation: header.sourceGeneration)
    if let started = envelope.reading(ProcessStarted.self) {
      let instance = ObservedInstance(address: started.address, generation: started.generation)
      executables[instance] = started.executable
      claim(instance, pid: started.pid, source: "process.started from the agent")
    } else if let spawn = envelope.reading(SpawnProcess.self) {
      spawns[header.id] = spawn.address
    } else if header.kind == SpawnProcess.kind.answered(.ok), let address = header.cause.flatMap({ spawns[$0] }),
      let reply = try? BodyCoding.decode(SpawnProcess.Reply.self, from: envelope.body)
    {
      claim(
        ObservedInstance(address: address, generation: reply.generation), pid: reply.pid,
        source: "the agent's reply to the spawn")
    } else if let changed = envelope.reading(RegistrationChanged.self) {
      learn(changed.registration, changed.change)
    } else if let started = envelope.reading(BusStarted.self) {
      generation[.messageBus] = started.generation
      pids[ObservedInstance(address: .messageBus, generation: started.generation)] = (started.pid, "the bus itself")
      for registration in started.registrations { learn(registration, .connected) }
    } else if let ready = envelope.reading(ProcessReady.self) {
      claim(sender, pid: ready.pid, source: "process.ready from the process")
    } else if let called = envelope.reading(HandlerCalled.self) {
      claim(sender, pid: called.pid, source: "handler.called from the process")
    }
    learnSessions(envelope, isScenario: isScenario)
  }

  private mutating func learn(_ registration: Registration, _ change: RegistrationChanged.Change) {
    let address = registration.address
    guard change == .connected || change == .registered else { return }
    generation[address] = max(generation[address] ?? 0, registration.generation)
    guard change == .connected, let pid = registration.pid else { return }
    claim(
      ObservedInstance(address: address, generation: registration.generation), pid: pid,
      source: "the process's hello to the bus")
  }

  private mutating func learnSessions(_ envelope: Envelope, isScenario: Bool) {
    if let open = envelope.reading(OpenSession.self), envelope.header.source == cast.app {
      sessionsOfApp.insert(open.identifier)
    }
    guard isScenario else { return }
    if session == nil, let create = envelope.reading(CreateTransfer.self),
      envelope.header.source == cast.widgetExtension, create.type == .download
    {
      session = create.session
      request = envelope.header.id
    }
    if let progress = envelope.reading(TransferProgress.self), progress.step == .finished,
      progress.owner == cast.widgetExtension, progress.session == session, fileBytes == nil
    {
      fileBytes = progress.bytes
    }
  }

  /// Records a pid of a process instance, and its source. All sources must agree.
  private mutating func claim(_ instance: ObservedInstance, pid: Int32, source: String) {
    generation[instance.address] = max(generation[instance.address] ?? 0, instance.generation)
    guard let knownClaim = pids[instance] else {
      pids[instance] = (pid, source)
      return
    }
    guard knownClaim.pid != pid else { return }
    contradictions.append(
      "contradictory pids of \(instance): \(knownClaim.pid) according to \(knownClaim.source), "
        + "\(pid) according to \(source)")
  }
}
