import Conversations

/// A mistake that the author's own process has noticed.
struct NoticedFault: DiagnosticRule {
  struct Known: Sendable {
    let fault: FaultNoticed.Fault
    let description: DiagnosisDescription
  }

  private let known: Known
  init(_ known: Known) { self.known = known }

  var description: DiagnosisDescription { known.description }

  func see(_ envelope: Envelope, _ record: DeviceRecord) -> [Sighting] {
    guard let noticed = envelope.reading(FaultNoticed.self), noticed.fault == known.fault else { return [] }
    return [
      Sighting(
        owner: envelope.header.source, subject: noticed.subject, what: noticed.details, evidence: [Evidence(envelope)])
    ]
  }
}

extension NoticedFault.Known {
  static let fileReadTooLate = NoticedFault.Known(
    fault: .fileLeftBehind,
    description: DiagnosisDescription(
      code: "file-read-too-late", severity: .error,
      title: "the downloaded file is not read before the delegate method returns",
      rule:
        "The file that didFinishDownloadingTo is handed is removed when the method returns: whoever opens it in a Task, on "
        + "another queue or in didCompleteWithError finds none (NSFileNoSuchFileError).",
      source:
        "documented: urlSession(_:downloadTask:didFinishDownloadingTo:); ours: said of a file of status 2xx that the method "
        + "neither moved, linked nor read",
      advice: "Move the file, or read it, within the method; do the rest of the work afterwards."))

  static let noSharedContainer = NoticedFault.Known(
    fault: .noSharedContainer,
    description: DiagnosisDescription(
      code: "no-shared-container", severity: .error, title: "an extension's background session has no shared container",
      rule:
        "A background session of an extension needs sharedContainerIdentifier, an app group that extension and app have: "
        + "without it the session is invalid with -995 (backgroundSessionRequiresSharedContainer) as soon as it is made.",
      source: "documented: sharedContainerIdentifier; NSURLSession.h",
      advice:
        "Set configuration.sharedContainerIdentifier to the app group's identifier before the session is made, and name the "
        + "group under appGroups in widgetlab.yaml."))

  static let timelineCompletedTwice = NoticedFault.Known(
    fault: .completedAgain,
    description: DiagnosisDescription(
      code: "get-timeline-completes-twice", severity: .warning, title: "a provider calls its completion again",
      rule: "The completion of getTimeline and getSnapshot is for one call. What a second one is handed is not shown.",
      source: "observed: developers saw the later, empty answer win; ours: the first call counts",
      advice:
        "Return after the completion. Where fresh content may be slow, wait for it with a time-out, and give what is cached "
        + "when that is over."))

  static let kindTwice = NoticedFault.Known(
    fault: .kindTwice,
    description: DiagnosisDescription(
      code: "kind-twice", severity: .error, title: "two widgets of one extension have the same kind",
      rule:
        "The kind is the widget's identity: of two widgets with one kind only one can be placed, asked and reloaded.",
      source: "documented: StaticConfiguration(kind:), a unique string; ours: the last one of the bundle answers",
      advice: "Give each widget of the bundle a kind of its own; it must not change once a person has placed it."))

  static let noContainerBackground = NoticedFault.Known(
    fault: .noContainerBackground,
    description: DiagnosisDescription(
      code: "no-container-background", severity: .error, title: "a widget's view has no container background",
      rule:
        "From iOS 17 on a widget's view says its background with containerBackground(for: .widget), so that it can be taken "
        + "away; where it does not, the words Please adopt containerBackground API stand in its place.",
      source: "documented: containerBackground(for:content:); observed: the words",
      advice:
        "Add .containerBackground(.fill.tertiary, for: .widget), or your own background, to the view of the entry."))

  static let unsupportedView = NoticedFault.Known(
    fault: .unsupportedView,
    description: DiagnosisDescription(
      code: "unsupported-view", severity: .warning, title: "a view that widgets cannot show",
      rule: "A widget's views are archived: what scrolls, takes text or runs code while it is seen is left out.",
      source: "documented: SwiftUI views for widgets",
      advice:
        "Show the content with a stack and few enough rows, and open the app with a Link or a widgetURL for the rest."))
}
