package import Archive
package import Conversations
import Foundation
package import GRDB
package import MessageBus
package import Timekeeping

/// The keeper of Timelines: it asks extensions for the timelines of placements, keeps the last good one of each, and shows its
/// entries at their time by the device's clock.
///
/// Each fact is on disk before anybody is told of it. While an extension is asked for something the device's clock is not
/// advanced further.
package actor TimelineKeeper {
  /// In order; one reader.
  package nonisolated let intents: Intents<TimelineIntent>
  let store: TimelineStore
  let bus: any BusConnection
  let clock: any DeviceClock
  let machine: any DeviceClock
  let settings: TimelineSettings
  let policy: BudgetPolicy
  let environment: @Sendable (Placement) -> WidgetEnvironment
  let container: @Sendable (Address) -> String?
  private(set) var decision: TimelineDecision
  var questions: [Address: Task<Void, Never>] = [:]
  /// Each ends the wait for an extension that does not come, or does not answer.
  var deadlines: [Address: Task<Void, Never>] = [:]
  /// Who waits for a snapshot, by its number.
  var waiting: [Int: CheckedContinuation<Result<TakeSnapshot.Reply, BusError>, Never>] = [:]
  /// Who waits until nothing is owed to a placement.
  private var reloading: [Int: [CheckedContinuation<Void, Never>]] = [:]
  private var lastSnapshot = 0
  private var timer: (instant: Date, alarm: ClockAlarm)?
  /// Under way while an extension is asked, or is about to be: the clock is not advanced then.
  private var work: ClockWork?
  /// Why the database cannot be written: from then on nothing is acknowledged and nothing is done.
  private(set) var failure: BusError?
  private nonisolated let executor = RoomExecutor("timelines")

  package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Reads what the last life of the host knew.
  ///
  /// - Parameters:
  ///   - clock: the device's.
  ///   - machine: what author's code runs in, and how long it may take.
  ///   - environment: what a placement's views are archived for; number 0 is a snapshot in the gallery.
  ///   - container: the folder of an extension, in which the files of its answers are.
  /// - Throws: what the database says.
  package init(
    extensions: [Address], apps: [Address] = [], database: any DatabaseWriter, bus: any BusConnection,
    clock: any DeviceClock,
    machine: any DeviceClock = AdjustableClock(.running(ahead: 0)), settings: TimelineSettings = TimelineSettings(),
    policy: BudgetPolicy = BudgetPolicy(), environment: @escaping @Sendable (Placement) -> WidgetEnvironment,
    container: @escaping @Sendable (Address) -> String? = { _ in nil }
  ) throws {
    self.store = try TimelineStore(database)
    self.bus = bus
    self.clock = clock
    self.machine = machine
    self.settings = settings
    self.policy = policy
    self.environment = environment
    self.container = container
    var decision = TimelineDecision(extensions: extensions, apps: apps, settings: settings, policy: policy)
    try store.read(&decision)
    self.decision = decision
    self.intents = Intents(clock)
  }

  /// Asks for what was owed when the last life of the host ended, and shows what has come due since.
  package func begin() { take(.began) }

  /// `snapshot.take`. Nothing of it is kept.
  ///
  /// - Throws: `failed` with the reason why there is none.
  package func snapshot(_ request: TakeSnapshot) async throws(BusError) -> TakeSnapshot.Reply {
    lastSnapshot += 1
    let serial = lastSnapshot
    let result = await withCheckedContinuation { continuation in
      waiting[serial] = continuation
      take(.snapshot(kind: request.widgetKind, family: request.family, serial: serial))
      if let failure { tell(serial, .failure(failure)) }
    }
    return try result.get()
  }

  func tell(_ serial: Int, _ result: Result<TakeSnapshot.Reply, BusError>) {
    waiting.removeValue(forKey: serial)?.resume(returning: result)
  }

  /// Returns when nothing is owed to a placement, or it is left alone after a failure.
  package func whenReloaded(_ id: Int) async {
    guard isReloading(id) else { return }
    await withCheckedContinuation { reloading[id, default: []].append($0) }
  }

  private func isReloading(_ id: Int) -> Bool {
    failure == nil && decision.placements[id]?.owed.map { !$0.isBackingOff } ?? false
  }

  /// The extension runs and can be asked.
  package func awake(_ address: Address) { take(.awake(address)) }

  /// A life of the extension is over.
  package func ended(_ address: Address) { take(.lifeEnded(address)) }

  // MARK: Taking events

  func record(_ event: TimelineDecision.Event) throws(BusError) {
    take(event)
    if let failure { throw failure }
  }

  func take(_ event: TimelineDecision.Event, _ change: TimelineStore.Change = TimelineStore.Change()) {
    guard failure == nil else { return }
    let before = decision
    let answers = decision.take(event, now: clock.now)
    var change = change
    for case .decided(let line, _) in answers { change.lines.append(line) }
    do {
      try store.save(decision, since: before, change)
    } catch {
      let reason = "the timelines cannot be written: \(error)"
      failure = BusError(.failed, reason, isDefinite: false)
      intents.yield(.broken(reason))
      holdClock(false)
      return tellWhoWaits()
    }
    if case .gave(let question, let facts, _) = event { recordStored(question, facts) }
    for answer in answers { perform(answer) }
    setTimer()
    holdClock(decision.isBusy)
    tellWhoWaits()
  }

  private func tellWhoWaits() {
    for id in reloading.keys where !isReloading(id) {
      for continuation in reloading.removeValue(forKey: id) ?? [] { continuation.resume() }
    }
  }

  private func perform(_ answer: TimelineDecision.Answer) {
    switch answer {
    case .intent(.wantAwake(let address, let reason)):
      if questions[address] == nil { setDeadline(address) { .stalled(address) } }
      intents.yield(.wantAwake(address, because: reason))
    case .intent(.release(let address, let reason)):
      deadlines.removeValue(forKey: address)?.cancel()
      intents.yield(.release(address, because: reason))
    case .intent(let intent): intents.yield(intent)
    case .ask(let question): ask(question)
    case .stopAsking(let address):
      questions.removeValue(forKey: address)?.cancel()
      deadlines.removeValue(forKey: address)?.cancel()
    case .decided(let line, let story): bus.record(BudgetDecided(line), story: story)
    case .shown(let notice, let story): bus.record(notice, story: story)
    case .gaveUp(let notice, let story): bus.record(notice, story: story)
    case .noSnapshot(let serial, let reason):
      tell(serial, .failure(BusError(.failed, reason, isDefinite: true)))
    }
  }

  /// Of the machine's time.
  func setDeadline(_ address: Address, _ event: @escaping @Sendable () -> TimelineDecision.Event) {
    deadlines[address]?.cancel()
    deadlines[address] = Task { [weak self, machine, settings] in
      let end = machine.now.addingTimeInterval(settings.deadline)
      guard (try? await machine.sleep(until: end)) != nil else { return }
      await self?.take(event())
    }
  }

  // MARK: Time

  private func setTimer() {
    let instant = decision.nextInstant
    guard instant != timer?.instant else { return }
    timer?.alarm.cancel()
    timer = instant.map { instant in
      (instant, clock.alarm(at: instant) { [weak self] in await self?.timerFired(instant) })
    }
  }

  private func timerFired(_ instant: Date) {
    guard timer?.instant == instant else { return }
    timer = nil
    take(.instantCame)
  }

  private func holdClock(_ isBusy: Bool) {
    if isBusy {
      if work == nil { work = clock.beginWork() }
    } else if let ended = work {
      work = nil
      clock.endWork(ended)
    }
  }
}
