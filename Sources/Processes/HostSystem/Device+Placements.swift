import Archive
import Cluster
import Conversations
import Gallery
import MessageBus
import Timelines

// What Timelines is told of placements and of the screen, and asked for it.

extension Device {
  /// Goes on with what the last life of the host left: it may have died between a placement, or its removal, and its
  /// timeline.
  func handAll() async throws {
    let placements = gallery.decision.state.placements
    for number in await timelines.numbers where !placements.contains(where: { $0.id == number }) {
      try await timelines.removed(number)
    }
    for placement in placements { try await timelines.placed(placement) }
    try await resumeActivities()
    await tellWhatIsSeen()
  }

  /// A widget stands on a screen from now on, or is configured in another way.
  func hand(_ placement: Placement, _ story: Story, isEdited: Bool = false) async throws {
    if isEdited {
      try await timelines.edited(placement, story)
    } else {
      try await timelines.placed(placement, story)
      await tellWhatIsSeen()
    }
  }

  /// What stands in a placement's place.
  func shown(_ placement: Placement) async throws -> ShownWidget {
    let failure = await timelines.lastFailure(placement.id)
    let shown = try await timelines.shown(placement.id)
    guard let shown else { return ShownWidget(note: failure) }
    let placeholder = try await timelines.placeholder(placement.id)
    return ShownWidget(
      light: shown.entry.view, dark: shown.entry.darkView, date: shown.entry.date, isPlaceholder: shown.isPlaceholder,
      placeholder: placeholder?.view, darkPlaceholder: placeholder?.darkView, note: failure,
      touched: touched[placement.id]?.control)
  }

  /// Which widgets a person looks at, and which apps are at work.
  func tellWhatIsSeen() async {
    let device = configuration.device.name
    let activities = await gallery.state.activities.map { (Address.app(device, $0.key), $0.value) }
    await timelines.appsAreAtWork(Dictionary(activities) { first, _ in first })
    await timelines.luminance(isReduced: gallery.state.isLuminanceReduced)
    let seen = await gallery.state.seen
    let gallery = gallery.decision
    let placements = gallery.state.placements.filter { $0.location == seen && gallery.isOnTop($0.id) }
    await timelines.seen(Set(placements.map(\.id)), isStandBy: seen == .standBy)
  }

  /// Of which extensions no timeline could be stored now, and why.
  func tellWhatIsWithheld() async {
    var told: DeviceScreen
    repeat {
      told = await gallery.state
      let rules = configuration.extensions.compactMap { product in
        told.withholding(isProtected: product.dataProtection.isOfUnlockedDevice)
          .map { (product.address(on: configuration.device.name), $0) }
      }
      await timelines.withheld(Dictionary(rules) { first, _ in first })
      // Another change may have been told of meanwhile: the last one counts.
    } while await gallery.state != told
  }

  /// A setting of the system changed for which it asks all widgets anew.
  func tellSystemChanged(_ setting: String) async {
    do {
      try await timelines.systemChanged(setting)
    } catch {
      // The keeper has said that it is broken.
    }
  }
}
