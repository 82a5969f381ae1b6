// SPDX-License-Identifier: Apache-2.0

import MessageBus
import Messages
import Timelines

// Timelines: messages from the bus.

extension Device {
  nonisolated func listenForTimelines() {
    bus.onEvent(ReloadTimelines.self) { [timelines] event, from in try await timelines.reload(event, from) }
    bus.onRequest(TakeSnapshot.self) { [timelines] request, _ in try await timelines.snapshot(request) }
    bus.onRequest(ListBudget.self) { [timelines] request, _ in try await timelines.list(request) }
  }
}
