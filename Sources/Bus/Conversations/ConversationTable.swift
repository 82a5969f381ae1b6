/// Every kind of envelope, with who may say it to whom. The broker refuses the rest, and the protocol page is made
/// from it.
package enum ConversationTable {
  private static let spawned: [Role] = [.app, .widgetExtension]
  private static let standing: [Role] = [.host, .agent, .provider, .pushServer]
  private static let speaking: [Role] = spawned + standing + [.operator, .watcher]
  private static let listening: [Role] = [.messageBus] + standing + spawned

  private static func toAll(_ destinations: [Role], from sources: [Role]) -> [Route] {
    destinations.map { Route(sources, to: $0) }
  }

  package static let all: [ConversationEntry] =
    peers + processes + device + sessions + transfers + timelines + gallery + pushes

  static let peers: [ConversationEntry] = [
    .request(
      Hello.self, [Route(speaking, to: .messageBus)], "Says which incarnation speaks on this connection.",
      failure: "It is said again on the next connection."),
    .request(
      Goodbye.self, [Route(speaking, to: .messageBus)], "The last word of a process that leaves.",
      failure: "The disconnection tells the same."),
    .request(
      Ping.self, toAll(listening, from: [.operator, .host, .watcher]),
      "Shows that a process answers, and whether it is ready.",
      failure: "It is stopped, or not there."),
    .notice(
      RaiseSignal.self, toAll([.messageBus] + standing, from: [.operator]),
      "Asks a standing process to send itself a signal."),
    .notice(
      Presence.self, toAll(speaking, from: [.messageBus]), "An address that the receiver talks to came or went."),
    .notice(WhoAreYou.self, toAll(speaking, from: [.messageBus]), "The broker asks a connection to say hello again."),
    .notice(
      Undelivered.self, toAll(speaking, from: [.messageBus]),
      "The envelope named as cause was not forwarded: unreachable or busy. Definite."),
    .notice(
      Refused.self, toAll(speaking + [.journal], from: [.messageBus]),
      "The envelope named as cause may not be said. Definite."),
    .notice(TurnedAway.self, toAll([.journal], from: [.messageBus]), "A connection without a known key."),
    .request(
      RegisterLife.self, [Route([.agent], to: .messageBus)],
      "Makes the key of a life known before its child is spawned.",
      failure: "The child is not spawned."),
    .request(
      RetireLife.self, [Route([.agent], to: .messageBus)], "The life is over; its key is turned away from now on.",
      failure: "The agent says it again."),
    .notice(BusStarted.self, toAll([.journal], from: [.messageBus]), "A broker began a segment; all that it knew."),
    .notice(
      RegistrationChanged.self, toAll([.journal], from: [.messageBus]), "A peer came, went, was born or retired."),
    .notice(
      JournalTrimmed.self, toAll([.journal], from: [.messageBus]),
      "The oldest segments go, since the journal is over its limit."),
    .notice(
      JournalResumed.self, toAll([.journal], from: [.messageBus]),
      "The journal could not be written, such as for a full disk, and is written again."),
    .notice(
      BusStrained.self, toAll([.journal], from: [.messageBus]),
      "The broker has no descriptors for more connections, or has some again."),
    .notice(
      PeerCutOff.self, toAll([.journal], from: [.messageBus]),
      "A connection was ended that said what is no envelope, again and again."),
    .notice(
      BodyRefused.self, toAll([.journal], from: speaking + [.messageBus]),
      "The body of the notice named as cause has not the shape of its kind, or is too long to be sent."),
    .request(
      BusStatus.self, [Route([.operator, .host], to: .messageBus)], "Whom the broker knows.",
      failure: "Ask again; nothing changed."),
    .request(
      RegisterKey.self, [Route(standing + [.operator], to: .messageBus)],
      "Makes the next standing key of the speaker known, before it is used.",
      failure: "Say it again: the same key is registered once."),
    .request(
      RenewKey.self, [.host, .agent, .pushServer].map { Route([.operator], to: $0) },
      "Asks a process to make, register and use a new standing key.",
      failure: "When indefinite, it may be renewed all the same; asked again, it makes one more or finishes this one."),
    .request(
      ListKeys.self, [Route([.operator], to: .messageBus)], "Which standing keys the broker lets in.",
      failure: "Ask again; nothing changed."),
    .notice(
      KeyChanged.self, toAll([.journal], from: [.messageBus]),
      "A standing key was registered, spoke for the first time, or is turned away from now on."),
  ]

  static let processes: [ConversationEntry] = [
    .request(
      SpawnProcess.self, [Route([.host], to: .agent)], "Starts a process in the agent's container.",
      failure: "When indefinite, the agent's list says whether it lives."),
    .request(
      SignalProcess.self, [Route([.host, .operator], to: .agent)], "Sends a signal to one life of a child.",
      failure: "When indefinite, the exit or the list tells."),
    .request(
      ListProcesses.self, [Route([.host, .operator], to: .agent)], "Which children the agent holds.",
      failure: "Ask again; nothing changed."),
    .event(AgentStarted.self, [Route([.agent], to: .host)], "An agent is there, with these children."),
    .event(ProcessExited.self, [Route([.agent], to: .host)], "A child ended, with its code or signal."),
    .event(
      MemoryExceeded.self, [Route([.agent], to: .host)], "A child has more memory than it may have; the host evicts it."
    ),
    .notice(ProcessStarted.self, [Route([.agent], to: .journal)], "A child was born."),
    .notice(ProcessOutput.self, [Route([.agent], to: .journal)], "A line of a child's standard output or error."),
    .notice(ProcessState.self, [Route([.host], to: .journal)], "The host's view of a process changed."),
    .request(
      ProcessReady.self, [Route(spawned, to: .host)], "The author's code is in place.",
      failure: "Said again when the host is there."),
    .request(
      OpenApp.self, [Route([.operator], to: .host)], "A person opens the containing app.", failure: "It is not open."),
    .event(AppActivation.self, [Route([.host], to: .app)], "The app is in front, or no longer."),
    .request(
      AwaitLaunch.self, [Route([.operator], to: .host)],
      "Asks for the failures of the launches that are under way, when they are over.",
      failure: "Ask again; nothing changed."),
    .request(
      DeviceStatus.self, [Route([.operator], to: .host)], "What the device knows of its processes and sessions.",
      failure: "Ask again; nothing changed."),
  ]

  static let sessions: [ConversationEntry] = [
    .request(
      OpenSession.self, [Route(spawned, to: .host)], "A session object was created in this process.",
      failure: "Said again when the host is there."),
    .request(
      CloseSession.self, [Route(spawned, to: .host)], "A session object became invalid.",
      failure: "The end of the process tells the same."),
    .event(
      SessionEvents.self, toAll(spawned, from: [.host]),
      "What became of tasks of a session; acknowledged after the handler's completion ran."),
    .notice(ExpireEvents.self, toAll(spawned, from: [.host]), "The time to handle a session's events is running out."),
    .notice(HandlerCalled.self, [Route(spawned, to: .journal)], "The author's handler is about to be called."),
    .notice(
      DelegateCalled.self, [Route(spawned, to: .journal)], "A delegate method returned; the finish is about to be told."
    ),
    .notice(CompletionCalled.self, [Route(spawned, to: .journal)], "The author called a completion."),
    .notice(
      SessionUnclaimed.self, toAll([.journal], from: [.host]),
      "The owner cannot take a session's events; they stay until a process creates the session."),
    .notice(SessionAcknowledged.self, [Route([.host], to: .journal)], "The host forgot a session's events."),
  ]

  static let transfers: [ConversationEntry] = [
    .request(
      CreateTransfer.self, [Route(spawned, to: .host)], "resume(): answered when the task is on disk.",
      failure: "The task fails with -997; when indefinite it may run all the same, once."),
    .request(
      CancelTransfer.self, [Route(spawned, to: .host)], "cancel() of a task.",
      failure: "The task goes on."),
    .request(
      ChangeTransfer.self, [Route(spawned, to: .host)], "suspend(), a second resume(), a description, a date.",
      failure: "The task goes on as it was."),
    .notice(TransferCounted.self, toAll(spawned, from: [.host]), "How far a task is."),
    .request(
      BeginDelayedRequest.self, toAll(spawned, from: [.host]), "willBeginDelayedRequest of a task with a date.",
      failure: "The original request goes out."),
    .request(
      AnswerChallenge.self, toAll(spawned, from: [.host]), "A server wants credentials, or its trust judged.",
      failure: "Asked again in the next life."),
    .notice(TransferProgress.self, [Route([.host], to: .journal)], "What a transfer is doing."),
    .notice(LimiterChanged.self, [Route([.host], to: .journal)], "The resume rate limiter of an owner changed."),
  ]

  static let device: [ConversationEntry] = [
    .request(
      SetNetwork.self, [Route([.operator], to: .host)], "A person changes the device's network.",
      failure: "When indefinite, ask for the sessions: they tell the network."),
    .request(
      MoveDevice.self, [Route([.operator], to: .host)],
      "The device moved far: widgets that want the location are reloaded when they are seen.",
      failure: "When indefinite, said again it costs nothing."),
    .notice(NetworkChanged.self, toAll(spawned + [.journal], from: [.host]), "How the network is."),
    .request(
      SetClock.self, [Route([.operator], to: .host)], "A person holds, lets go or advances the device's clock.",
      failure: "When indefinite, ask for the clock before it is advanced again."),
    .notice(ClockChanged.self, [Route([.host], to: .journal)], "The device's clock was held, let go or advanced."),
    .request(
      ForceQuitApp.self, [Route([.operator], to: .host)], "A person ends the app; its transfers are cancelled.",
      failure: "Said again, it does the rest."),
    .request(
      UpdateApp.self, [Route([.operator], to: .host)], "The app is replaced; its containers have another path.",
      failure: "Said again, it is updated once more."),
    .request(
      ListSessions.self, [Route([.operator], to: .host)], "Every session with its tasks, a page at a time.",
      failure: "Ask again; nothing changed."),
  ]

  static let timelines: [ConversationEntry] = [
    .event(
      ReloadTimelines.self, [Route(spawned + [.operator], to: .host)], "Asks for new timelines of a kind, or of all."),
    .request(
      RequestTimeline.self, [Route([.host], to: .widgetExtension)],
      "Asks the extension's provider for a timeline or a snapshot.",
      failure: "The last timeline stays."),
    .request(
      TakeSnapshot.self, [Route([.operator], to: .host)], "Shows a widget's snapshot, as the gallery does.",
      failure: "Ask again; nothing changed."),
    .notice(TimelineStored.self, [Route([.host], to: .journal)], "A timeline is stored."),
    .notice(EntryShown.self, [Route([.host], to: .journal)], "An entry is on the screen from now on."),
    .notice(ReloadFailed.self, [Route([.host], to: .journal)], "A reload came to nothing."),
    .notice(
      BudgetDecided.self, [Route([.host], to: .journal)], "What was decided of a reload, by which rule of the budget."),
    .request(
      ListBudget.self, [Route([.operator], to: .host)],
      "What each placement may spend, and the ledger, a page at a time.",
      failure: "Ask again; nothing changed."),
    .notice(
      FaultNoticed.self, [Route(spawned, to: .journal)],
      "What only an author's process can see of a fault in the author's code."),
  ]

  static let gallery: [ConversationEntry] = [
    .request(
      ListGallery.self, [Route([.operator], to: .host)], "What may be placed where, and what not and why.",
      failure: "Ask again; nothing changed."),
    .request(
      AddPlacement.self, [Route([.operator], to: .host)], "A person places a widget.",
      failure: "When indefinite, the screen shows whether it stands there."),
    .request(
      EditPlacement.self, [Route([.operator], to: .host)], "A person chooses something else for a widget.",
      failure: "Said again, it changes what is left of it."),
    .request(
      RemovePlacement.self, [Route([.operator], to: .host)], "A person removes a widget.",
      failure: "Said again, there is no such placement, or it is removed."),
    .notice(
      PlacementChanged.self, [Route([.host], to: .journal)], "A widget was placed, edited or removed."),
    .request(
      TurnStack.self, [Route([.operator], to: .host)], "A person turns a stack of widgets.",
      failure: "Said again, it is so."),
    .notice(StackTurned.self, [Route([.host], to: .journal)], "Another widget of a stack is on top."),
    .request(
      ListPlacements.self, [Route(spawned, to: .host)], "WidgetCenter.currentConfigurations().",
      failure: "The author's call throws."),
    .request(
      ShowScreen.self, [Route([.operator], to: .host)], "What stands on one of the device's screens.",
      failure: "Ask again; nothing changed."),
    .request(
      ChangeScreen.self, [Route([.operator], to: .host)],
      "A person locks, unlocks or looks at the device, leaves the app, or changes a setting of the system.",
      failure: "Said again, it is so."),
    .notice(ScreenChanged.self, [Route([.host], to: .journal)], "The device was locked, unlocked or looked at."),
    .request(
      TapWidget.self, [Route([.operator], to: .host)], "A person touches a widget.",
      failure: "When indefinite, what it sets going may be under way."),
    .request(
      DescribeIntent.self, [Route([.host], to: .widgetExtension)],
      "A person configures a widget: what there is to choose is asked of the author's queries.",
      failure: "Nothing is chosen, and the person is told."),
    .request(
      PerformIntent.self, toAll(spawned, from: [.host]), "A widget's button or toggle was touched.",
      failure: "The toggle goes back."),
    .event(OpenFromWidget.self, [Route([.host], to: .app)], "The app was opened from a widget."),
  ]

  static let pushes: [ConversationEntry] = [
    .request(
      IssueToken.self, [Route([.host], to: .pushServer)], "The device asks for a device token.",
      failure: "Asked again, the same one is answered."),
    .request(
      ReleaseToken.self, [Route([.host], to: .pushServer)], "The device takes no more pushes for a token.",
      failure: "Said again, it is so."),
    .event(TokenReplaced.self, [Route([.pushServer], to: .host)], "A token is another one, or no longer active."),
    .event(DeviceReach.self, [Route([.host], to: .pushServer)], "How the device can be reached."),
    .event(DeliverPush.self, [Route([.pushServer], to: .host)], "A notification; acknowledged when it is on disk."),
    .event(PushProgress.self, [Route([.host], to: .pushServer)], "What became of a notification on the device."),
    .notice(PushLogged.self, [Route([.pushServer], to: .journal)], "A line of the delivery log."),
    .notice(TokenChanged.self, [Route([.pushServer], to: .journal)], "A device token changed its state."),
    .request(
      SendPush.self, [Route([.operator], to: .pushServer)], "Sends a notification as Apple's console does.",
      failure: "When indefinite, the delivery log shows whether it was accepted."),
    .request(
      ListPushes.self, [Route([.operator], to: .pushServer)], "The delivery log, a page at a time.",
      failure: "Ask again; nothing changed."),
    .request(
      ListTokens.self, [Route([.operator], to: .pushServer)], "The device tokens.",
      failure: "Ask again; nothing changed."),
    .request(
      ChangeToken.self, [Route([.operator], to: .pushServer)], "Replaces, expires or unregisters a device token.",
      failure: "When indefinite, the tokens show whether it is done."),
    .request(
      AnswerPushes.self, [Route([.operator], to: .pushServer)],
      "Has the push server answer something other than what is due.", failure: "It answers what is due."),
    .request(
      SetPower.self, [Route([.operator], to: .host)], "The device falls asleep or wakes.",
      failure: "Said again, it is so."),
    .request(
      TellPushHandlers.self, [Route([.host], to: .widgetExtension)],
      "Calls the extension's push handlers with the token and the placed widgets.",
      failure: "They are called again in the next life."),
    .notice(PushWithheld.self, [Route([.host], to: .journal)], "A process that wants a device token gets none."),
    .request(
      AskPushInfo.self, [Route(spawned, to: .host)], "WidgetCenter.currentPushInfo.",
      failure: "The author's call gives nil."),
    .request(
      RegisterForPushes.self, [Route([.app], to: .host)], "registerForRemoteNotifications(), and its contrary.",
      failure: "The delegate is told that it failed."),
    .event(AppTokenChanged.self, [Route([.host], to: .app)], "The app's device token is another one."),
    .request(
      ReceiveNotification.self, [Route([.host], to: .app)],
      "A notification for the app's delegate; answered when the author completed.",
      failure: "It is told again in the next life."),
  ]

  /// What a kind is in the table: a line of its own, or an answer to one.
  private struct Word {
    let entry: ConversationEntry
    let answer: Kind.Answer?
  }

  /// Every kind that may be said, answers too: one look for each envelope.
  private static let words: [Kind: Word] = {
    var words: [Kind: Word] = [:]
    for entry in all {
      words[entry.kind] = Word(entry: entry, answer: nil)
      for answer in entry.style.answers { words[entry.kind.answered(answer)] = Word(entry: entry, answer: answer) }
    }
    return words
  }()

  /// The line of a kind, or of the kind that it answers.
  package static subscript(kind: Kind) -> ConversationEntry? { (words[kind] ?? words[kind.asked])?.entry }

  /// Why an envelope may not be forwarded; `nil` when it may.
  package static func refusal(of header: EnvelopeHeader) -> String? {
    guard let word = words[header.kind] else { return "not-in-table" }
    let (asker, asked) =
      word.answer == nil ? (header.source, header.destination) : (header.destination, header.source)
    guard word.entry.routes.contains(where: { $0.destination == asked.role && $0.sources.contains(asker.role) }) else {
      return "not-in-table"
    }
    return asker.isOnAnotherDevice(than: asked) ? "other-device" : nil
  }
}

extension ConversationStyle {
  /// How an envelope of this style can be answered.
  package var answers: [Kind.Answer] {
    switch self {
    case .request: [.ok, .failed]
    case .notice: []
    case .event: [.acknowledged, .failed]
    }
  }
}
