// SPDX-License-Identifier: Apache-2.0

import Archive
import Cluster
import Device
import DeviceRules
import Foundation
import MessageBus
import Messages
import OwnedTasks

// Taps on a widget.

extension Device {
  func tap(_ request: TapWidget, _ context: MessageContext) async throws -> TapWidget.Reply {
    let stateMachine = gallery.stateMachine
    let placement = try stateMachine.placement(request.placement)
    if let refusal = stateMachine.device.refusal(of: placement.location) { throw BusError(.notNow, refusal) }
    try stateMachine.requireOnTop(placement.id)
    let screen = gallery.state
    let shown = try await shown(placement)
    var view = (screen.colorScheme == .dark ? shown.dark : nil) ?? shown.light ?? .empty
    // Nothing of it is on the screen.
    if stateMachine.lacksBackground(view, of: placement) { view = .empty }
    switch try stateMachine.touch(request, on: placement, view, isLocked: screen.isLocked) {
    case .nothing(let reason): return TapWidget.Reply(outcome: "nothing happens: \(reason)")
    case .open(let url): return TapWidget.Reply(outcome: try openApp(of: placement, url, context))
    case .perform(let intent, let values, let performer):
      let question = PerformIntent(intent: intent, values: values, placement: placement.id)
      let touch = intents.touch(request.touchedControl(of: placement), of: placement.id)
      let result: Result<TapWidget.Reply, any Error>
      do {
        result = .success(try await perform(question, placement, by: performer, context))
      } catch {
        result = .failure(error)
      }
      // A toggle stays in its new state until its timeline has arrived or failed.
      intents.keep(touch, of: placement.id) { [timelines] in await timelines.whenReloaded(placement.id) }
      return try result.get()
    }
  }

  /// Opens the app, and sends it the cause as soon as it runs.
  private func openApp(of placement: Placement, _ url: String?, _ context: MessageContext) throws -> String {
    let app = try app(of: placement)
    timelines.openedFromWidget(.app(configuration.device.name, app))
    let address = try open(app, context)
    let event = OpenFromWidget(
      url: url, widgetKind: placement.kind, family: placement.family, configuration: placement.configuration,
      intent: gallery.stateMachine.withIntent(placement).intent)
    tasks.start { [bus] in
      do throws(BusError) {
        try await bus.deliver(event, to: address, context: context)
      } catch {
        // The app has exited or refuses the event: the journal contains the refusal.
      }
    }
    return url.map { "\(app) opens with \($0)" } ?? "\(app) opens with a user activity that names \(placement.kind)"
  }

  private func app(of placement: Placement) throws(BusError) -> String {
    guard let app = gallery.stateMachine.app(of: placement.bundle) else {
      throw BusError(.noSuchApp, "\(placement.bundle) belongs to no app of this device")
    }
    return app
  }

  /// Source: "Adding interactivity to widgets": in the extension, or in the app if the intent opens it or requires it;
  /// whatever the result, the widget is reloaded for free. Then the system performs the intent that the result opens.
  ///
  /// - Parameter isOpened: whether the result of another intent opens this one.
  private func perform(
    _ question: PerformIntent, _ placement: Placement, by who: Touch.Performer, isOpened: Bool = false,
    _ context: MessageContext
  ) async throws -> TapWidget.Reply {
    let performer: Address
    switch who {
    case .widgetExtension: performer = .widgetExtension(configuration.device.name, placement.bundle)
    case .app: performer = .app(configuration.device.name, try app(of: placement))
    case .openApp: performer = try open(try app(of: placement), context)
    }
    // An app that is opened stays awake because it is in the foreground.
    if who != .openApp { launcher.want(performer, because: .interaction) }
    if let failure = await launcher.launchOutcome(of: performer, within: configuration.settings.timelineDeadline) {
      if who != .openApp { launcher.release(performer, because: .interaction) }
      throw failure
    }
    let limit = configuration.settings.intentDeadline
    let result = await intents.perform(by: performer) { [bus] () async throws(BusError) in
      try await bus.request(question, to: performer, context: context, within: limit, whenUnreachable: .wait)
    }
    let outcome: String
    var opening: PerformIntent.Opening?
    var hasFailed = true
    switch result {
    case .performed(let reply):
      outcome = "\(question.intent) was performed by \(performer.short)"
      opening = reply.opens
      hasFailed = false
    case .interrupted:
      outcome = "\(question.intent) failed: \(performer.short) exited during it; `widgetlab ps` shows how"
    case .failed(let error): outcome = "\(question.intent) failed in \(performer.short): \(error.message)"
    }
    if who != .openApp { launcher.release(performer, because: .interaction) }
    try timelines.reload(placement.id, because: .interaction, context)
    guard let opening else { return TapWidget.Reply(outcome: outcome, hasFailed: hasFailed) }
    let next = try await open(opening, of: placement, isLast: isOpened, context)
    return TapWidget.Reply(outcome: "\(outcome); \(next.outcome)", hasFailed: next.hasFailed)
  }

  /// Source: `OpensIntent`. An intent that is opened opens no third intent, so that a tap ends.
  private func open(
    _ opening: PerformIntent.Opening, of placement: Placement, isLast: Bool, _ context: MessageContext
  ) async throws -> TapWidget.Reply {
    let isLocked = gallery.state.isLocked
    switch opening {
    case .url(let url) where isLocked:
      return TapWidget.Reply(
        outcome: "\(url) is not opened: the device must be unlocked before it opens an app: run `widgetlab unlock`")
    case .url(let url): return TapWidget.Reply(outcome: try openApp(of: placement, url, context))
    case .intent(let intent, _, let opensApp, _) where isLocked && opensApp:
      return TapWidget.Reply(
        outcome: "\(intent) is not performed: it needs an unlocked device: run `widgetlab unlock`")
    case .intent(let intent, _, _, _) where isLast:
      return TapWidget.Reply(outcome: "\(intent) is not performed: an intent that was opened opens it")
    case .intent(let intent, let values, let opensApp, let runsInApp):
      let performer: Touch.Performer = opensApp ? .openApp : runsInApp ? .app : .widgetExtension
      return try await perform(
        PerformIntent(intent: intent, values: values, placement: placement.id), placement, by: performer,
        isOpened: true, context)
    }
  }
}
