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
    let screen = await gallery.state
    let shown = try await shown(placement)
    let view = (screen.colorScheme == .dark ? shown.dark : nil) ?? shown.light ?? .empty
    switch try decision.touch(request, on: placement, view, isLocked: screen.isLocked) {
    case .nothing(let reason): return TapWidget.Reply(outcome: "nothing happens: \(reason)")
    case .open(let url): return TapWidget.Reply(outcome: try await openApp(of: placement, url, story))
    case .perform(let intent, let values, let inApp):
      let question = PerformIntent(intent: intent, values: values, placement: placement.id)
      return TapWidget.Reply(outcome: try await perform(question, placement, inApp: inApp, story))
    }
  }

  /// The app is opened and told what for, as soon as it runs.
  private func openApp(of placement: Placement, _ url: String?, _ story: Story) async throws -> String {
    guard let app = gallery.decision.app(of: placement.bundle) else {
      throw BusError(.noSuchApp, "\(placement.bundle) belongs to no app of this device")
    }
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

  /// Source: "Adding interactivity to widgets": in the extension, or in the app where the intent opens it; whatever it came
  /// to, the widget has a new timeline, which costs nothing.
  private func perform(
    _ question: PerformIntent, _ placement: Placement, inApp: Bool, _ story: Story
  ) async throws -> String {
    let performer: Address
    if inApp, let app = gallery.decision.app(of: placement.bundle) {
      performer = try await open(app, story)
    } else {
      performer = .widgetExtension(configuration.device.name, placement.bundle)
      await launcher.want(performer, because: Assertion("interaction"))
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
    if performer.role == .widgetExtension {
      await launcher.release(performer, because: Assertion("interaction"))
    }
    try await timelines.reload(placement.id, because: .interaction, story)
    return outcome
  }
}
