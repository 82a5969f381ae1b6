import Archive
import Cluster
import Foundation
import Launching
import MessageBus
import Messages
import Pushes
import Timelines
import Transfers

// Timelines: messages from the bus, input from other services, and routing of the service's requests.

extension Device {
  nonisolated func listenForTimelines() {
    bus.onEvent(ReloadTimelines.self) { [timelines] event, from in try await timelines.reload(event, from) }
    bus.onRequest(TakeSnapshot.self) { [timelines] request, _ in try await timelines.snapshot(request) }
    bus.onRequest(ListBudget.self) { [timelines] request, _ in try await timelines.list(request) }
  }

  /// An app entered the foreground, left it or exited.
  func setFront(_ app: Address, _ isInFront: Bool) async {
    await transfers.setFront(app, isInFront)
    await timelines.appIsInFront(app, isInFront)
  }

  func route(_ output: TimelineOutput) async {
    switch output {
    case .process(let action): await route(action)
    case .pushed(let placement, let pushed):
      await pushes.reported(
        PlacementReloadReport(push: pushed.push, placement: placement, outcome: ReloadOutcome(pushed.state)))
    case .relevanceChanged: await turnStacks()
    case .broken(let reason): broken(reason)
    }
  }
}
