import Archive
package import Conversations
import Foundation
package import GRDB
package import MessageBus
package import Timekeeping

/// The keeper of Timelines: it asks extensions for timelines and keeps the last good one of each kind.
///
/// There are no placements and no budget yet: every kind counts as placed once, in the small family, and every reload
/// that is asked for is granted.
package actor TimelineKeeper {
  /// In order; one reader.
  package nonisolated let intents: AsyncStream<TimelineIntent>
  private let outlet: AsyncStream<TimelineIntent>.Continuation
  private let store: TimelineStore
  private let bus: any BusConnection
  private let clock: any DeviceClock
  private var decision: TimelineDecision
  private var questions: [Address: Task<Void, Never>] = [:]
  /// Why the database cannot be written: from then on nothing is acknowledged and nothing is done.
  private var failure: BusError?
  private var timers: [Address: Task<Void, Never>] = [:]
  /// Who waits for a snapshot, by its number.
  private var waiting: [Int: CheckedContinuation<Result<TakeSnapshot.Reply, BusError>, Never>] = [:]
  private var lastSnapshot = 0
  /// How long an extension may take for a timeline, seconds of the device's clock.
  private let limit: Double

  /// Reads what the last life of the host knew.
  ///
  /// - Parameter limit: how long an extension may take for a timeline before it is halted, seconds of the device's clock.
  /// - Throws: what the database says.
  package init(
    extensions: [Address], database: any DatabaseWriter, bus: any BusConnection, clock: any DeviceClock,
    limit: Double = 30
  ) throws {
    self.limit = limit
    self.store = try TimelineStore(database)
    self.bus = bus
    self.clock = clock
    self.decision = try store.decision(extensions)
    (self.intents, self.outlet) = AsyncStream.makeStream(of: TimelineIntent.self)
  }

  /// Asks for what was owed when the last life of the host ended.
  package func begin() { take(.began) }

  /// `timeline.reload`. It is owed, on disk, when this returns.
  ///
  /// - Throws: `failed` when it cannot be recorded.
  package func reload(_ event: ReloadTimelines, _ from: Received) throws(BusError) {
    try record(.reload(from: from.source, kind: event.widgetKind, cause: from.id, correlation: from.correlation))
  }

  /// `snapshot.take`. Nothing of it is kept.
  ///
  /// - Throws: `failed` with the reason why there is none.
  package func snapshot(_ request: TakeSnapshot) async throws(BusError) -> TakeSnapshot.Reply {
    lastSnapshot += 1
    let serial = lastSnapshot
    let result = await withCheckedContinuation { continuation in
      waiting[serial] = continuation
      take(.snapshot(kind: request.widgetKind, serial: serial))
      if let failure { tell(serial, .failure(failure)) }
    }
    return try result.get()
  }

  private func tell(_ serial: Int, _ result: Result<TakeSnapshot.Reply, BusError>) {
    waiting.removeValue(forKey: serial)?.resume(returning: result)
  }

  /// An extension is ready and has these kinds. Remembered when this returns.
  ///
  /// - Throws: `failed` when it cannot be recorded.
  package func learned(_ address: Address, kinds: [String]) throws(BusError) {
    try record(.learned(address, kinds: kinds))
  }

  /// The extension runs and can be asked.
  package func awake(_ address: Address) { take(.awake(address)) }

  /// A life of the extension is over.
  package func ended(_ address: Address) { take(.lifeEnded(address)) }

  /// What is stored, as `ps` prints it.
  package func status() throws -> [TimelineStored] { try store.timelines().map(\.notice) }

  private func record(_ event: TimelineDecision.Event) throws(BusError) {
    take(event)
    if let failure { throw failure }
  }

  private func take(_ event: TimelineDecision.Event, storing answer: StoredTimeline? = nil) {
    guard failure == nil else { return }
    let before = decision
    let answers = decision.take(event)
    do {
      try store.save(decision, since: before, storing: answer)
    } catch {
      let reason = "the timelines cannot be written: \(error)"
      failure = BusError(.failed, reason, isDefinite: false)
      outlet.yield(.broken(reason))
      return
    }
    for answer in answers { perform(answer) }
  }

  private func perform(_ answer: TimelineDecision.Answer) {
    switch answer {
    case .intent(let intent): outlet.yield(intent)
    case .ask(let question): ask(question)
    case .stopAsking(let address):
      questions.removeValue(forKey: address)?.cancel()
      timers.removeValue(forKey: address)?.cancel()
    case .noSnapshot(let serial, let reason):
      tell(serial, .failure(BusError(.failed, reason, isDefinite: true)))
    case .gaveUp(let bundle, let kind, let reason, let story):
      bus.record(ReloadFailed(bundle: bundle, widgetKind: kind, reason: reason), story: story)
    }
  }

  private func ask(_ question: TimelineDecision.Question) {
    let story = decision.story(question)
    timers[question.address]?.cancel()
    timers[question.address] = Task { [weak self, clock, limit] in
      guard (try? await clock.sleep(until: clock.now.addingTimeInterval(limit))) != nil else { return }
      await self?.take(.overran(question, limit: limit))
    }
    questions[question.address] = Task {
      // The size of a small widget on the 6.1-inch phones. Source: ours until a device has its own table.
      let request = RequestTimeline(
        question.purpose, widgetKind: question.kind, family: .systemSmall, displayWidth: 155, displayHeight: 155)
      do throws(BusError) {
        let reply = try await bus.request(
          request, to: question.address, story: story, within: .seconds(86_400), whenUnreachable: .wait)
        guard !Task.isCancelled else { return }
        answered(question, reply, story)
      } catch {
        guard error.code != .closed, !Task.isCancelled else { return }
        take(.failed(question, reason: "\(error)"))
      }
    }
  }

  private func answered(_ question: TimelineDecision.Question, _ reply: RequestTimeline.Reply, _ story: Story) {
    guard let first = reply.entries.first else {
      return take(.failed(question, reason: "the provider gave a timeline without entries"))
    }
    guard question.purpose == .timeline else {
      tell(question.serial, .success(TakeSnapshot.Reply(text: first.view.lines)))
      return take(.answered(question))
    }
    let stored = StoredTimeline(
      address: question.address, kind: question.kind, family: .systemSmall, timeline: reply, stored: clock.now)
    // On disk first, then said.
    take(.answered(question), storing: stored)
    guard failure == nil else { return }
    bus.record(stored.notice, story: story)
  }
}
