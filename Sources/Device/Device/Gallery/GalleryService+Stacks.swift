// SPDX-License-Identifier: Apache-2.0

package import DeviceRules
import Foundation
import MessageBus
package import Messages
import Timekeeping

// Stacks: turned by the user and by Smart Rotate, according to the device's clock.

extension GalleryService {
  /// `stack.turn`
  ///
  /// - Throws: `no-such-placement`, `not-now` (definite), `failed`.
  package func turn(_ request: TurnStack, _ context: MessageContext) throws(BusError) -> TurnStack.Reply {
    let (before, now) = (stateMachine.state, clock.now)
    let reply = try alter { stateMachine throws(BusError) in try stateMachine.turn(to: request.placement, now: now) }
    recordTurns(since: before, .person, context)
    turnStacks(mayTurn: false)
    return reply
  }

  /// Sets the relevance of all placements, and turns each stack to the most relevant of its widgets, where allowed.
  package func set(_ relevances: [Int: GalleryStateMachine.Relevance]) {
    self.relevances = relevances
    turnStacks()
  }

  /// Runs Smart Rotate now, and schedules its next run.
  ///
  /// - Parameter mayTurn: `false` after the user changed a stack: then only the next run is scheduled.
  func turnStacks(mayTurn: Bool = true) {
    guard !stateMachine.state.stacks.isEmpty else { return setStackAlarm(nil) }
    let (relevances, now) = (relevances, clock.now)
    do throws(BusError) {
      let (turned, next) = try alter { stateMachine throws(BusError) in
        stateMachine.smartRotate(relevances, mayTurn: mayTurn, now: now)
      }
      for turn in turned { bus.record(turn, context: .none) }
      if !turned.isEmpty { outputs.yield(.stackTurned) }
      setStackAlarm(next)
    } catch {
      // The service has already reported that it is broken.
    }
  }

  private func setStackAlarm(_ instant: Date?) {
    stackAlarm.set(instant, on: clock) { [weak self] in await self?.stackAlarmFired($0) }
  }

  private func stackAlarmFired(_ instant: Date) {
    if stackAlarm.takeFired(instant) { turnStacks() }
  }
}
