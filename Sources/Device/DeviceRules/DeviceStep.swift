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
  /// The widgets of each extension, by its bundle identifier.
  case pushWidgets([String: PushWidgets])
  /// These products must not run, and are not launched before `launchesAllowed`.
  case launchesPrevented([Address], why: String)
  case launchesAllowed([Address])
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
  /// The owner runs: ask it about its tasks and challenges.
  case ask(owner: Address, woken: Bool)
  /// The owner lost a session to another process of its app.
  case sessionTaken(SessionTaken, SessionKey)
  /// End the tasks of an app that the user force-quit.
  case endTasks([TaskKey], of: Address)
  /// An instance has ended: stop the calls to it, and remove the copies of these deliveries.
  case instanceEnded(Address, deliveries: [UUID])
  /// The app runs: its widgets can be placed.
  case launched(app: Address)
  case network(NetworkState)
  /// Archive the views of all Live Activities again.
  case archiveActivities
  /// The relevance of a widget has changed.
  case relevanceChanged
  /// A notification for a Live Activity. `NotificationStateMachine.Event.performed` follows.
  case activity(PushedNotification)
  case activityToken(TokenKey, String?)
}

/// What one event changed, and what follows.
package struct DeviceStep: Sendable {
  /// The state machines that handled an event, and whose changes must be written.
  package internal(set) var changed: Set<DeviceConcern> = []
  package internal(set) var actions: [DeviceAction] = []
  /// What one concern asked of another, in order. All of it is resolved.
  package internal(set) var asked: [DeviceRequest] = []
}

/// A state machine of the device.
package enum DeviceConcern: Sendable {
  case launching, apps, conditions, settings, loading, delivery, timelines, tokens, notifications
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
