// SPDX-License-Identifier: Apache-2.0

import FaultPoints
import Messages
import ZeroMQ

// Faults that an injector arms on the lines of the bus. All happen after the journal is written, and a peer cannot tell
// them from a slow network, from one that fails, and from a sender that reconnects.

extension Broker {
  /// Forwards an envelope with the fault that is armed for it, if any, and after those that wait for the same line.
  func forwardWithFaults(_ frame: [UInt8], to line: PeerID) -> [Routing<PeerID>.Action] {
    let action = lineFault(of: frame)
    if action == .cut {
      delayed[line] = nil
      if let descriptor = routing?.peers[line]?.descriptor { end(descriptor) }
      return []
    }
    let frames = action == .double ? [frame, frame] : [frame]
    if delayed[line] != nil {
      delayed[line]? += frames
      return []
    }
    if case .delay(let milliseconds) = action {
      delayed[line] = frames
      _ = loop.after(.milliseconds(milliseconds)) { [weak self] in self?.assumeIsolated { $0.endDelay(of: line) } }
      return []
    }
    return frames.flatMap { forwardNow($0, to: line) }
  }

  private func lineFault(of frame: [UInt8]) -> FaultPointPage.LineAction? {
    guard LineFaults.areArmed, let header = try? EnvelopeHeader(decoding: frame) else { return nil }
    let style = MessageTable[header.kind]?.style
    return LineFaults.action(
      from: header.source, to: header.destination, type: header.kind.name,
      mayDouble: header.kind.answer == nil && (style == .request || style == .event))
  }

  private func endDelay(of line: PeerID) {
    let frames = delayed.removeValue(forKey: line) ?? []
    perform(frames.flatMap { forwardNow($0, to: line) })
  }
}
