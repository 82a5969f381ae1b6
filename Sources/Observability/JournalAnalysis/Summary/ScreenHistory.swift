// SPDX-License-Identifier: Apache-2.0

package import Archive
package import Messages

/// What the journal knows about the screen: the placements, and the last timeline of each. It has no pictures.
package struct ScreenHistory: Sendable {
  /// The placed widgets and controls, by number.
  package private(set) var placements: [Int: Placement] = [:]
  /// The last stored timeline of each placement.
  package private(set) var timelines: [Int: TimelineStored] = [:]
  /// The last shown entry of each placement.
  package private(set) var shown: [Int: EntryShown] = [:]
  /// Why the last reload of a placement failed; nil after a success.
  package private(set) var failures: [Int: String] = [:]
  /// The state of the device; nil when the journal does not show it.
  package private(set) var state: DeviceScreen?

  init() {}

  mutating func handle(_ envelope: Envelope) {
    switch envelope.header.kind {
    case PlacementChanged.kind:
      guard let changed = envelope.reading(PlacementChanged.self) else { return }
      let number = changed.placement.id
      placements[number] = changed.change == .removed ? nil : changed.placement
      if changed.change == .removed { (timelines[number], shown[number], failures[number]) = (nil, nil, nil) }
    case TimelineStored.kind:
      guard let stored = envelope.reading(TimelineStored.self) else { return }
      timelines[stored.placement] = stored
      failures[stored.placement] = nil
    case EntryShown.kind:
      guard let entry = envelope.reading(EntryShown.self) else { return }
      shown[entry.placement] = entry
    case ReloadFailed.kind:
      guard let failed = envelope.reading(ReloadFailed.self), let placement = failed.placement else { return }
      failures[placement] = failed.reason
    case ScreenChanged.kind: state = envelope.reading(ScreenChanged.self)?.state ?? state
    default: return
    }
  }
}
