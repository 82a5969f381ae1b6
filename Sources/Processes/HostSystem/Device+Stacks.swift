import Conversations
import Foundation
import Gallery
import MessageBus
import Timekeeping
import Timelines

// Stacks: what a person turns, and what Smart Rotate does, by the device's clock.

extension Device {
  nonisolated func listenToStacks() {
    bus.onRequest(TurnStack.self) { [weak self] request, from in
      guard let self else { throw BusError(.closed, "the device is going down", isDefinite: false) }
      return try await turn(request, from.story)
    }
  }

  private func turn(_ request: TurnStack, _ story: Story) async throws(BusError) -> TurnStack.Reply {
    let reply = try await gallery.turn(request, now: clock.now, story)
    await tellWhatIsSeen()
    await turnStacks(mayTurn: false)
    return reply
  }

  /// Has Smart Rotate turn what is to be turned now. One after the other: the last has the newest of it.
  ///
  /// - Parameter mayTurn: `false` after a person changed a stack: then it is only known when to look again.
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
    guard !gallery.decision.state.stacks.isEmpty else { return setStackAlarm(nil) }
    let relevances = await timelines.relevances.mapValues {
      GalleryDecision.Relevance(score: $0.score, until: $0.until)
    }
    do throws(BusError) {
      let (hasTurned, next) = try await gallery.smartRotate(relevances, mayTurn: mayTurn, now: clock.now)
      if hasTurned { await tellWhatIsSeen() }
      setStackAlarm(next)
    } catch {
      // The keeper has said that it is broken.
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
