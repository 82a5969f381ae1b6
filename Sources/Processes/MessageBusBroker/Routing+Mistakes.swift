// SPDX-License-Identifier: Apache-2.0

import FaultPoints
import Messages

// The mistakes of deliberately broken brokers.

extension Routing {
  /// Forwards an envelope as a broken build does.
  mutating func forwardWithMistake(_ stamped: [UInt8], _ header: EnvelopeHeader, to line: Line) {
    if PlantedFault.pushAcknowledgementsLost.isPlanted, header.kind == DeliverPush.kind.answered(.acknowledged) {
      return
    }
    if PlantedFault.progressLost.isPlanted, header.kind == PushProgress.kind { return }
    let isSwapped =
      PlantedFault.swappedDestination.isPlanted && header.kind == SessionEvents.kind
      && header.destination.role == .widgetExtension
    let app = lines.first { $0.key.role == .app && $0.key.device == header.destination.device }?.value
    actions.append(.forward(stamped, to: isSwapped ? app ?? line : line))
  }
}
