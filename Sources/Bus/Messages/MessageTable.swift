// SPDX-License-Identifier: Apache-2.0
/// All message types, with the roles that may send and receive them. The broker refuses all others, and the protocol
/// page is generated from this table.
package enum MessageTable {
  static let spawned: [Role] = [.app, .widgetExtension]
  private static let standing: [Role] = [.host, .agent, .provider, .pushServer, .fleet]
  private static let speaking: [Role] = spawned + standing + [.operator, .watcher]
  private static let listening: [Role] = [.messageBus] + standing + spawned

  private static func toAll(_ destinations: [Role], from sources: [Role]) -> [Route] {
    destinations.map { Route(sources, to: $0) }
  }

  package static let all: [MessageEntry] =
    peers + processes + device + sessions + transfers + timelines + gallery + activities + pushes + fleets

  static let peers: [MessageEntry] = [
    .request(
      Hello.self, [Route(speaking, to: .messageBus)], summary: "Identifies the process instance of this connection.",
      failure: "It is sent again on the next connection."),
    .request(
      Goodbye.self, [Route(speaking, to: .messageBus)], summary: "Announces that a process leaves the bus.",
      failure: "The disconnection has the same effect."),
    .request(
      Ping.self, toAll(listening, from: [.operator, .host, .watcher]),
      summary: "Checks that a process replies, and whether it is ready.",
      failure: "The process is stopped or not connected."),
    .notice(
      RaiseSignal.self, toAll([.messageBus] + standing, from: [.operator]),
      summary: "Asks a standing process to send itself a signal."),
    .notice(
      Presence.self, toAll(speaking, from: [.messageBus]),
      summary: "A peer of the receiver connected or disconnected."),
    .notice(
      HelloRequired.self, toAll(speaking, from: [.messageBus]), summary: "The broker asks a connection for a new hello."
    ),
    .notice(
      Undelivered.self, toAll(speaking, from: [.messageBus]),
      summary: "The envelope named as cause was not forwarded: unreachable or busy. Definite."),
    .notice(
      Refused.self, toAll(speaking + [.journal], from: [.messageBus]),
      summary: "The envelope named as cause is not permitted. Definite."),
    .notice(AuthenticationFailed.self, toAll([.journal], from: [.messageBus]), summary: "A connection was rejected."),
    .request(
      RegisterInstance.self, [Route([.agent], to: .messageBus)],
      summary: "Registers the key of a process instance before it is spawned.",
      failure: "The child is not spawned."),
    .request(
      RetireInstance.self, [Route([.agent], to: .messageBus)], summary: "Ends a process instance; its key is rejected.",
      failure: "The agent sends it again."),
    .notice(BusStarted.self, toAll([.journal], from: [.messageBus]), summary: "A broker began a segment; its state."),
    .notice(
      RegistrationChanged.self, toAll([.journal], from: [.messageBus]), summary: "The registration of a peer changed."),
    .notice(
      JournalTrimmed.self, toAll([.journal], from: [.messageBus]),
      summary: "The oldest segments are removed, since the journal is over its limit."),
    .notice(
      JournalResumed.self, toAll([.journal], from: [.messageBus]),
      summary: "The journal is written again after a failure, such as a full disk."),
    .notice(
      BusStrained.self, toAll([.journal], from: [.messageBus]),
      summary: "The broker has no descriptors for more connections, or has enough again."),
    .notice(
      PeerDisconnected.self, toAll([.journal], from: [.messageBus]),
      summary: "A connection was closed after repeated malformed frames."),
    .notice(
      BodyRefused.self, toAll([.journal], from: speaking + [.messageBus]),
      summary: "The body of the notice named as cause does not match its message type, or is too long to be sent."),
    .request(
      BusStatus.self, [Route([.operator, .host], to: .messageBus)], summary: "Lists the broker's registrations.",
      failure: "Nothing changed; retry."),
    .request(
      RegisterKey.self, [Route(standing + [.operator], to: .messageBus)],
      summary: "Registers the sender's next standing key, before it is used.",
      failure: "Send it again: the same key is registered once."),
    .request(
      RenewKey.self, [.host, .agent, .pushServer].map { Route([.operator], to: $0) },
      summary: "Asks a process to create, register and use a new standing key.",
      failure: "When indefinite, the key may have been renewed; a retry completes this renewal or starts another."),
    .request(
      ListKeys.self, [Route([.operator], to: .messageBus)], summary: "Lists the standing keys that the broker accepts.",
      failure: "Nothing changed; retry."),
    .notice(
      KeyChanged.self, toAll([.journal], from: [.messageBus]),
      summary: "A standing key was registered, used for the first time, or revoked."),
  ]

  static let processes: [MessageEntry] = [
    .request(
      SpawnProcess.self, [Route([.host], to: .agent)], summary: "Starts a process in the agent's container.",
      failure: "When indefinite, the agent's list shows whether it runs."),
    .request(
      SignalProcess.self, [Route([.host, .operator], to: .agent)],
      summary: "Sends a signal to one instance of a child.",
      failure: "When indefinite, the exit or the list shows the result."),
    .request(
      ListProcesses.self, [Route([.host, .operator], to: .agent)], summary: "Lists the agent's children.",
      failure: "Nothing changed; retry."),
    .event(AgentStarted.self, [Route([.agent], to: .host)], summary: "An agent is present, with these children."),
    .event(ProcessExited.self, [Route([.agent], to: .host)], summary: "A child exited, with its code or signal."),
    .event(
      MemoryExceeded.self, [Route([.agent], to: .host)],
      summary: "A child exceeds its memory limit; the host evicts it."
    ),
    .event(
      LocksHeld.self, [Route([.agent], to: .host)],
      summary: "A suspended child holds locks on files of an app group; the host ends it."),
    .notice(ProcessStarted.self, [Route([.agent], to: .journal)], summary: "A child was started."),
    .notice(
      LeftOutCode.self, [Route([.agent], to: .journal)],
      summary: "The sources of an executable have code that is compiled for a phone and not here."),
    .notice(
      ProcessOutput.self, [Route([.agent], to: .journal)], summary: "A line of a child's standard output or error."),
    .notice(ProcessState.self, [Route([.host], to: .journal)], summary: "The host's view of a process changed."),
    .request(
      ProcessReady.self, [Route(spawned, to: .host)], summary: "The author's code is loaded and can be called.",
      failure: "Sent again when the host is present."),
    .event(
      HoldProcess.self, [Route(spawned, to: .host)],
      summary: "The author's code has a background task, ended it, or did not end it in time."),
    .request(
      OpenApp.self, [Route([.operator], to: .host)], summary: "The user opens the containing app.",
      failure: "It is not open."),
    .event(AppActivation.self, [Route([.host], to: .app)], summary: "The app entered or left the foreground."),
    .notice(
      DeviceEventNotice.self, [Route([.host], to: .app)],
      summary: "The device was locked or unlocked, or its time changed."),
    .request(
      AwaitLaunch.self, [Route([.operator], to: .host)],
      summary: "Waits until the current launches are over, and returns their failures.",
      failure: "Nothing changed; retry."),
    .request(
      DeviceStatus.self, [Route([.operator], to: .host)], summary: "Returns the device's processes and sessions.",
      failure: "Nothing changed; retry."),
  ]

  static let sessions: [MessageEntry] = [
    .request(
      OpenSession.self, [Route(spawned, to: .host)], summary: "A session object was created in this process.",
      failure: "Sent again when the host is present."),
    .request(
      CloseSession.self, [Route(spawned, to: .host)], summary: "A session object was invalidated.",
      failure: "The exit of the process has the same effect."),
    .event(
      SessionEvents.self, toAll(spawned, from: [.host]),
      summary:
        "The outcomes of a session's tasks, or their numbers and a file; acknowledged after the handler's completion "
        + "ran."),
    .event(
      SessionTaken.self, toAll(spawned, from: [.host]),
      summary: "Another process connected to the session while the receiver was suspended."),
    .notice(
      ExpireEvents.self, toAll(spawned, from: [.host]), summary: "The time to handle a session's events is running out."
    ),
    .notice(
      HandlerCalled.self, [Route(spawned, to: .journal)], summary: "Recorded before the author's handler is called."),
    .notice(
      DelegateCalled.self, [Route(spawned, to: .journal)],
      summary:
        "Recorded when a delegate method has returned, with size and SHA-256 of a file as the process got it; the "
        + "finish is recorded before it is called."),
    .notice(CompletionCalled.self, [Route(spawned, to: .journal)], summary: "The author called a completion."),
    .notice(
      SessionUnclaimed.self, toAll([.journal], from: [.host]),
      summary: "The owner cannot handle a session's events; they are kept until a process creates the session."),
    .notice(
      SessionAcknowledged.self, [Route([.host], to: .journal)],
      summary: "The host discarded a session's events, of these tasks."
    ),
  ]

  static let transfers: [MessageEntry] = [
    .request(
      CreateTransfer.self, [Route(spawned, to: .host)],
      summary: "resume(): the reply follows when the task is on disk.",
      failure: "The task fails with -997; when indefinite, it may still run, once."),
    .request(
      CancelTransfer.self, [Route(spawned, to: .host)], summary: "cancel() of a task.",
      failure: "The task continues."),
    .request(
      ChangeTransfer.self, [Route(spawned, to: .host)], summary: "suspend(), a second resume(), a description, a date.",
      failure: "The task continues unchanged."),
    .notice(TransferCounted.self, toAll(spawned, from: [.host]), summary: "The progress of a task."),
    .request(
      BeginDelayedRequest.self, toAll(spawned, from: [.host]),
      summary: "willBeginDelayedRequest of a task with a date.",
      failure: "The original request is sent."),
    .request(
      AnswerChallenge.self, toAll(spawned, from: [.host]),
      summary: "A server requests credentials or a trust evaluation.",
      failure: "Sent again to the next process instance."),
    .notice(TransferProgress.self, [Route([.host], to: .journal)], summary: "A transfer changed its state."),
    .notice(
      LimiterChanged.self, [Route([.host], to: .journal)], summary: "The resume rate limiter of an owner changed."),
  ]

  static let device: [MessageEntry] = [
    .request(
      SetNetwork.self, [Route([.operator], to: .host)], summary: "The user changes the device's network.",
      failure: "When indefinite, list the sessions: the reply has the network."),
    .request(
      MoveDevice.self, [Route([.operator], to: .host)],
      summary: "The device moved far: widgets that use the location are reloaded when they are visible.",
      failure: "When indefinite, a retry is safe."),
    .notice(NetworkChanged.self, toAll(spawned + [.journal], from: [.host]), summary: "The state of the network."),
    .request(
      ChangeSetting.self, [Route([.operator], to: .host)],
      summary: "The user reads or changes a setting of the device.",
      failure: "When indefinite, read the settings."),
    .notice(SettingChanged.self, toAll(spawned + [.journal], from: [.host]), summary: "The settings of the device."),
    .request(
      SetClock.self, [Route([.operator], to: .host)],
      summary: "The user holds, resumes or advances the device's clock.",
      failure: "When indefinite, read the clock before advancing it again."),
    .notice(
      ClockChanged.self, [Route([.host], to: .journal)], summary: "The device's clock was held, resumed or advanced."),
    .request(
      ForceQuitApp.self, [Route([.operator], to: .host)],
      summary: "The user force quits the app; its transfers are cancelled.",
      failure: "A retry completes it."),
    .request(
      UpdateApp.self, [Route([.operator], to: .host)], summary: "The app is updated; its containers get another path.",
      failure: "A retry updates it once more."),
    .request(
      ReadDefaults.self, [Route([.operator], to: .host)], summary: "Reads the user defaults of apps and extensions.",
      failure: "Nothing changed; retry."),
    .request(
      WriteDefaults.self, [Route([.operator], to: .host)],
      summary: "Changes the user defaults of an app or an extension.",
      failure: "When indefinite, a retry is safe."),
    .notice(
      DefaultsChanged.self, [Route(spawned, to: .journal)], summary: "The author's code changed its user defaults."),
    .request(
      ListSessions.self, [Route([.operator], to: .host)], summary: "Lists the sessions with their tasks, in pages.",
      failure: "Nothing changed; retry."),
  ]

  static let timelines: [MessageEntry] = [
    .event(
      ReloadTimelines.self, [Route(spawned + [.operator], to: .host)],
      summary: "Requests new timelines of a kind, or of all."),
    .request(
      RequestTimeline.self, [Route([.host], to: .widgetExtension)],
      summary: "Asks the extension for a widget's timeline, snapshot or placeholder, or for a control's value.",
      failure: "The last timeline stays."),
    .request(
      CallClosures.self, [Route([.host], to: .widgetExtension)],
      summary: "Asks the extension to call closures of its views again, with the sizes that the layout found.",
      failure: "The views keep the sizes that the extension assumed."),
    .request(
      TakeSnapshot.self, [Route([.operator], to: .host)], summary: "Returns a widget's snapshot, as for the gallery.",
      failure: "Nothing changed; retry."),
    .request(
      ArchiveWidget.self, [Route([.operator], to: .host)],
      summary: "Returns the views of a widget in an environment, for pictures.",
      failure: "Nothing changed; retry."),
    .notice(TimelineStored.self, [Route([.host], to: .journal)], summary: "A timeline was stored."),
    .notice(EntryShown.self, [Route([.host], to: .journal)], summary: "An entry was put on the screen."),
    .notice(ReloadFailed.self, [Route([.host], to: .journal)], summary: "A reload failed."),
    .notice(
      BudgetDecided.self, [Route([.host], to: .journal)],
      summary: "The budget's decision on a reload, with its rule and what the policy allows."),
    .request(
      ListBudget.self, [Route([.operator], to: .host)],
      summary: "Lists the budget of each placement and the ledger, in pages.",
      failure: "Nothing changed; retry."),
    .notice(
      FaultNoticed.self, [Route(spawned + [.host], to: .journal)],
      summary:
        "A fault in the author's code that only the author's process can detect, or stored work that the host sets "
        + "aside."),
  ]

  static let gallery: [MessageEntry] = [
    .request(
      ListGallery.self, [Route([.operator], to: .host)],
      summary: "Lists which widgets can be placed where, and why not.",
      failure: "Nothing changed; retry."),
    .request(
      AddPlacement.self, [Route([.operator], to: .host)], summary: "The user places a widget.",
      failure: "When indefinite, the screen shows whether it was placed."),
    .request(
      EditPlacement.self, [Route([.operator], to: .host)], summary: "The user edits a widget's configuration.",
      failure: "A retry completes it."),
    .request(
      RemovePlacement.self, [Route([.operator], to: .host)], summary: "The user removes a widget.",
      failure: "A retry removes it, or fails with no-such-placement."),
    .notice(
      PlacementChanged.self, [Route([.host], to: .journal)], summary: "A widget was placed, edited or removed."),
    .request(
      TurnStack.self, [Route([.operator], to: .host)], summary: "The user rotates a stack of widgets.",
      failure: "A retry is safe."),
    .notice(StackTurned.self, [Route([.host], to: .journal)], summary: "Another widget of a stack is on top."),
    .request(
      ListPlacements.self, [Route(spawned, to: .host)], summary: "WidgetCenter.currentConfigurations().",
      failure: "The author's call throws."),
    .request(
      ShowScreen.self, [Route([.operator], to: .host)], summary: "Shows one of the device's screens.",
      failure: "Nothing changed; retry."),
    .request(
      ReadImage.self, [Route([.operator], to: .host)], summary: "Reads a piece of an image of the stored timelines.",
      failure: "Nothing changed; retry."),
    .request(
      ChangeScreen.self, [Route([.operator], to: .host)],
      summary: "The user locks, unlocks or looks at the device, leaves the app, or changes a system setting.",
      failure: "A retry is safe."),
    .notice(
      ScreenChanged.self, [Route([.host], to: .journal)], summary: "The device was locked, unlocked or looked at."),
    .request(
      TapWidget.self, [Route([.operator], to: .host)], summary: "The user taps a widget.",
      failure: "When indefinite, the action may have been started."),
    .request(
      DescribeIntent.self, [Route([.host], to: .widgetExtension)],
      summary:
        "The user configures a widget: returns the options from the author's queries, given the values chosen so far.",
      failure: "Nothing is changed, and the user gets an error."),
    .request(
      PerformIntent.self, toAll(spawned, from: [.host]),
      summary:
        "Performs the intent of a control, or of a button or toggle of a widget or Live Activity: returns what its result "
        + "opens.",
      failure: "The toggle reverts."),
    .event(OpenFromWidget.self, [Route([.host], to: .app)], summary: "The app was opened from a widget."),
  ]

  static let pushes: [MessageEntry] = [
    .request(
      IssueToken.self, [Route([.host], to: .pushServer)], summary: "The device requests a device token.",
      failure: "A retry returns the same token."),
    .request(
      ReleaseToken.self, [Route([.host], to: .pushServer)], summary: "The device accepts no more pushes for a token.",
      failure: "A retry is safe."),
    .event(
      TokenReplaced.self, [Route([.pushServer], to: .host)], summary: "A token was replaced, or is no longer active."),
    .event(DeviceReach.self, [Route([.host], to: .pushServer)], summary: "Whether the device is reachable."),
    .event(
      DeliverPush.self, [Route([.pushServer], to: .host)], summary: "A notification; acknowledged when it is on disk."),
    .event(
      PushProgress.self, [Route([.host], to: .pushServer)], summary: "The progress of a notification on the device."),
    .notice(
      ReplicaReadiness.self, [Route([.pushServer], to: .messageBus)],
      summary: "A replica of the push server has lost its database, or has it again."),
    .notice(
      PushLogged.self, [Route([.pushServer], to: .journal)],
      summary: "A line of the delivery log, and how many before it are not in the journal."),
    .notice(TokenChanged.self, [Route([.pushServer], to: .journal)], summary: "A device token changed its state."),
    .request(
      SendPush.self, [Route([.operator], to: .pushServer)], summary: "Sends a notification as Apple's console does.",
      failure: "When indefinite, the delivery log shows whether it was accepted."),
    .request(
      ListPushes.self, [Route([.operator], to: .pushServer)], summary: "Lists the delivery log, in pages.",
      failure: "Nothing changed; retry."),
    .request(
      ListTokens.self, [Route([.operator], to: .pushServer)], summary: "Lists the device tokens.",
      failure: "Nothing changed; retry."),
    .request(
      ChangeToken.self, [Route([.operator], to: .pushServer)],
      summary: "Replaces, expires or unregisters a device token.",
      failure: "When indefinite, the tokens show whether it was done."),
    .request(
      OverrideResponses.self, [Route([.operator], to: .pushServer)],
      summary: "Makes the push server send something else than the regular response.", failure: "No override is set."),
    .request(
      SetPower.self, [Route([.operator], to: .host)], summary: "Puts the device to sleep, or wakes it.",
      failure: "A retry is safe."),
    .request(
      TellPushHandlers.self, [Route([.host], to: .widgetExtension)],
      summary: "Calls the extension's push handlers with the token and the placed widgets.",
      failure: "They are called again in the next process instance."),
    .request(
      TellControlPushHandlers.self, [Route([.host], to: .widgetExtension)],
      summary: "Calls the extension's push handlers with the placed controls and their tokens.",
      failure: "They are called again in the next process instance."),
    .notice(
      PushWithheld.self, [Route([.host], to: .journal)], summary: "A process that needs a device token gets none."),
    .request(
      AskPushInfo.self, [Route(spawned, to: .host)],
      summary: "WidgetCenter.currentPushInfo, and the tokens of ControlCenter.currentControls().",
      failure: "The author's call returns nil, or throws."),
    .request(
      AskNotificationAccess.self, [Route(spawned, to: .host)],
      summary: "The app asks for permission to show notifications, or a process reads it.",
      failure: "The author's call throws, or returns that nothing is determined."),
    .request(
      RegisterForPushes.self, [Route([.app], to: .host)],
      summary: "registerForRemoteNotifications(), and the opposite.",
      failure: "The delegate's failure method is called."),
    .event(AppTokenChanged.self, [Route([.host], to: .app)], summary: "The app's device token changed."),
    .request(
      ReceiveNotification.self, [Route([.host], to: .app)],
      summary: "A notification for the app's delegate; the reply follows the author's completion.",
      failure: "It is sent again to the next process instance."),
  ]

  /// The position of a message type in the table: an entry, or the reply to one.
  /// Where a message type is in the table. It is small, because each process has all of them in memory.
  private struct Position {
    /// The index in `all`.
    let index: UInt8
    let answer: Kind.Answer?

    var entry: MessageEntry { all[Int(index)] }
  }

  /// All message types that may be sent, replies included, for one lookup per envelope.
  private static let positions: [Kind: Position] = {
    var positions: [Kind: Position] = [:]
    for (index, entry) in all.enumerated() {
      positions[entry.kind] = Position(index: UInt8(index), answer: nil)
      for answer in entry.style.answers {
        positions[entry.kind.answered(answer)] = Position(index: UInt8(index), answer: answer)
      }
    }
    return positions
  }()

  /// The entry of a message type, or of the type that it replies to.
  package static subscript(kind: Kind) -> MessageEntry? { (positions[kind] ?? positions[kind.questionKind])?.entry }

  /// Why an envelope must not be forwarded; `nil` when it may be.
  package static func refusal(of header: EnvelopeHeader) -> String? {
    guard let position = positions[header.kind] else { return "not-in-table" }
    let (asker, asked) =
      position.answer == nil ? (header.source, header.destination) : (header.destination, header.source)
    guard position.entry.routes.contains(where: { $0.destination == asked.role && $0.sources.contains(asker.role) })
    else {
      return "not-in-table"
    }
    return asker.isOnAnotherDevice(than: asked) ? "other-device" : nil
  }
}

extension MessageStyle {
  /// How an envelope of this style can be answered.
  package var answers: [Kind.Answer] {
    switch self {
    case .request: [.ok, .failed]
    case .notice: []
    case .event: [.acknowledged, .failed]
    }
  }
}

extension MessageTable {
  static let activities: [MessageEntry] = [
    .request(
      RequestActivity.self, [Route([.app, .operator], to: .host)],
      summary: "Activity.request(attributes:content:pushType:).",
      failure: "The author's call throws; when indefinite, a retry with the same id is safe."),
    .request(
      ChangeActivity.self, [Route(spawned + [.operator], to: .host)],
      summary: "Updates, ends or dismisses a Live Activity.", failure: "When indefinite, a retry is safe."),
    .request(
      ListActivities.self, [Route(spawned + [.operator], to: .host)],
      summary: "Returns the Live Activities of an app; the sender receives changes from then on.",
      failure: "Nothing changed; retry."),
    .request(
      AllowActivities.self, [Route([.operator], to: .host)],
      summary: "The user allows or forbids an app's Live Activities.",
      failure: "A retry is safe."),
    .request(
      TapActivity.self, [Route([.operator], to: .host)], summary: "The user taps a Live Activity.",
      failure: "When indefinite, the action may have been started."),
    .event(
      ActivitiesChanged.self, toAll(spawned, from: [.host]),
      summary: "The Live Activities or the tokens of an app changed."),
    .request(
      ArchiveActivity.self, [Route([.host], to: .widgetExtension)],
      summary: "Asks the extension for the views of a Live Activity.", failure: "The last views stay."),
    .notice(
      ActivityMoved.self, [Route([.host], to: .journal)],
      summary: "A Live Activity started, changed, became stale, ended or was dismissed."),
  ]
}

extension MessageTable {
  static let fleets: [MessageEntry] = [
    .request(
      JoinFleet.self, [Route([.fleet], to: .pushServer)],
      summary: "A fleet joins, and gets the secret of its device tokens.",
      failure: "A retry is safe; fleet-exists: another fleet has this name."),
    .request(
      ChangeFleetTokens.self, [Route([.fleet], to: .pushServer)],
      summary: "Issues or ends device tokens of many devices.",
      failure: "A retry is safe."),
    .event(FleetReach.self, [Route([.fleet], to: .pushServer)], summary: "Which devices of a fleet are reachable."),
    .request(
      DeliverToFleet.self, [Route([.pushServer], to: .fleet)],
      summary: "Notifications for devices of a fleet; the reply follows when they are on disk.",
      failure: "They are sent again, and recognised by their ids."),
    .request(
      CountFleetPushes.self, [Route([.fleet, .operator], to: .pushServer)],
      summary: "Counts the requests about devices of a fleet by result, and its device tokens.",
      failure: "Nothing changed; retry."),
    .request(
      FleetStatus.self, [Route([.operator], to: .fleet)], summary: "Returns the state and the figures of a fleet.",
      failure: "Nothing changed; retry."),
    .request(
      ListFleetDevices.self, [Route([.operator], to: .fleet)],
      summary: "Lists devices of a fleet with their tokens, in pages.",
      failure: "Nothing changed; retry."),
    .request(
      SetFleetNetwork.self, [Route([.operator], to: .fleet)],
      summary: "Takes the network from all devices of a fleet, or gives it back.", failure: "A retry is safe."),
  ]
}
