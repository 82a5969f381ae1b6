// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages

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
