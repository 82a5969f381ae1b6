// SPDX-License-Identifier: Apache-2.0

package import Messages

/// Detects one mistake in the journal. A value that receives each envelope once, in order, before the record does.
protocol DiagnosticRule: Sendable {
  /// The description of the mistake.
  var description: DiagnosisDescription { get }

  /// Returns the occurrences that the envelope shows, given all earlier envelopes.
  ///
  /// - Parameter record: the state of the devices before this envelope.
  mutating func see(_ envelope: Envelope, _ record: DeviceRecord) -> [Sighting]
}

/// Thresholds beyond which valid behaviour counts as a mistake. All are ours.
package struct DiagnosticThresholds: Sendable, Equatable {
  /// Maximum reloads per day that a budget pays for. Source: "40 to 70 refreshes" in Apple's *Keeping a widget up to
  /// date*.
  package var reloadsPerDay: Double
  /// This many reloads of one kind, requested by one process within `loopSeconds`, are a loop.
  package var loopCount: Int
  /// The time in which `loopCount` reloads are a loop, in seconds.
  package var loopSeconds: Double
  /// This many consecutive timelines with the same content, all requested by the author's code, are reported.
  package var equalTimelines: Int
  /// A timeline that ended less than this many seconds ago counts as one that ends now.
  package var pastSeconds: Double

  /// Creates thresholds.
  package init(
    reloadsPerDay: Double = 70, loopCount: Int = 6, loopSeconds: Double = 60, equalTimelines: Int = 3,
    pastSeconds: Double = 60
  ) {
    self.reloadsPerDay = reloadsPerDay
    self.loopCount = loopCount
    self.loopSeconds = loopSeconds
    self.equalTimelines = equalTimelines
    self.pastSeconds = pastSeconds
  }
}

/// All diagnostic rules.
package enum DiagnosticTable {
  /// Returns new instances of the rules, in list order. Rules have state.
  static func rules(_ thresholds: DiagnosticThresholds = DiagnosticThresholds()) -> [any DiagnosticRule] {
    [
      CompletionNeverCalled(), CompletionOfOneHandlerMissing(), SessionNeverRecreated(), EventsWithoutHandler(),
      DownloadInEventsHandler(), HandlerWithoutSession(), NoticedFault(.fileReadTooLate), SameIdentifier(),
      NoticedFault(.noSharedContainer), NoPushEntitlement(),
      TimelineNeverCompleted(), NoticedFault(.timelineCompletedTwice), TimelineWithoutEntries(),
      TimelineInThePast(thresholds), UnpayableInterval(thresholds), ReloadInProvider(), ReloadLoop(thresholds),
      ReloadWithoutChange(thresholds),
      ReloadOfUnknownKind(), CrashedWhileAsked(), MemoryExceededWhileAsked(), SuspendedWithLock(),
      ArchiveTooLarge(),
      NoticedFault(.kindTwice), NoticedFault(.noContainerBackground), NoticedFault(.unsupportedView),
      NoticedFault(.assetNotUsable), NoticedFault(.loaderInView), NoticedFault(.blockingLoad),
      IntentNotPerformed(), CustomSchemeNotOpened(), TimestampInMilliseconds(),
      NoticedFault(.foreignAppGroup), NoticedFault(.foreignContainer), NoticedFault(.notSimulated),
      NoticedFault(.setAside), CodeLeftOut(),
    ]
  }

  /// The descriptions of all diagnoses, in list order.
  package static var descriptions: [DiagnosisDescription] { rules().map(\.description) }
}

/// Detects authors' mistakes. The result depends only on the journal.
package struct Diagnostician: Sendable {
  /// Two occurrences with the same cause are one diagnosis.
  private struct Cause: Hashable {
    let code: String
    let owner: Address
    let subject: String
  }

  private var record = DeviceRecord()
  private var rules: [any DiagnosticRule]
  private var places: [Cause: Int] = [:]
  /// One diagnosis per cause, in the order of their first occurrences.
  package private(set) var diagnoses: [Diagnosis] = []
  /// The number of envelopes received.
  package private(set) var envelopes = 0

  /// Creates an instance that has received no envelope.
  ///
  /// - Parameter codes: the diagnoses to detect; all when `nil`.
  package init(_ thresholds: DiagnosticThresholds = DiagnosticThresholds(), codes: Set<String>? = nil) {
    rules = DiagnosticTable.rules(thresholds).filter { codes?.contains($0.description.code) ?? true }
  }

  /// Processes the next envelope of the journal.
  ///
  /// - Parameter counts: `false` for envelopes that only provide context: they update the state, but yield no
  ///   diagnoses.
  /// - Returns: the new diagnoses. A cause that has a diagnosis already yields no second one.
  package mutating func handle(_ envelope: Envelope, counts: Bool = true) -> [Diagnosis] {
    envelopes += 1
    var new: [Diagnosis] = []
    for index in rules.indices {
      let sightings = rules[index].see(envelope, record)
      guard counts else { continue }
      for sighting in sightings {
        let description = rules[index].description
        let cause = Cause(code: description.code, owner: sighting.owner, subject: sighting.subject)
        if let place = places[cause] {
          diagnoses[place].times += 1
        } else {
          places[cause] = diagnoses.count
          diagnoses.append(Diagnosis(description: description, sighting: sighting))
          new.append(Diagnosis(description: description, sighting: sighting))
        }
      }
    }
    record.handle(envelope)
    return new
  }
}
