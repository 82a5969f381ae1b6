// SPDX-License-Identifier: Apache-2.0

package import Messages
package import Timekeeping

/// The app intents that touched widgets perform, and the controls that show their new state until the timeline that
/// follows.
@DeviceActor package final class IntentService {
  /// Sends an intent to its performer and waits for the reply.
  package typealias Perform<Reply> = @Sendable () async throws(BusError) -> Reply

  /// The result of an intent.
  package enum Outcome<Reply: Sendable>: Sendable {
    case performed(Reply)
    case failed(BusError)
    /// The performer's process instance ended during the intent.
    case interrupted
  }

  /// Intents that are being performed, by number.
  private var performing: [Int: (performer: Address, task: Task<Void, Never>)] = [:]
  /// Controls that were touched, by placement, until the timeline that follows; each touch has a number.
  private var touched: [Int: (control: Int, touch: Int)] = [:]
  private var lastTouch = 0
  private var lastIntent = 0
  private let tasks = TaskOwner(on: DeviceActor.executor.taskExecutor)

  package nonisolated init() {}

  /// Cancels all intents. Must be the last call.
  package func leave() async { await tasks.end() }

  /// Performs an intent. It is cancelled when the performer's process instance ends: an intent that ends it would also
  /// end the next one.
  package func perform<Reply: Sendable>(
    by performer: Address, _ work: @escaping Perform<Reply>
  ) async -> Outcome<Reply> {
    lastIntent += 1
    let number = lastIntent
    let outcome = await withCheckedContinuation { (continuation: CheckedContinuation<Outcome<Reply>, Never>) in
      let task = tasks.start {
        do throws(BusError) {
          continuation.resume(returning: .performed(try await work()))
        } catch {
          continuation.resume(returning: Task.isCancelled ? .interrupted : .failed(error))
        }
      }
      // A service that has left starts nothing.
      guard let task else { return continuation.resume(returning: .interrupted) }
      performing[number] = (performer, task)
    }
    performing[number] = nil
    return outcome
  }

  /// A process instance of the performer ended.
  package func ended(_ performer: Address) {
    for case (performer, let task) in performing.values { task.cancel() }
  }

  // MARK: Controls

  /// The user touched a control of a placement, or an area without control: `nil`.
  ///
  /// - Returns: the number of the touch.
  package func touch(_ control: Int?, of placement: Int) -> Int {
    lastTouch += 1
    if let control { touched[placement] = (control, lastTouch) }
    return lastTouch
  }

  /// The control of a placement that shows its new state.
  package func touchedControl(of placement: Int) -> Int? { touched[placement]?.control }

  /// The control shows its new state until `reloaded` returns, unless it is touched again.
  package func keep(_ touch: Int, of placement: Int, until reloaded: @escaping @Sendable () async -> Void) {
    tasks.start { [self] in
      await reloaded()
      await forget(touch, of: placement)
    }
  }

  private func forget(_ touch: Int, of placement: Int) {
    if touched[placement]?.touch == touch { touched[placement] = nil }
  }
}
