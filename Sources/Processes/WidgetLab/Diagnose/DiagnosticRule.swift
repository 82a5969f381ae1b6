import Messages

/// Detects one mistake in the journal. A value that receives each envelope once, in order, before the record does.
protocol DiagnosticRule: Sendable {
  var description: DiagnosisDescription { get }

  /// Returns the occurrences that the envelope shows, given all earlier envelopes.
  ///
  /// - Parameter record: the state of the devices before this envelope.
  mutating func see(_ envelope: Envelope, _ record: DeviceRecord) -> [Sighting]
}

/// Thresholds beyond which valid behaviour counts as a mistake. All are ours.
struct DiagnosticThresholds: Sendable, Equatable {
  /// Maximum reloads per day that a budget pays for. Source: "40 to 70 refreshes" in Apple's *Keeping a widget up to
  /// date*.
  var reloadsPerDay = 70.0
  /// This many reloads of one kind, requested by one process within `loopSeconds`, are a loop.
  var loopCount = 6
  var loopSeconds = 60.0
  /// This many consecutive timelines with the same content, all requested by the author's code, are reported.
  var equalTimelines = 3
  /// A timeline that ended less than this many seconds ago counts as one that ends now.
  var pastSeconds = 60.0
}

/// All diagnostic rules.
enum DiagnosticTable {
  /// Returns new instances of the rules, in list order. Rules have state.
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
