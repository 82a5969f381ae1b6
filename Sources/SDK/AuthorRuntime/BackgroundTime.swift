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
  }

  private struct State {
    var works: [Int: Work] = [:]
    var lastNumber = 0
    var isInFront = false
    /// When the time is over; `nil` while nothing counts it.
    var deadline: ContinuousClock.Instant?
    /// The number of the deadline: the timers of earlier ones are void.
    var round = 0
    /// What the host has acknowledged.
    var isHeld = false
    var isTelling = false
  }

  private unowned let process: HostedProcess
  private let state = Mutex(State())
  /// How long the author's code may take to end its task after it was asked to. Seconds.
  private var grace: Double { min(process.rules.backgroundTime, 5) }

  /// That of a process.
  package static func of(_ process: HostedProcess) -> BackgroundTime {
    process.part(BackgroundTime.self) { BackgroundTime($0) }
  }

  private init(_ process: HostedProcess) { self.process = process }

  /// Seconds until the time is over; `nil` in the foreground.
  package var remaining: Double? {
    state.withLock { state in
      guard !state.isInFront else { return nil }
      let left = state.deadline.map { ContinuousClock.now.duration(to: $0) / .seconds(1) }
      return max(left ?? process.rules.backgroundTime, 0)
    }
  }

  /// Begins a task.
  ///
  /// - Parameter expire: called on the main thread when the time is over.
  /// - Returns: the number of the task, from 1.
  package func begin(_ name: String, orElse consequence: Consequence, expire: @escaping @Sendable () -> Void) -> Int {
    let number = state.withLock { state in
      state.lastNumber += 1
      state.works[state.lastNumber] = Work(name: name, consequence: consequence, expire: expire)
      start(&state)
      return state.lastNumber
    }
    report()
    return number
  }

  /// Ends a task. Another number is ignored.
  package func end(_ number: Int) {
    state.withLock { state in
      state.works[number] = nil
      if state.works.isEmpty { stop(&state) }
    }
    report()
  }

  /// The app entered or left the foreground, where the time does not count.
  package func moves(toFront isInFront: Bool) {
    state.withLock { state in
      state.isInFront = isInFront
      if isInFront { stop(&state) } else { start(&state) }
    }
  }

  private func start(_ state: inout State) {
    guard state.deadline == nil, !state.isInFront, !state.works.isEmpty else { return }
    let time = process.rules.backgroundTime
    state.deadline = .now + .seconds(time)
    let round = state.round
    after(time) { $0.expire(round) }
  }

  private func stop(_ state: inout State) {
    state.deadline = nil
    state.round += 1
  }

  private func after(_ seconds: Double, _ act: @escaping @Sendable (BackgroundTime) -> Void) {
    DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [weak process] in
      guard let process else { return }
      act(BackgroundTime.of(process))
    }
  }

  private func expire(_ round: Int) {
    let works = state.withLock { $0.round == round ? $0.works.sorted { $0.key < $1.key }.map(\.value) : [] }
    guard !works.isEmpty else { return }
    DispatchQueue.main.async { [process] in
      for work in works { process.asCurrent { work.expire() } }
    }
    after(grace) { $0.close(round) }
  }

  /// Reports tasks that have not ended, and ends those that only lose the time.
  private func close(_ round: Int) {
    let overdue = state.withLock { state in
      guard state.round == round else { return [] as [String] }
      let left = state.works.filter { $0.value.consequence == .termination }
      if left.isEmpty {
        state.works = [:]
        stop(&state)
      }
      return left.sorted { $0.key < $1.key }.map(\.value.name)
    }
    if overdue.isEmpty { return report() }
    let names = overdue.joined(separator: ", ")
    process.log("the time in the background is over, and these tasks have not ended: \(names)")
    process.connection.submit(
      HoldProcess(.overdue, names: overdue), to: process.host, id: .random(), context: .none, completion: { _ in })
  }

  /// Sends the host whether there are tasks, each message after the reply to the last one.
  private func report() {
    let news = state.withLock { state -> HoldProcess? in
      guard !state.isTelling, state.isHeld == state.works.isEmpty else { return nil }
      state.isTelling = true
      state.isHeld.toggle()
      let names = state.works.sorted { $0.key < $1.key }.map(\.value.name)
      return state.isHeld ? HoldProcess(.begun, names: names) : HoldProcess(.ended)
    }
    guard let news else { return }
    process.connection.submit(news, to: process.host, id: .random(), context: HostedProcess.currentContext) {
      [weak process] _ in
      guard let process else { return }
      let time = BackgroundTime.of(process)
      time.state.withLock { $0.isTelling = false }
      time.report()
    }
  }
}
