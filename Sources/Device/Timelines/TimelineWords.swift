package import Archive
package import Conversations
import Foundation

/// What Timelines asks of the rest of the host, in order.
package enum TimelineIntent: Sendable, Equatable {
  /// Have the extension run and keep it running until `release`; then say `awake`.
  case wantAwake(Address, because: String)
  case release(Address, because: String)
  /// The same, and have the extension suspended at once when nobody else wants it, in the middle of what it does.
  case halt(Address, because: String)
  /// What became of a widget push at a placement is another than it was.
  case pushed(placement: Int, PushedReload)
  /// What an entry says of its widget's relevance is another than what was said before.
  case relevanceChanged
  /// The database of the room cannot be written any longer: the host must not go on.
  case broken(String)
}

extension TimelineDecision {
  /// The name of the reason why an extension is kept awake.
  package static let assertion = "timeline"

  /// One question to one extension.
  package struct Question: Sendable, Equatable {
    package let purpose: RequestTimeline.Purpose
    package let address: Address
    /// Number 0: a snapshot in the gallery.
    package let placement: Placement
    package let because: ReloadCause
    /// The reload's number, or the snapshot's.
    package let serial: Int
    package let story: Story
  }

  /// A reload that was asked for before its extension ever said what kinds it has.
  struct Pending: Codable, Sendable, Equatable {
    let address: Address
    /// `nil`: all.
    let kind: String?
    let because: ReloadCause
    let isInside: Bool
    let cause: UUID?
    let correlation: UUID?
    var story: Story { Story(cause: cause, correlation: correlation) }
  }

  package enum Event: Sendable {
    /// The host begins: what was owed still is.
    case began
    /// The extension said `ready` with its kinds and the first family of each.
    case knows(Address, [String: WidgetFamilyName])
    case placed(Placement, Story)
    case edited(Placement, Story)
    case removed(Int)
    /// `timeline.reload`.
    case reload(from: Address, kind: String?, isInside: Bool, Story)
    case reloadOne(Int, ReloadCause, Story)
    /// A setting of the system, such as `text-size`.
    case systemChanged(String, Story)
    /// The device moved far; these extensions' widgets want the location.
    case moved(bundles: Set<String>, Story)
    case inFront(app: Address, Bool)
    /// A person opens it by touching a widget.
    case openedFromWidget(app: Address)
    /// These apps have a session or follow where the device is, and no others.
    case atWork([Address: AppActivity])
    /// No timeline of these extensions could be stored now, and of all others it could.
    case withheld([Address: Withholding])
    /// These placements are on the screen, and no others; it is StandBy, or another one.
    case seen(Set<Int>, isStandBy: Bool)
    /// The display is Always-On, or no longer.
    case luminance(isReduced: Bool)
    case instantCame
    /// Somebody waits for a snapshot under this number. That is not owed: whoever waits asks the host's next life again.
    case snapshot(kind: String, family: WidgetFamilyName?, serial: Int)
    case awake(Address)
    case lifeEnded(Address)
    /// The extension was wanted and did not come in time: nobody waits for it meanwhile.
    case stalled(Address)
    case answered(Question)
    case gave(Question, TimelineFacts, [UpcomingEntry])
    case failed(Question, ReloadFailed.Failure, reason: String)
    /// The time for an answer is over, which is so many seconds.
    case overran(Question, limit: Double)
  }

  package enum Answer: Sendable {
    case intent(TimelineIntent)
    case ask(Question)
    /// The life that was asked is over: nobody waits for its answer any longer.
    case stopAsking(Address)
    case decided(LedgerEntry, Story)
    case shown(EntryShown, Story)
    /// A reload came to nothing.
    case gaveUp(ReloadFailed, Story)
    case noSnapshot(serial: Int, reason: String)
  }
}
