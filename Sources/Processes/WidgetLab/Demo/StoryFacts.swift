import ArgumentParser
import Conversations
import Foundation

/// Whom the demo kills in the middle of the download.
enum Victim: String, CaseIterable, Sendable, ExpressibleByArgument {
  case widgetExtension = "extension"
  case host
  case bus
  case agent
  case app
  case none
}

/// One life of an address.
struct Life: Hashable, Sendable, CustomStringConvertible {
  let address: Address
  let generation: UInt32
  var description: String { "generation \(generation) of \(address.tailName)" }
}

/// Who takes part in the demo's story.
struct Cast: Sendable {
  let device: String
  let widgetExtension: Address
  let app: Address
  /// The agent of the extension.
  let agent: Address
  /// Whether that agent serves the app too, which then dies with it.
  var sharesAgent = true
  var host: Address { .host(device) }

  /// Who dies; `nil` when nobody does.
  func address(of victim: Victim) -> Address? {
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

/// What the journal has told so far of lives, process ids and the extension's session. Read from the journal's beginning.
struct StoryFacts: Sendable {
  let cast: Cast
  /// The newest life of each address.
  private(set) var generation: [Address: UInt32] = [:]
  /// What each life's pid is said to be, and by whom first.
  private(set) var pids: [Life: (pid: Int32, saidBy: String)] = [:]
  /// The executables that the agent says it started.
  private(set) var executables: [Life: String] = [:]
  /// The extension's background session of this story: the one of its first download after the demo asked for a reload.
  private(set) var session: String?
  /// The `resume()` of that download.
  private(set) var request: UUID?
  /// Bytes of the extension's file, once the download has ended.
  private(set) var fileBytes: Int64?
  /// Sessions that the app itself created.
  private(set) var sessionsOfApp: Set<String> = []
  /// The life that was killed.
  var killed: Life?
  /// Lives that contradict each other about their pid, in words.
  private(set) var contradictions: [String] = []
  private var spawns: [UUID: Address] = [:]

  init(cast: Cast) { self.cast = cast }

  /// The id that all envelopes of the extension's session carry.
  var correlation: UUID? { session.map { Story.session(cast.widgetExtension, $0) } }

  /// Whether an envelope's sender is a life of `address` that was born after the kill; any life will do when that address
  /// was not to die.
  func isNewLife(_ header: EnvelopeHeader, of address: Address) -> Bool {
    header.source == address && isNew(header.sourceGeneration, of: address)
  }

  /// The same for a generation that a body names.
  func isNew(_ generation: UInt32, of address: Address) -> Bool {
    guard let killed, killed.address == address || mustDieWith(killed.address, address) else { return true }
    let last = killed.address == address ? killed.generation : (lastBefore[address] ?? 0)
    return generation > last
  }

  /// The lives at the moment of the kill, for those that die with an agent.
  private var lastBefore: [Address: UInt32] = [:]

  private func mustDieWith(_ dead: Address, _ address: Address) -> Bool {
    dead == cast.agent && (address == cast.widgetExtension || (address == cast.app && cast.sharesAgent))
  }

  /// Says who is about to be killed.
  mutating func willKill(_ life: Life) {
    lastBefore = generation
    killed = life
  }

  /// Takes in the next envelope of the journal. `isStory`: it came after the demo began.
  mutating func learn(_ envelope: Envelope, isStory: Bool) {
    let header = envelope.header
    let sender = Life(address: header.source, generation: header.sourceGeneration)
    if let started = envelope.reading(ProcessStarted.self) {
      let life = Life(address: started.address, generation: started.generation)
      executables[life] = started.executable
      claim(life, started.pid, "the agent's record of its birth")
    } else if let spawn = envelope.reading(SpawnProcess.self) {
      spawns[header.id] = spawn.address
    } else if header.kind == SpawnProcess.kind.answered(.ok), let address = header.cause.flatMap({ spawns[$0] }),
      let reply = try? BodyCoding.decode(SpawnProcess.Reply.self, from: envelope.body)
    {
      claim(Life(address: address, generation: reply.generation), reply.pid, "the agent's answer to the spawn")
    } else if let changed = envelope.reading(RegistrationChanged.self) {
      learn(changed.registration, changed.change)
    } else if let started = envelope.reading(BusStarted.self) {
      generation[.messageBus] = started.generation
      pids[Life(address: .messageBus, generation: started.generation)] = (started.pid, "the bus itself")
      for registration in started.registrations { learn(registration, .connected) }
    } else if let ready = envelope.reading(ProcessReady.self) {
      claim(sender, ready.pid, "the process's own process.ready")
    } else if let called = envelope.reading(HandlerCalled.self) {
      claim(sender, called.pid, "the process's own handler.called")
    }
    learnSessions(envelope, isStory: isStory)
  }

  private mutating func learn(_ registration: Registration, _ change: RegistrationChanged.Change) {
    let address = registration.address
    guard change == .connected || change == .registered else { return }
    generation[address] = max(generation[address] ?? 0, registration.generation)
    guard change == .connected, let pid = registration.pid else { return }
    claim(Life(address: address, generation: registration.generation), pid, "the process's own hello to the bus")
  }

  private mutating func learnSessions(_ envelope: Envelope, isStory: Bool) {
    if let open = envelope.reading(OpenSession.self), envelope.header.source == cast.app {
      sessionsOfApp.insert(open.identifier)
    }
    guard isStory else { return }
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

  /// One more voice about the pid of a life. All must say the same.
  private mutating func claim(_ life: Life, _ pid: Int32, _ voice: String) {
    generation[life.address] = max(generation[life.address] ?? 0, life.generation)
    guard let known = pids[life] else {
      pids[life] = (pid, voice)
      return
    }
    guard known.pid != pid else { return }
    contradictions.append(
      "the pid of \(life) is not the same to all: \(known.saidBy) says \(known.pid), \(voice) says \(pid)")
  }
}

extension Envelope {
  /// The body, when the envelope is of this kind and can be read.
  func reading<C: Conversation>(_ type: C.Type) -> C? {
    header.kind == C.kind ? try? BodyCoding.decode(C.self, from: body) : nil
  }
}
