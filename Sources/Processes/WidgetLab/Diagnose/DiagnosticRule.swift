import Conversations

/// How one mistake is seen in the journal. A plain value: it is shown each envelope once, in order, before the record has it.
protocol DiagnosticRule: Sendable {
  var description: DiagnosisDescription { get }

  /// What the envelope shows of the mistake, after all that was shown before.
  ///
  /// - Parameter record: what is known of the device up to the envelope before this one.
  mutating func see(_ envelope: Envelope, _ record: DeviceRecord) -> [Sighting]
}

/// From when on something that authors may well do is a mistake. All of it is ours.
struct DiagnosticThresholds: Sendable, Equatable {
  /// Reloads a day that a budget pays at most. Source: "40 to 70 refreshes" in Apple's *Keeping a widget up to date*.
  var reloadsPerDay = 70.0
  /// So many reloads of one kind, asked for by one process within `loopSeconds`, are a loop.
  var loopCount = 6
  var loopSeconds = 60.0
  /// So many timelines in a row with the same content, all asked for by the author's code, are too many.
  var equalTimelines = 3
  /// A timeline that ended less than so many seconds ago is as good as one that ends now.
  var pastSeconds = 60.0
}

/// Every mistake that is known by name.
enum DiagnosticTable {
  /// The rules, in the order in which they are listed: new ones each time, since they remember.
  static func rules(_ thresholds: DiagnosticThresholds = DiagnosticThresholds()) -> [any DiagnosticRule] {
    [
      CompletionNeverCalled(), CompletionOfOneHandlerMissing(), SessionNeverRecreated(), EventsWithoutHandler(),
      DownloadInEventsHandler(), HandlerWithoutSession(), NoticedFault(.fileReadTooLate), SameIdentifier(),
      NoticedFault(.noSharedContainer), NoPushEntitlement(),
      TimelineNeverCompleted(), NoticedFault(.timelineCompletedTwice), TimelineWithoutEntries(),
      TimelineInThePast(thresholds), UnpayableInterval(thresholds), ReloadInProvider(), ReloadLoop(thresholds),
      ReloadWithoutChange(thresholds),
      ReloadOfUnknownKind(), CrashedWhileAsked(), MemoryExceededWhileAsked(), ArchiveTooLarge(),
      NoticedFault(.kindTwice), NoticedFault(.noContainerBackground), NoticedFault(.unsupportedView),
    ]
  }

  static var descriptions: [DiagnosisDescription] { rules().map(\.description) }
}
