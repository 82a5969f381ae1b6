// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Messages

/// What several laws need to know about the journal so far.
struct LawRecord: Sendable {
  let limits: LawLimits
  /// Whether the record contains all envelopes since the start of the bus.
  private(set) var isWhole = false
  /// The time of the journal: it begins with the first envelope, and never goes back. Clocks of machines and processes may
  /// be set, and a machine may sleep: a step of a sender's clock by more than half of the limit is not counted.
  private(set) var now = Timestamp(microseconds: 0)
  /// The time of the current envelope: at most `now`.
  private(set) var at = Timestamp(microseconds: 0)
  /// The last envelope whose sender's clock was set back, or which came late.
  private(set) var setBack: UInt64 = 0
  /// What is added to a sender's clock, in microseconds.
  private var offsets: [Address: Int64] = [:]
  /// The value of the last envelope.
  private var offset: Int64 = 0
  /// The databases of processes, as their hellos state them.
  private var stores: [Address: Hello] = [:]
  /// The tasks of background sessions.
  private(set) var tasks = TaskLedger()
  /// The time of the last disturbance: a process exited or connected, the network or the clock changed.
  private(set) var disturbed = Timestamp(microseconds: 0)
  /// The envelope that shows it.
  private(set) var disturbance: Mark?
  /// When connections ended or began; a notice that was sent just before that may be lost.
  private var interruptions: [Address: UInt64] = [:]
  /// When a broker began; every notice that was sent just before that may be lost.
  private var busInterruption: UInt64 = 0
  private var busGeneration: UInt32?
  private var generations: [Address: UInt32] = [:]
  /// When the processes connected.
  private var connections: [Address: Timestamp] = [:]
  /// Devices whose network is off or whose clock is held: their work waits.
  private var offline: Set<String> = []
  private var held: Set<String> = []

  init(_ limits: LawLimits) { self.limits = limits }

  /// Whether a notice from an address may be missing that was sent after this envelope: a notice is not sent again when
  /// its connection ends.
  func mayHaveLost(from address: Address, since sequence: UInt64) -> Bool {
    // A push that one replica accepted may be sent by another.
    let own =
      address.role == .pushServer
      ? interruptions.filter { $0.key.role == .pushServer }.values.max() : interruptions[address]
    return max(own ?? 0, busInterruption) >= sequence
  }

  /// Whether the work of a device waits for its network or its clock.
  func isWaiting(_ device: String?) -> Bool { device.map { offline.contains($0) || held.contains($0) } ?? false }

  /// The generation of the process instance at an address that last connected; `nil` when none is connected.
  func connected(at address: Address) -> UInt32? { generations[address] }

  /// Whether the time for work that began then is over.
  func isOver(_ began: Timestamp, within seconds: Double) -> Bool {
    Double(now.microseconds - max(began, disturbed).microseconds) > seconds * 1e6
  }

  /// Whether a process is not connected, as far as the journal shows. What is sent to `push-server` goes to any replica.
  func isAway(_ address: Address) -> Bool {
    switch address.role {
    case .messageBus, .journal: false
    case .pushServer where !address.isReplica: !generations.keys.contains { $0.role == .pushServer }
    default: generations[address] == nil
    }
  }

  /// The journal is complete until a time of the machine's clock.
  mutating func reach(_ time: Timestamp) { now = max(now, shifted(time)) }

  mutating func disturb(at time: Timestamp) { disturbed = max(disturbed, shifted(time)) }

  private func shifted(_ time: Timestamp) -> Timestamp { Timestamp(microseconds: time.microseconds + offset) }

  private mutating func advance(_ header: EnvelopeHeader) {
    let sentAt = header.sentAt.microseconds
    guard now.microseconds > 0 else {
      (now, at) = (header.sentAt, header.sentAt)
      return
    }
    let tolerance = Int64(saturating: limits.settle * 0.5e6)
    offset = offsets[header.source] ?? offset
    let step = sentAt + offset - now.microseconds
    if abs(step) > tolerance {
      if step < 0 { setBack = header.sequence }
      // A message that waited for its destination has the date of its first attempt.
      let isLate = step < 0 && connections[header.destination].map { $0.microseconds > sentAt + offset } ?? false
      if !isLate { offset = now.microseconds - sentAt }
    }
    if header.source.role.isPassing { offsets[header.source] = nil } else { offsets[header.source] = offset }
    at = shifted(header.sentAt)
    now = max(now, at)
  }

  // MARK: Databases

  /// How a process's database differs from the one that it had.
  enum Replacement { case empty, older }

  /// Whether the sender of a hello has another database than before, or an older copy of it.
  func replacement(_ seen: LawEnvelope) -> Replacement? {
    guard case .hello(let hello) = seen.body, let store = hello.store, let opening = hello.opening,
      let known = stores[seen.header.source], known.incarnation != hello.incarnation
    else { return nil }
    if store != known.store { return .empty }
    return opening <= known.opening ?? 0 ? .older : nil
  }

  /// A broker whose generation is lower than the last one's has lost its registrations.
  func isEmptyBroker(_ seen: LawEnvelope) -> Bool {
    guard case .busStarted(let started) = seen.body, let busGeneration else { return false }
    return started.generation < busGeneration
  }

  mutating func forget(_ address: Address, isEmpty: Bool) {
    if !isEmpty { isWhole = false }
    if let device = address.device { tasks.forget(device) }
  }

  // MARK: Updating

  /// Before the laws: what is true of the envelope itself.
  mutating func begin(_ seen: LawEnvelope) {
    if seen.header.sequence == 1 { isWhole = true }
    advance(seen.header)
    // No work could be done while there was no bus or no journal. The laws must not count that time.
    switch seen.body {
    case .busStarted(let started) where isAnotherBroker(started): disturb(by: seen.header)
    default: if seen.header.kind == JournalResumed.kind { disturb(by: seen.header) }
    }
  }

  /// Whether a broker was started. A broker also begins a new segment when the last one is full.
  func isAnotherBroker(_ started: BusStarted) -> Bool {
    busGeneration.map { $0 != started.generation } ?? false
  }

  /// After the laws.
  mutating func handle(_ seen: LawEnvelope) {
    let header = seen.header
    switch seen.body {
    case .busStarted(let started):
      if isAnotherBroker(started) {
        busInterruption = header.sequence
        generations = [:]
      }
      busGeneration = started.generation
      for registration in started.registrations where registration.isConnected {
        generations[registration.address] = registration.generation
      }
    case .registration(let changed): take(changed, header)
    case .hello(let hello): if hello.store != nil { stores[header.source] = hello }
    case .exited: disturb(by: header)
    case .network(let changed):
      guard let device = header.source.device else { break }
      let isOff = changed.state.path == .off
      if isOff != offline.contains(device) { disturb(by: header) }
      if isOff { offline.insert(device) } else { offline.remove(device) }
    case .clock(let changed):
      guard let device = header.source.device else { break }
      if changed.state.isHeld { held.insert(device) } else { held.remove(device) }
      disturb(by: header)
    default:
      if header.kind == BusStrained.kind { disturb(by: header) }
    }
    tasks.handle(seen)
  }

  private mutating func take(_ changed: RegistrationChanged, _ header: EnvelopeHeader) {
    let registration = changed.registration
    guard !registration.address.role.isPassing else { return }
    switch changed.change {
    case .connected:
      generations[registration.address] = registration.generation
      connections[registration.address] = now
    case .disconnected, .left, .retired:
      // The end of a former instance may be noticed when the next one is connected.
      if generations[registration.address] == registration.generation { generations[registration.address] = nil }
    case .registered: return
    }
    interruptions[registration.address] = header.sequence
    disturb(by: header)
  }

  private mutating func disturb(by header: EnvelopeHeader) {
    disturbed = max(disturbed, now)
    disturbance = Mark(header)
  }
}

/// An envelope whose body is decoded once for all laws.
struct LawEnvelope: Sendable {
  /// The bodies that laws read.
  enum Body: Sendable {
    case create(CreateTransfer)
    case events(SessionEvents)
    case unclaimed(SessionUnclaimed)
    case handler(HandlerCalled)
    case delegate(DelegateCalled)
    case completion(CompletionCalled)
    case discarded(SessionAcknowledged)
    case progress(TransferProgress)
    case opened(OpenSession)
    case quit(ForceQuitApp)
    case busStarted(BusStarted)
    case registration(RegistrationChanged)
    case register(RegisterInstance)
    case registered(RegisterInstance.Reply)
    case started(ProcessStarted)
    case exited(ProcessExited)
    case state(ProcessState)
    case agent(AgentStarted)
    case push(DeliverPush)
    case pushStep(PushProgress)
    case logged(PushLogged)
    case sent(SendPush.Reply)
    case decided(BudgetDecided)
    case network(NetworkChanged)
    case clock(ClockChanged)
    case refusal(BusError)
    case hello(Hello)
    case fleetPushes(DeliverToFleet)
    case fleetTook(DeliverToFleet.Reply)
    case other
  }

  let envelope: Envelope
  let body: Body
  /// Why a body that laws read cannot be decoded.
  let problem: String?

  var header: EnvelopeHeader { envelope.header }
  var evidence: Evidence { Evidence(envelope) }

  init(_ envelope: Envelope) {
    self.envelope = envelope
    do {
      body = try Self.readers[envelope.header.kind]?(envelope.body) ?? .other
      problem = nil
    } catch {
      body = .other
      problem = "\(error)"
    }
  }

  private typealias Reader = @Sendable ([UInt8]) throws -> Body

  private static func reader<M: Message>(_ type: M.Type, _ body: @escaping @Sendable (M) -> Body) -> (Kind, Reader) {
    (type.kind, { body(try BodyCoding.decode(M.self, from: $0)) })
  }

  private static func reply<R: Request>(to type: R.Type, _ body: @escaping @Sendable (R.Reply) -> Body) -> (
    Kind, Reader
  ) {
    (type.kind.answered(.ok), { body(try BodyCoding.decode(R.Reply.self, from: $0)) })
  }

  private static func failure<M: Message>(of type: M.Type) -> (Kind, Reader) {
    (type.kind.answered(.failed), { .refusal(try BodyCoding.decode(BusError.self, from: $0)) })
  }

  /// All other bodies are not decoded.
  private static let readers: [Kind: Reader] = Dictionary(
    uniqueKeysWithValues: [
      reader(CreateTransfer.self) { .create($0) }, failure(of: CreateTransfer.self),
      reader(SessionEvents.self) { .events($0) },
      reader(SessionUnclaimed.self) { .unclaimed($0) },
      reader(HandlerCalled.self) { .handler($0) },
      reader(DelegateCalled.self) { .delegate($0) },
      reader(CompletionCalled.self) { .completion($0) },
      reader(SessionAcknowledged.self) { .discarded($0) },
      reader(TransferProgress.self) { .progress($0) },
      reader(OpenSession.self) { .opened($0) },
      reader(ForceQuitApp.self) { .quit($0) },
      reader(BusStarted.self) { .busStarted($0) },
      reader(RegistrationChanged.self) { .registration($0) },
      reader(RegisterInstance.self) { .register($0) },
      reply(to: RegisterInstance.self) { .registered($0) },
      reader(ProcessStarted.self) { .started($0) },
      reader(ProcessExited.self) { .exited($0) },
      reader(ProcessState.self) { .state($0) },
      reader(AgentStarted.self) { .agent($0) },
      reader(DeliverPush.self) { .push($0) },
      reader(PushProgress.self) { .pushStep($0) },
      reader(PushLogged.self) { .logged($0) },
      reply(to: SendPush.self) { .sent($0) },
      reader(BudgetDecided.self) { .decided($0) },
      reader(NetworkChanged.self) { .network($0) },
      reader(ClockChanged.self) { .clock($0) },
      reader(Hello.self) { .hello($0) },
      reader(DeliverToFleet.self) { .fleetPushes($0) },
      reply(to: DeliverToFleet.self) { .fleetTook($0) },
    ])
}

/// A reference to an envelope that is kept after its work is settled: small, and without a decoded body.
struct Mark: Sendable {
  let sequence: UInt64
  let source: Address
  let kind: Kind

  init(_ header: EnvelopeHeader) {
    sequence = header.sequence
    source = header.source
    kind = header.kind
  }

  var evidence: Evidence { Evidence(sequence: sequence, text: "\(source.tailName) \(kind.name)") }
}

/// The last entries that were added; older ones are forgotten, so that memory stays bounded.
struct Recent<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private var values: [Key: Value] = [:]
  private var order: [Key] = []
  private var oldest = 0
  private let limit: Int

  init(limit: Int = 4096) { self.limit = limit }

  subscript(key: Key) -> Value? {
    get { values[key] }
    set {
      guard let newValue else {
        values[key] = nil
        return
      }
      if values.updateValue(newValue, forKey: key) == nil { order.append(key) }
      guard values.count > limit else { return }
      while values.count > limit, oldest < order.count {
        values[order[oldest]] = nil
        oldest += 1
      }
      if oldest > limit {
        order.removeFirst(oldest)
        oldest = 0
      }
    }
  }

  mutating func removeAll(where isMeant: (Key, Value) -> Bool) {
    for (key, value) in values where isMeant(key, value) { values[key] = nil }
  }
}
