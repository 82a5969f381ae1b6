import Foundation
import Gallery
import MessageBus
import Messages
import Timekeeping
import Timelines

// Stacks: turned by the user and by Smart Rotate, according to the device's clock.

extension Device {
  nonisolated func listenToStacks() {
    bus.onRequest(TurnStack.self) { [weak self] request, from in
      guard let self else { throw BusError(.closed, "the device is shutting down", isDefinite: false) }
      return try await turn(request, from.context)
    }
  }

  private func turn(_ request: TurnStack, _ context: MessageContext) async throws(BusError) -> TurnStack.Reply {
    let reply = try await gallery.turn(request, now: clock.now, context)
    await sendVisiblePlacements()
    await turnStacks(mayTurn: false)
    return reply
  }

  /// Runs Smart Rotate now. Runs are sequential, so that the last one has the newest relevance.
  ///
  /// - Parameter mayTurn: `false` after the user changed a stack: then only the next check is scheduled.
  func turnStacks(mayTurn: Bool = true) async {
    let former = turning
    let own = Task {
      await former?.value
      await rotate(mayTurn: mayTurn)
    }
    turning = own
    await own.value
  }

  private func rotate(mayTurn: Bool) async {
    guard !gallery.stateMachine.state.stacks.isEmpty else { return setStackAlarm(nil) }
    let relevances = await timelines.relevances.mapValues {
      GalleryStateMachine.Relevance(score: $0.score, until: $0.until)
    }
    do throws(BusError) {
      let (hasTurned, next) = try await gallery.smartRotate(relevances, mayTurn: mayTurn, now: clock.now)
      if hasTurned { await sendVisiblePlacements() }
      setStackAlarm(next)
    } catch {
      // The service has already reported that it is broken.
    }
  }

  private func setStackAlarm(_ instant: Date?) {
    guard instant != stackAlarm?.instant else { return }
    stackAlarm?.alarm.cancel()
    stackAlarm = instant.map { instant in
      (instant, clock.alarm(at: instant) { [weak self] in await self?.stackAlarmFired(instant) })
    }
  }

  private func stackAlarmFired(_ instant: Date) async {
    guard stackAlarm?.instant == instant else { return }
    stackAlarm = nil
    await turnStacks()
  }
}
