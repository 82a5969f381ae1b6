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
  /// The owner is to be asked about these tasks before they begin, or about a challenge.
  case questions(owner: Address, Bool)
  /// These sessions end: no process is launched for them.
  case quit(app: Address, [SessionKey])
  /// The widgets of each extension, by its bundle identifier. `dropsRemoved`: pushes do not wait for others any longer. At
  /// the start of a host they get their results first.
  case pushWidgets([String: PushWidgets], dropsRemoved: Bool = true)
  /// The date of `nextInstant` has been reached.
  case timerFired
}

/// What follows on the outside, in order. Of the actions of a state machine, `asks` is resolved within the step.
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
  /// The owner runs: ask it about its tasks and challenges. `woken`: the system launched or resumed it for its sessions.
  case ask(owner: Address, woken: Bool)
  /// The owner lost a session to another process of its app.
  case sessionTaken(SessionTaken, SessionKey)
  /// End the tasks of an app that the user force-quit.
  case endTasks([TaskKey], of: Address)
  /// An instance has ended: stop the calls to it, and remove the copies of these deliveries.
  case instanceEnded(Address, deliveries: [UUID])
  case network(NetworkState)
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
  /// - Parameter isUndecodable: whether the extension cannot decode the attributes or the content.
  case archived(Int, version: Int, note: String?, isUndecodable: Bool, text: [String])
}

/// What follows from an event of Live Activities.
package enum ActivityAction: Sendable {
  /// Record it in the journal.
  case moved(ActivityMoved, MessageContext)
  /// Tell the processes of the app, and archive what is new.
  case changed(MessageContext)
  /// A push started an activity of this app, or the user allowed one: the app must receive its token.
  case started(app: String)
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

/// What one concern asks of another. It is resolved in the same step, in the order of the requests.
package enum DeviceRequest: Sendable, Equatable {
  case process(ProcessAction)
  /// The process runs and can receive messages. `woken`: it was launched or resumed a moment ago, for whatever reason.
  /// `because`: it ran when it was wanted for this, and keeps running until the release.
  case awake(Address, ProcessInstance, woken: Bool, because: Assertion? = nil)
  /// The process was stopped and still exists.
  case suspended(Address, ProcessInstance)
  /// The instance has ended.
  case ended(Address, ProcessInstance, Ending)
  /// The process does not run, and is not launched before `allowLaunches`. Asked by the device itself.
  case launchesPrevented(Address)
  /// Cancel the transfers of an app that the user force-quit.
  case cancelTransfers(Address)
  /// End the processes and launch none of them until `allowLaunches`. Report each that does not run.
  case preventLaunches([Address], why: String)
  case allowLaunches([Address])
  /// The network changed.
  case networkChanged(NetworkState)
  /// The user changed a setting, and the settings now. Call `announced` when its consequences are recorded; otherwise
  /// the next host repeats it.
  case settingChanged(SettingChange, DeviceSettings)
  /// The relevance of a widget has changed.
  case relevanceChanged
  /// The state of a widget push at a placement has changed.
  case reported(PlacementReloadReport)
  /// Reload these placements because of a push to widgets or a control. The push waits for the result of each.
  case reload(UUID, placements: [Int])
  /// A notification is for the app. `wakes`: also in the background. Call `expect` or `closed`.
  case offer(UUID, to: Address, wakes: Bool)
  /// A notification is for a Live Activity, or starts one. Call `closed`.
  case activity(PushedNotification)
  /// The token of a Live Activity, or one that starts Live Activities, lower-case hexadecimal; `nil` for none.
  case activityToken(TokenKey, String?)
}

/// What a service of the device needs from a process. The launch service reads the actions of all services, and decides
/// each together with the state of the process.
package enum ProcessAction: Sendable, Hashable {
  /// Run the process, report when it is awake, and keep it running until `release`.
  ///
  /// Without `mayWake`, only a process that runs now is kept running, until its instance ends. A process that does not
  /// run, is suspended or is being suspended is left as it is.
  case want(Address, because: Assertion, mayWake: Bool = true)
  /// End one assertion of the process.
  case release(Address, because: Assertion)
  /// Like `release`, and suspend the process at once, even during its work, if no other assertion keeps it running.
  case halt(Address, because: Assertion)
  /// End this instance with `SIGKILL`; `nil`: the one that runs now, if there is one. The process may be launched again.
  case evict(Address, generation: UInt32? = nil, why: String)

  /// The same action for a device that launches no process for it.
  var withoutWake: ProcessAction {
    guard case .want(let address, let assertion, _) = self else { return self }
    return .want(address, because: assertion, mayWake: false)
  }
}

/// A named reason to keep a process running and unsuspended: `timeline`, `events <session>`, `foreground`.
package struct Assertion: Hashable, Sendable, Comparable, CustomStringConvertible, ExpressibleByStringLiteral {
  package let description: String

  package init(_ text: String) { description = text }

  package init(stringLiteral text: String) { description = text }

  /// The app is in the foreground. Ends with the instance: the system does not relaunch a crashed app by itself.
  package static let foreground: Assertion = "foreground"

  /// The user touched a button or a toggle whose intent the process performs.
  package static let interaction: Assertion = "interaction"

  /// The app plays audio, gives directions or follows the device's location. Ends with the instance.
  package static let activity: Assertion = "activity"

  /// The author's code has a background task or an expiring activity. Ends with the instance.
  package static let backgroundTask: Assertion = "background task"

  private static let eventsPrefix = "events "
  private static let challengePrefix = "challenge "
  private static let beginPrefix = "begin "

  /// The events of a background session are delivered.
  package static func events(of session: String) -> Assertion { Assertion(eventsPrefix + session) }

  /// The owner of a session answers a challenge to one of its tasks.
  package static func challenge(of key: TaskKey) -> Assertion {
    Assertion("\(challengePrefix)\(key.session.identifier) \(key.identifier)")
  }

  /// The owner of a session is asked before a task begins.
  package static func begin(of session: String) -> Assertion { Assertion(beginPrefix + session) }

  /// Whether this is `events(of:)` of any session.
  var isForEvents: Bool { description.hasPrefix(Assertion.eventsPrefix) }

  /// Whether a background session needs the process.
  var isForSession: Bool {
    isForEvents || description.hasPrefix(Assertion.challengePrefix) || description.hasPrefix(Assertion.beginPrefix)
  }

  package static func < (left: Assertion, right: Assertion) -> Bool { left.description < right.description }
}

/// One process instance, as reported by the agent.
package struct ProcessInstance: Hashable, Sendable {
  package let generation: UInt32
  package let pid: Int32
  package init(generation: UInt32, pid: Int32) {
    self.generation = generation
    self.pid = pid
  }
}

extension Assertion {
  /// Assertions that end with the instance and do not relaunch the process.
  static let ofInstance: Set<Assertion> = [.foreground, .activity, .backgroundTask]
}

/// A change of a setting by the user.
package struct SettingChange: Codable, Sendable, Hashable {
  package let name: SettingName
  /// Its number among the changes of all settings.
  package let revision: Int
}
