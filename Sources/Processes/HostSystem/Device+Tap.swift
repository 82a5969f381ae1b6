import Archive
import Cluster
import Conversations
import Foundation
import Gallery
import Launching
import MessageBus
import Timelines

// A person touches a widget.

extension Device {
  func tap(_ request: TapWidget, _ story: Story) async throws -> TapWidget.Reply {
    let decision = gallery.decision
    let placement = try decision.placement(request.placement)
    try decision.requireOnTop(placement.id)
    let screen = await gallery.state
    let shown = try await shown(placement)
    let view = (screen.colorScheme == .dark ? shown.dark : nil) ?? shown.light ?? .empty
    switch try decision.touch(request, on: placement, view, isLocked: screen.isLocked) {
    case .nothing(let reason): return TapWidget.Reply(outcome: "nothing happens: \(reason)")
    case .open(let url): return TapWidget.Reply(outcome: try await openApp(of: placement, url, story))
    case .perform(let intent, let values, let performer):
      let question = PerformIntent(intent: intent, values: values, placement: placement.id)
      lastTouch += 1
      let touch = lastTouch
      if let control = request.control { touched[placement.id] = (control, touch) }
      defer { leave(touch, of: placement.id) }
      return TapWidget.Reply(outcome: try await perform(question, placement, by: performer, story))
    }
  }

  /// A toggle stays in its new state until its timeline came, or did not.
  private func leave(_ touch: Int, of placement: Int) {
    Task { [timelines] in
      await timelines.whenReloaded(placement)
      if touched[placement]?.number == touch { touched[placement] = nil }
    }
  }

  /// The app is opened and told what for, as soon as it runs.
  private func openApp(of placement: Placement, _ url: String?, _ story: Story) async throws -> String {
    let app = try app(of: placement)
    await timelines.openedFromWidget(.app(configuration.device.name, app))
    let address = try await open(app, story)
    let event = OpenFromWidget(
      url: url, widgetKind: placement.kind, family: placement.family, configuration: placement.configuration)
    Task { [bus] in
      do throws(BusError) {
        try await bus.deliver(event, to: address, story: story)
      } catch {
        // The app is gone, or does not want to hear it: the journal has the refusal.
      }
    }
    return url.map { "\(app) opens with \($0)" } ?? "\(app) opens with a user activity that names \(placement.kind)"
  }

  private func app(of placement: Placement) throws(BusError) -> String {
    guard let app = gallery.decision.app(of: placement.bundle) else {
      throw BusError(.noSuchApp, "\(placement.bundle) belongs to no app of this device")
    }
    return app
  }

  /// Source: "Adding interactivity to widgets": in the extension, or in the app where the intent opens it or needs it;
  /// whatever it came to, the widget has a new timeline, which costs nothing.
  private func perform(
    _ question: PerformIntent, _ placement: Placement, by who: Touch.Performer, _ story: Story
  ) async throws -> String {
    let performer: Address
    switch who {
    case .widgetExtension: performer = .widgetExtension(configuration.device.name, placement.bundle)
    case .app: performer = .app(configuration.device.name, try app(of: placement))
    case .openApp: performer = try await open(try app(of: placement), story)
    }
    // One that is opened is kept awake by the person in front of it.
    if who != .openApp { await launcher.want(performer, because: .interaction) }
    if let failure = await launcher.launchOutcome(of: performer, within: configuration.settings.timelineDeadline) {
      if who != .openApp { await launcher.release(performer, because: .interaction) }
      throw failure
    }
    // By one life: one that ends over it would have the next one end over it too.
    let asked = Task { [bus] in
      _ = try await bus.request(question, to: performer, story: story, within: .seconds(30), whenUnreachable: .wait)
    }
    performing[performer, default: []].insert(asked)
    let result = await asked.result
    performing[performer]?.remove(asked)
    let outcome: String
    switch result {
    case .success: outcome = "\(question.intent) was performed by \(performer.short)"
    case .failure where asked.isCancelled:
      outcome = "\(question.intent) failed: \(performer.short) ended over it; `widgetlab ps` says how"
    case .failure(let error):
      outcome = "\(question.intent) failed in \(performer.short): \((error as? BusError)?.message ?? "\(error)")"
    }
    if who != .openApp { await launcher.release(performer, because: .interaction) }
    try await timelines.reload(placement.id, because: .interaction, story)
    return outcome
  }
}
