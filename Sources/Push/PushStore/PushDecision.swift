import Conversations
import Foundation
import HeapModule

/// Decides what becomes of accepted notifications: which are handed to their devices, which wait, and which never will be.
///
/// Of one subject (device, app and use) one notification is stored; a later one takes its place. Source: Apple's *Sending
/// notification requests to APNs*; that widgets have a place of their own is ours.
struct PushDecision: Sendable {
  enum Event: Sendable {
    /// It is in the delivery log.
    case accepted(KeptPush)
    /// The device says how it can be reached.
    case reach(device: String, isOnline: Bool, isAwake: Bool, generation: UInt32)
    /// It came to the bus, or went.
    case presence(device: String, isPresent: Bool, generation: UInt32)
    /// On the device's disk.
    case acknowledged(UUID)
    /// The device did not take it. `again`: it may not say itself when it will.
    case refused(UUID, why: String, again: Bool)
    /// A token is active no longer.
    case tokenEnded(String)
    /// Some time has passed.
    case clock
  }

  enum Answer: Equatable, Sendable {
    /// On disk until `drop`. It replaces what was kept under its number.
    case keep(KeptPush)
    case drop(KeptPush)
    case station(KeptPush, PushStation.Name, detail: String?)
    case send(PushedNotification)
  }

  private struct Reach: Sendable {
    var isPresent: Bool
    var isOnline: Bool
    var isAwake: Bool
    var generation: UInt32
  }

  /// What is kept of one subject.
  private struct Line: Sendable {
    /// Handed over, or handed over by an earlier life; in the order of their numbers.
    var sent: [KeptPush] = []
    /// The one that is stored.
    var held: KeptPush?
    /// Not before.
    var retryAt: Date?
    var isEmpty: Bool { sent.isEmpty && held == nil }

    /// When the clock has something to say of it.
    func instants(_ settings: PushSettings) -> [Date] { [held?.end(settings), retryAt].compactMap(\.self) }
  }

  /// When a line may be due: it is not, if that is no instant of the line any more.
  private struct Instant: Comparable, Sendable {
    let at: Date
    let subject: PushSubject
    static func < (one: Instant, other: Instant) -> Bool { one.at < other.at }
  }

  let settings: PushSettings
  private var reaches: [String: Reach] = [:]
  private var lines: [PushSubject: Line] = [:]
  private var subjects: [UUID: PushSubject] = [:]
  private var instants = Heap<Instant>()

  init(settings: PushSettings = PushSettings()) { self.settings = settings }

  /// Accepted and not delivered.
  var count: Int { subjects.count }

  /// When `clock` is due.
  var nextInstant: Date? {
    mutating get {
      while let first = instants.min {
        if lines[first.subject]?.instants(settings).contains(first.at) == true { return first.at }
        instants.removeMin()
      }
      return nil
    }
  }

  /// A line has an instant that it did not have. Of those that no longer are there are at most some for each line.
  private mutating func note(_ at: Date, _ subject: PushSubject) {
    instants.insert(Instant(at: at, subject: subject))
    guard instants.count > 64 + 4 * lines.count else { return }
    instants = Heap(
      lines.flatMap { subject, line in line.instants(settings).map { Instant(at: $0, subject: subject) } })
  }

  /// Takes up what the last life left, in the order of the numbers. What was not stored may have been handed over.
  mutating func restore(_ kept: KeptPush) {
    let subject = kept.notification.subject
    subjects[kept.id] = subject
    if kept.notification.isFromStorage, lines[subject]?.held == nil {
      lines[subject, default: Line()].held = kept
      note(kept.end(settings), subject)
    } else {
      lines[subject, default: Line()].sent.append(kept)
    }
  }

  mutating func take(_ event: Event, now: Date) -> [Answer] {
    switch event {
    case .accepted(let push): return accepted(push, now)
    case .reach(let device, let isOnline, let isAwake, let generation):
      reaches[device] = Reach(isPresent: true, isOnline: isOnline, isAwake: isAwake, generation: generation)
      return handOver(device, now)
    case .presence(let device, let isPresent, let generation): return presence(device, isPresent, generation, now)
    case .acknowledged(let id): return acknowledged(id, now)
    case .refused(let id, let why, let again): return refused(id, why, again, now)
    case .tokenEnded(let token): return tokenEnded(token)
    case .clock:
      var due: Set<PushSubject> = []
      while let first = instants.min, first.at <= now {
        due.insert(first.subject)
        instants.removeMin()
      }
      var answers: [Answer] = []
      for subject in ordered(due) { answers += clock(subject, now) }
      return answers
    }
  }

  private func ordered(_ subjects: some Sequence<PushSubject>) -> [PushSubject] {
    subjects.sorted { ($0.device, $0.bundle, $0.use.rawValue) < ($1.device, $1.bundle, $1.use.rawValue) }
  }

  // MARK: Accepting

  private mutating func accepted(_ push: KeptPush, _ now: Date) -> [Answer] {
    let subject = push.notification.subject
    let obstacle = obstacle(to: push.notification)
    if obstacle == nil, lines[subject, default: Line()].sent.count < settings.inFlight {
      subjects[push.id] = subject
      let keeping: [Answer] = push.isForOnce ? [] : [.keep(push)]
      return keeping + send(push, in: subject)
    }
    let (station, why) =
      obstacle ?? (.storedOffline, "\(settings.inFlight) are on their way that the device has not acknowledged")
    if push.isForOnce {
      return [.station(push, .notStored, detail: "its expiration is 0: one attempt, and \(why)")]
    }
    if push.end(settings) <= now { return [.station(push, .expired, detail: "its expiration had passed, and \(why)")] }
    return hold(push, station, why)
  }

  /// Why a notification cannot be handed over now.
  private func obstacle(to push: PushedNotification) -> (PushStation.Name, String)? {
    guard let reach = reaches[push.subject.device] else { return (.storedOffline, "the device has not been heard of") }
    guard reach.isPresent else { return (.storedOffline, "the device is not connected") }
    guard reach.isOnline else { return (.storedOffline, "the device has no network") }
    guard reach.isAwake || push.priority == 10 else {
      return (.storedPower, "the device is asleep, and priority \(push.priority) does not wake it")
    }
    return nil
  }

  /// Stores it in the place of another one.
  private mutating func hold(_ push: KeptPush, _ station: PushStation.Name, _ why: String) -> [Answer] {
    let subject = push.notification.subject
    var answers: [Answer] = []
    if let former = lines[subject]?.held {
      let collapse = push.notification.collapseID
      let isSame = collapse != nil && former.notification.collapseID == collapse
      answers.append(
        .station(
          former, isSame ? .collapsed : .superseded, detail: "by \(push.id.uuidString.lowercased()), accepted later"))
      answers += forget(former)
    }
    let kept = push.stored()
    lines[subject, default: Line()].held = kept
    subjects[kept.id] = subject
    note(kept.end(settings), subject)
    return answers + [.keep(kept), .station(kept, station, detail: why)]
  }

  // MARK: Handing over

  private mutating func send(_ push: KeptPush, in subject: PushSubject) -> [Answer] {
    var said = push
    said.isSaid = true
    lines[subject, default: Line()].sent.append(said)
    return [.station(push, .sent, detail: nil), .send(push.notification)]
  }

  /// All that a device takes now.
  private mutating func handOver(_ device: String, _ now: Date) -> [Answer] {
    var answers: [Answer] = []
    for subject in ordered(lines.keys.filter({ $0.device == device })) {
      lines[subject]?.retryAt = nil
      answers += handOver(subject, now)
    }
    return answers
  }

  private mutating func handOver(_ subject: PushSubject, _ now: Date) -> [Answer] {
    guard var line = lines[subject] else { return [] }
    var answers: [Answer] = []
    for index in line.sent.indices where !line.sent[index].isSaid {
      guard obstacle(to: line.sent[index].notification) == nil else { continue }
      line.sent[index].isSaid = true
      answers += [.station(line.sent[index], .sent, detail: "again"), .send(line.sent[index].notification)]
    }
    lines[subject] = line
    guard let held = line.held else { return answers }
    if held.end(settings) <= now { return answers + expire(held) }
    guard line.retryAt.map({ $0 <= now }) ?? true, obstacle(to: held.notification) == nil,
      line.sent.count < settings.inFlight
    else { return answers }
    lines[subject]?.held = nil
    return answers + send(held, in: subject)
  }

  private mutating func presence(_ device: String, _ isPresent: Bool, _ generation: UInt32, _ now: Date) -> [Answer] {
    guard var reach = reaches[device] else { return [] }
    // Another life of the device says itself how it can be reached.
    guard !isPresent || reach.generation == generation else {
      reaches[device] = nil
      return []
    }
    reach.isPresent = isPresent
    reaches[device] = reach
    return isPresent ? handOver(device, now) : []
  }

  private mutating func acknowledged(_ id: UUID, _ now: Date) -> [Answer] {
    guard let subject = subjects[id], let index = lines[subject]?.sent.firstIndex(where: { $0.id == id }),
      let push = lines[subject]?.sent.remove(at: index)
    else { return [] }
    return [.station(push, .delivered, detail: nil)] + forget(push) + handOver(subject, now)
  }

  private mutating func refused(_ id: UUID, _ why: String, _ again: Bool, _ now: Date) -> [Answer] {
    guard let subject = subjects[id], let index = lines[subject]?.sent.firstIndex(where: { $0.id == id }),
      let push = lines[subject]?.sent.remove(at: index)
    else { return [] }
    let why = "the device did not take it: \(why)"
    if push.isForOnce {
      return [.station(push, .notStored, detail: "its expiration is 0: one attempt, and \(why)")] + forget(push)
    }
    if push.end(settings) <= now { return [.station(push, .expired, detail: why)] + forget(push) }
    if let newer = lines[subject]?.held, newer.number > push.number {
      let detail = "by \(newer.id.uuidString.lowercased()), accepted later; \(why)"
      return [.station(push, .superseded, detail: detail)] + forget(push)
    }
    if again {
      let retryAt = now.addingTimeInterval(settings.retryAfter)
      lines[subject, default: Line()].retryAt = retryAt
      note(retryAt, subject)
    }
    return hold(push, .storedOffline, why)
  }

  // MARK: Ends

  private mutating func forget(_ push: KeptPush) -> [Answer] {
    let subject = push.notification.subject
    subjects[push.id] = nil
    if lines[subject]?.held?.id == push.id { lines[subject]?.held = nil }
    if lines[subject]?.isEmpty == true { lines[subject] = nil }
    return push.isForOnce ? [] : [.drop(push)]
  }

  private mutating func expire(_ push: KeptPush) -> [Answer] {
    [.station(push, .expired, detail: "before the device could be reached")] + forget(push)
  }

  private mutating func clock(_ subject: PushSubject, _ now: Date) -> [Answer] {
    if let retryAt = lines[subject]?.retryAt, retryAt <= now {
      lines[subject]?.retryAt = nil
      return handOver(subject, now)
    }
    guard let held = lines[subject]?.held, held.end(settings) <= now else { return [] }
    return expire(held)
  }

  private mutating func tokenEnded(_ token: String) -> [Answer] {
    let ended = lines.values.compactMap(\.held).filter { $0.token == token }
    return ended.flatMap { push in
      [.station(push, .tokenUnregistered, detail: "while it was stored")] + forget(push)
    }
  }
}
