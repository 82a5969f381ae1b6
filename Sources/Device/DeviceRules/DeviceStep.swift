// SPDX-License-Identifier: Apache-2.0

package import Archive
package import Foundation
package import Messages

/// What happens to the device.
package enum DeviceEvent: Sendable {
  case launching(LaunchStateMachine.Event)
  case apps(AppLifecycleStateMachine.Event)
  case conditions(DeviceConditionsStateMachine.Event)
  case settings(DeviceSettingsStateMachine.Event)
  case loading(LoadingStateMachine.Event)
  case delivery(DeliveryStateMachine.Event)
  case timelines(TimelineStateMachine.Event)
  case tokens(TokenStateMachine.Event)
  /// They are handled together: a newer push replaces an older one of the same step.
  case notifications([NotificationStateMachine.Event])
  case gallery(GalleryEvent)
  case activities(ActivityEvent)
  /// What a concern outside of the value asks of one in it.
  case asked(DeviceRequest)
  /// What the events of a session, or a question about a task, need from the owner.
  case ownerProcess(ProcessAction)
  /// A process instance reported ready, or was resumed.
  case runs(Address, generation: UInt32)
  /// An instance runs, also if its resumption has not been reported yet.
  case resumed(Address, generation: UInt32)
  /// An app entered or left the foreground.
  case front(app: Address, Bool)
  /// The owner is to be asked about these tasks before they begin, or about a challenge.
  case questions(owner: Address, Bool)
  /// These sessions end: no process is launched for them.
  case quit(app: Address, [SessionKey])
  /// The widgets of each extension, by its bundle identifier. `dropsRemoved`: pushes do not wait for others any longer. At
  /// the start of a host they get their results first.
  case pushWidgets([String: PushWidgets], dropsRemoved: Bool = true)
  /// These products must not run, and are not launched before `launchesAllowed`.
  case launchesPrevented([Address], why: String)
  case launchesAllowed([Address])
  /// The date of `nextInstant` has been reached.
  case timerFired
}

/// What follows on the outside, in order. Of the actions of a state machine, `output` and `process` are resolved within the
/// step.
package enum DeviceAction: Sendable {
  case launching(LaunchStateMachine.Action)
  case apps(AppLifecycleStateMachine.Action)
  case conditions(DeviceConditionsStateMachine.Action)
  case settings(DeviceSettingsStateMachine.Action)
  case loading(LoadingStateMachine.Action)
  case delivery(DeliveryStateMachine.Action)
  case timelines(TimelineStateMachine.Action)
  case tokens(TokenStateMachine.Action)
  case notifications(NotificationStateMachine.Action)
  case gallery(GalleryAction)
  case activities(ActivityAction)
  /// The owner runs: ask it about its tasks and challenges.
  case ask(owner: Address, woken: Bool)
  /// The owner lost a session to another process of its app.
  case sessionTaken(SessionTaken, SessionKey)
  /// End the tasks of an app that the user force-quit.
  case endTasks([TaskKey], of: Address)
  /// An instance has ended: stop the calls to it, and remove the copies of these deliveries.
  case instanceEnded(Address, deliveries: [UUID])
  case network(NetworkState)
}

/// What one event changed, and what follows.
package struct DeviceStep: Sendable {
  /// The state machines that handled an event, and whose changes must be written.
  package internal(set) var changed: Set<DeviceConcern> = []
  package internal(set) var actions: [DeviceAction] = []
  /// What one concern asked of another, in order. All of it is resolved.
  package internal(set) var asked: [DeviceRequest] = []
  /// The reply to the event, for one that has a reply.
  package internal(set) var reply: Result<DeviceReply, BusError>?
}

/// What happens in the gallery and on the screen.
package enum GalleryEvent: Sendable {
  /// The device has these extensions and apps, and no others: what belongs to another one is removed, as by an update of
  /// its app without it.
  case keep(extensions: Set<String>, apps: Set<String>)
  /// The host starts: it may have exited after a placement, or its removal, and before its timeline.
  case began
  /// An extension is ready and has these widgets.
  case learned(Address, [WidgetDeclaration], MessageContext)
  case add(AddPlacement, offer: IntentDeclaration?, MessageContext)
  case edit(EditPlacement, offer: IntentDeclaration?, MessageContext)
  case remove(Int, MessageContext)
  /// The user turns a stack to one of its widgets.
  case turn(to: Int, MessageContext)
  case screen(ChangeScreen.Change, MessageContext)
  /// An app comes to the foreground of the screen.
  case open(app: String, MessageContext)
  /// The relevance of a widget changed.
  case turnStacks
}

/// What follows from an event of the gallery or the screen.
package enum GalleryAction: Sendable {
  /// The first three are recorded in the journal.
  case placement(PlacementChanged, MessageContext)
  case turned(StackTurned, MessageContext)
  case screen(ScreenChanged, MessageContext)
  /// The widgets of the extension are placed.
  case learned(Address)
}

/// What happens to Live Activities.
package enum ActivityEvent: Sendable {
  /// The host starts.
  case advance
  case request(RequestActivity, app: String, because: ActivityMoved.Cause, MessageContext)
  /// - Parameter app: the app whose activity it must be; `nil`: of any.
  case change(ChangeActivity, of: String?, because: ActivityMoved.Cause, MessageContext)
  case allow(AllowActivities, MessageContext)
  /// An extension is ready and shows these types of attributes.
  case declared(bundle: String, [ActivityDeclaration])
  /// The views of a version are stored, or the reason why they cannot be made.
  case archived(Int, version: Int, note: String?, text: [String])
}

/// What follows from an event of Live Activities.
package enum ActivityAction: Sendable {
  /// Record it in the journal.
  case moved(ActivityMoved, MessageContext)
  /// Tell the processes of the app, and archive what is new.
  case changed(MessageContext)
  /// A push started an activity of this app, which must receive its token.
  case started(app: String)
}

/// The reply to an event of the gallery, the screen or Live Activities.
package enum DeviceReply: Sendable {
  case done
  case placements([Placement])
  case placed(PlacementReport)
  case turned(TurnStack.Reply)
  case screen(DeviceScreen)
  case activities(AppActivities)
}

/// What the device is, for as long as a host runs.
package struct DeviceFacts: Sendable {
  /// Its name.
  package var device = ""
  /// Its extensions, and whether the data protection of each requires an unlocked device.
  package var extensions: [Address: Bool] = [:]
  /// Whether a widget push also reloads widgets without a push handler.
  package var pushReloadsAllWidgets = false
  /// Whether a process is launched or resumed for the events of sessions.
  package var launchesForEvents = true

  package init() {}
}

/// A state machine of the device.
package enum DeviceConcern: Sendable {
  case launching, apps, conditions, settings, loading, delivery, timelines, tokens, notifications, gallery, screen,
    activities
}

/// What one concern asks of another.
package enum DeviceRequest: Sendable, Equatable {
  case launch(LaunchOutput)
  case process(ProcessAction)
  case app(AppLifecycleOutput)
  case conditions(DeviceConditionsOutput)
  case timelines(TimelineOutput)
  case report(PlacementReloadReport)
  case push(PushOutput)
}
