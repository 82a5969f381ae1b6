// SPDX-License-Identifier: Apache-2.0

package import Archive
package import Foundation
package import Messages

/// What Timelines requests from the rest of the host, in order.
package enum TimelineOutput: Sendable, Equatable {
  /// The relevance of a widget has changed.
  case relevanceChanged
}

extension TimelineStateMachine {
  /// The assertion that keeps an extension awake.
  package static let assertion: Assertion = "timeline"

  /// One request to one extension.
  package struct ProviderRequest: Sendable, Equatable {
    package let purpose: RequestTimeline.Purpose
    package let address: Address
    /// Number 0: a snapshot in the gallery.
    package let placement: Placement
    package let reloadCause: ReloadCause
    /// The reload's number, or the snapshot's.
    package let serial: Int
    package let context: MessageContext
  }

  /// A reload that was requested before its extension ever reported its kinds.
  package struct UnresolvedReload: Codable, Sendable, Equatable {
    let address: Address
    /// `nil`: all.
    let kind: String?
    /// Whether controls are meant, or widgets; `nil`: both.
    var areControls: Bool?
    let reloadCause: ReloadCause
    let isInside: Bool
    let causationID: UUID?
    let correlation: UUID?
    var context: MessageContext { MessageContext(cause: causationID, correlation: correlation) }
  }

  /// What events changed of the persistent state.
  package struct Changes: Sendable {
    /// The numbers of placements that were added, changed or removed.
    package internal(set) var placements: Set<Int> = []
    /// The extensions whose kinds have changed.
    package internal(set) var kinds: Set<Address> = []
    package internal(set) var areUnresolvedReloads = false
  }

  package enum Event: Sendable {
    /// The host starts: pending reloads are still pending.
    case began
    /// The extension sent `ready` with its kinds and the first family of each.
    case kindsReported(Address, [String: WidgetFamilyName])
    /// The extensions were replaced: they may have other kinds.
    case kindsForgotten([Address])
    case placed(Placement, MessageContext)
    case edited(Placement, MessageContext)
    case removed(Int)
    /// `timeline.reload`. `areControls`: whether controls are meant, or widgets; `nil`: both.
    case reload(from: Address, kind: String?, areControls: Bool? = false, isInside: Bool, MessageContext)
    case reloadOne(Int, ReloadCause, MessageContext)
    /// A setting of the device, by its `SettingName`; or `account` or `time`.
    case systemChanged(String, MessageContext)
    /// The time zone of the device. A `systemChanged` follows.
    case timeZone(TimeZone)
    /// The device moved far; the widgets of these extensions use the location.
    case moved(bundles: Set<String>, MessageContext)
    case inFront(app: Address, Bool)
    /// The user opens it by tapping a widget.
    case openedFromWidget(app: Address)
    /// Exactly these apps have a session or use the location service.
    case atWork([Address: AppActivity])
    /// Timelines of exactly these extensions cannot be stored now.
    case withheld([Address: Withholding])
    /// Exactly these placements are visible, in StandBy or on another screen.
    case seen(Set<Int>, isStandBy: Bool)
    /// The display entered or left the Always-On state.
    case luminance(isReduced: Bool)
    case timerFired
    /// A snapshot is requested under this number. It is not persisted: the caller repeats it after a host restart.
    case snapshot(kind: String, bundle: String? = nil, family: WidgetFamilyName?, serial: Int)
    case awake(Address)
    case instanceEnded(Address)
    /// The extension was wanted and did not start in time: the clock does not wait for it.
    case stalled(Address)
    case answered(ProviderRequest)
    case gave(ProviderRequest, TimelineFacts, [UpcomingEntry])
    case failed(ProviderRequest, ReloadFailed.Failure, reason: String)
    /// The time for a reply, in seconds, is over.
    case overran(ProviderRequest, limit: Double)
  }

  package enum Action: Sendable {
    case output(TimelineOutput)
    case process(ProcessAction)
    /// The state of a widget push at a placement has changed.
    case report(PlacementReloadReport)
    case ask(ProviderRequest)
    /// Cancel the request: the process instance has ended, or took too long.
    case stopAsking(ProviderRequest)
    case decided(BudgetDecided, MessageContext)
    case shown(EntryShown, MessageContext)
    /// A reload failed.
    case reloadFailed(ReloadFailed, MessageContext)
    case noSnapshot(serial: Int, reason: String)
  }
}
