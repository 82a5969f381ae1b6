import Archive
import Cluster
import Conversations
import Foundation
import Launching
import MessageBus
import Pushes
import Timelines
import Transfers

// What Timelines hears of the bus and of the other rooms, and the way of its intents to them.

extension Device {
  nonisolated func listenForTimelines() {
    bus.onEvent(ReloadTimelines.self) { [timelines] event, from in try await timelines.reload(event, from) }
    bus.onRequest(TakeSnapshot.self) { [timelines] request, _ in try await timelines.snapshot(request) }
    bus.onRequest(ListBudget.self) { [timelines] request, _ in try await timelines.list(request) }
  }

  /// An app came to the front, or it left it or ended.
  func setFront(_ app: Address, _ isInFront: Bool) async {
    await transfers.setFront(app, isInFront)
    await timelines.appIsInFront(app, isInFront)
  }

  func route(_ intent: TimelineIntent) async {
    switch intent {
    case .wantAwake(let address, let reason): await launcher.want(address, because: Assertion(reason))
    case .release(let address, let reason): await launcher.release(address, because: Assertion(reason))
    case .halt(let address, let reason): await launcher.halt(address, because: Assertion(reason))
    case .pushed(let placement, let pushed):
      await pushes.reported(
        PlacementReport(push: pushed.push, placement: placement, outcome: ReloadOutcome(pushed.state)))
    case .relevanceChanged: await turnStacks()
    case .broken(let reason): broken(reason)
    }
  }
}
