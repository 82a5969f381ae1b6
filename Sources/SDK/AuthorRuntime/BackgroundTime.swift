// SPDX-License-Identifier: Apache-2.0

import Dispatch
import MessageBus
import Messages
import Synchronization

/// The background tasks and expiring activities of the author's code, which keep the process from being suspended for a
/// time: `ProcessRules.backgroundTime`. Any thread. Source: `UIApplication.beginBackgroundTask(withName:expirationHandler:)`,
/// `ProcessInfo.performExpiringActivity(withReason:using:)`.
package final class BackgroundTime: Sendable {
  /// What happens to a process whose code does not end its task after the time is over.
  package enum Consequence: Sendable {
    /// The host ends the process.
    case termination
    /// The process may be suspended.
    case suspension
  }

  private struct Work {
    let name: String
    let consequence: Consequence
    let expire: @Sendable () -> Void
    /// Begun after the time was over: it does not keep the process from being suspended.
    var isLate = false
    /// Whether `expire` was called.
    var isExpired = false
  }

  private struct State {
    var works: [Int: Work] = [:]
    var lastNumber = 0
    var isInFront = false
    /// When the time is over; `nil` before the first task in the background. The end of a task does not renew it.
    var deadline: ContinuousClock.Instant?
    /// Whether the time is over.
    var isOver = false
    /// When the last task ended.
    var idleSince: ContinuousClock.Instant?
    /// The number of the deadline: the timers of earlier ones are void.
    var round = 0
    /// What was sent to the host last.
    var isHeld = false
    /// Whether a message to the host has no reply yet.
    var isSending = false
    /// A new host does not know of the tasks.
    var mustRepeat = false
    var isRegistered = false

    var needsHold: Bool { works.values.contains { !$0.isLate } }
    /// Sorted by number.
    func sorted(where fits: (Int, Work) -> Bool) -> [(number: Int, work: Work)] {
      works.filter { fits($0.key, $0.value) }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
  }

  private unowned let process: HostedProcess
  private let state = Mutex(State())
  /// How long the author's code may take to end its task after it was asked to. Seconds.
  private var grace: Double { min(process.rules.backgroundTime, 5) }

  /// That of a process.
  package static func of(_ process: HostedProcess) -> BackgroundTime {
    let time = process.part(BackgroundTime.self) { BackgroundTime($0) }
    // Not in `part`, which holds the lock that `onNewHost` takes.
    time.register()
    return time
  }

  private init(_ process: HostedProcess) { self.process = process }

  /// Once: a host does not store the tasks, so the next one receives them again.
  private func register() {
    let isFirst = state.withLock { state in
      defer { state.isRegistered = true }
      return !state.isRegistered
    }
    guard isFirst else { return }
    process.onNewHost { [weak self] in
      self?.state.withLock { $0.mustRepeat = true }
      self?.report()
    }
  }

  /// Seconds until the time is over; `nil` in the foreground.
  package var remaining: Double? {
    state.withLock { state in
      guard !state.isInFront else { return nil }
      renewAfterPause(&state)
      let left = state.deadline.map { ContinuousClock.now.duration(to: $0) / .seconds(1) }
      return max(left ?? process.rules.backgroundTime, 0)
    }
  }

  /// Begins a task.
  ///
  /// - Parameter expire: called when the time is over: on the main thread for `termination`, on any for `suspension`. At
  ///   once if the time is over already.
  /// - Returns: the number of the task, from 1.
  package func begin(_ name: String, orElse consequence: Consequence, expire: @escaping @Sendable () -> Void) -> Int {
    let number = state.withLock { state in
      renewAfterPause(&state)
      state.lastNumber += 1
      state.works[state.lastNumber] = Work(
        name: name, consequence: consequence, expire: expire, isLate: state.isOver)
      state.idleSince = nil
      start(&state)
      if state.isOver { scheduleExpiry(in: 0, round: state.round) }
      return state.lastNumber
    }
    report()
    return number
  }

  /// Ends a task. Another number is ignored.
  package func end(_ number: Int) {
    state.withLock { state in remove([number], &state) }
    report()
  }

  /// The app entered or left the foreground, where the time does not count. Each change renews the time.
  package func moves(toFront isInFront: Bool) {
    state.withLock { state in
      guard state.isInFront != isInFront else { return }
      state.isInFront = isInFront
      stop(&state)
      start(&state)
    }
    report()
  }

  private func remove(_ numbers: [Int], _ state: inout State) {
    let wasIdle = state.works.isEmpty
    for number in numbers { state.works[number] = nil }
    if state.works.isEmpty, !wasIdle { state.idleSince = .now }
  }

  private func start(_ state: inout State) {
    guard state.deadline == nil, !state.isInFront, !state.works.isEmpty else { return }
    let time = process.rules.backgroundTime
    state.deadline = .now + .seconds(time)
    scheduleExpiry(in: time, round: state.round)
  }

  private func stop(_ state: inout State) {
    state.deadline = nil
    state.isOver = false
    state.round += 1
    for number in state.works.keys {
      state.works[number]?.isLate = false
      state.works[number]?.isExpired = false
    }
  }

  /// A process without a task for so long was suspended, or runs for another reason: its next task has the whole time.
  private func renewAfterPause(_ state: inout State) {
    let time = process.rules.backgroundTime
    guard let since = state.idleSince, since.duration(to: .now) >= .seconds(time) else { return }
    state.idleSince = nil
    stop(&state)
  }

  private func scheduleExpiry(in seconds: Double, round: Int) { after(seconds) { $0.expire(round) } }

  private func after(_ seconds: Double, _ act: @escaping @Sendable (BackgroundTime) -> Void) {
    DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [weak process] in
      guard let process else { return }
      act(BackgroundTime.of(process))
    }
  }

  /// Calls the tasks that were not called yet.
  private func expire(_ round: Int) {
    let works = state.withLock { state -> [(number: Int, work: Work)] in
      guard state.round == round else { return [] }
      state.isOver = true
      let works = state.sorted { !$1.isExpired }
      for (number, _) in works { state.works[number]?.isExpired = true }
      return works
    }
    guard !works.isEmpty else { return }
    let numbers = works.map(\.number)
    // The main thread may be blocked by the activity itself.
    for (_, work) in works where work.consequence == .suspension { process.asCurrent { work.expire() } }
    let others = works.map(\.work).filter { $0.consequence == .termination }
    if !others.isEmpty {
      DispatchQueue.main.async { [process] in
        for work in others { process.asCurrent { work.expire() } }
      }
    }
    after(grace) { $0.close(numbers, round) }
  }

  /// Reports those of these tasks that have not ended, and ends those that only lose the time.
  private func close(_ numbers: [Int], _ round: Int) {
    let overdue = state.withLock { state -> [(number: Int, work: Work)] in
      guard state.round == round else { return [] }
      let left = state.sorted { number, _ in numbers.contains(number) }
      remove(left.filter { $0.work.consequence == .suspension }.map(\.number), &state)
      return left.filter { $0.work.consequence == .termination }
    }
    report()
    guard !overdue.isEmpty else { return }
    let names = overdue.map(\.work.name)
    process.log(
      "the time in the background is over, and these tasks have not ended: \(names.joined(separator: ", "))")
    // Again after a time: the host ignores it while the app is on its way to the foreground, and may not get there.
    process.connection.submit(
      HoldProcess(.overdue, names: names), to: process.host, id: .random(), context: .none
    ) { [weak process] _ in
      guard let process else { return }
      let time = BackgroundTime.of(process)
      time.after(time.grace) { $0.close(numbers, round) }
    }
  }

  /// Sends the host whether there are tasks, each message after the reply to the last one.
  private func report() {
    let news = state.withLock { state -> HoldProcess? in
      let needsHold = state.needsHold
      guard !state.isSending, state.isHeld != needsHold || needsHold && state.mustRepeat else { return nil }
      state.isSending = true
      state.mustRepeat = false
      state.isHeld = needsHold
      let names = state.sorted { !$1.isLate }.map(\.work.name)
      return needsHold ? HoldProcess(.begun, names: names) : HoldProcess(.ended)
    }
    guard let news else { return }
    process.connection.submit(news, to: process.host, id: .random(), context: HostedProcess.currentContext) {
      [weak process] _ in
      guard let process else { return }
      let time = BackgroundTime.of(process)
      time.state.withLock { $0.isSending = false }
      time.report()
    }
  }
}
