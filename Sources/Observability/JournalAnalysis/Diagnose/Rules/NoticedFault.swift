// SPDX-License-Identifier: Apache-2.0

import Messages

/// A mistake that the author's own process has reported.
struct NoticedFault: DiagnosticRule {
  struct Known: Sendable {
    let fault: FaultNoticed.Fault
    let description: DiagnosisDescription
  }

  private let knownFault: Known
  init(_ knownFault: Known) { self.knownFault = knownFault }

  var description: DiagnosisDescription { knownFault.description }

  func see(_ envelope: Envelope, _ record: DeviceRecord) -> [Sighting] {
    guard let noticed = envelope.reading(FaultNoticed.self), noticed.fault == knownFault.fault else { return [] }
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
        "The file of didFinishDownloadingTo is removed when the method returns. Reading it in a Task, on another "
        + "queue or in didCompleteWithError fails (NSFileNoSuchFileError).",
      source:
        "documented: urlSession(_:downloadTask:didFinishDownloadingTo:); ours: reported for a file of status 2xx "
        + "that the method neither moved, linked nor read",
      advice: "Move or read the file within the method; do the rest of the work afterwards."))

  static let noSharedContainer = NoticedFault.Known(
    fault: .noSharedContainer,
    description: DiagnosisDescription(
      code: "no-shared-container", severity: .error, title: "an extension's background session has no shared container",
      rule:
        "A background session of an extension needs sharedContainerIdentifier, an app group of both extension and "
        + "app. Otherwise the session becomes invalid with -995 (backgroundSessionRequiresSharedContainer) when it is "
        + "created.",
      source: "documented: sharedContainerIdentifier; NSURLSession.h",
      advice:
        "Set configuration.sharedContainerIdentifier to the app group's identifier before the session is created, "
        + "and list the group in appGroups in widgetlab.yaml."))

  static let timelineCompletedTwice = NoticedFault.Known(
    fault: .completedAgain,
    description: DiagnosisDescription(
      code: "get-timeline-completes-twice", severity: .warning, title: "a provider calls its completion handler twice",
      rule: "The completion handler of getTimeline and getSnapshot must be called once. A second result is ignored.",
      source: "observed: the later, empty result is used; ours: the first call counts",
      advice:
        "Return after calling the completion handler. When fresh content may be slow, wait for it with a timeout, and "
        + "provide the cached content at the timeout."))

  static let kindTwice = NoticedFault.Known(
    fault: .kindTwice,
    description: DiagnosisDescription(
      code: "kind-twice", severity: .error, title: "two widgets of one extension have the same kind",
      rule:
        "The kind identifies the widget: of two widgets with the same kind only one can be placed and reloaded.",
      source: "documented: StaticConfiguration(kind:), a unique string; ours: the last one of the bundle is used",
      advice: "Give each widget of the bundle a unique kind, and do not change it once a user has placed the widget."))

  static let noContainerBackground = NoticedFault.Known(
    fault: .noContainerBackground,
    description: DiagnosisDescription(
      code: "no-container-background", severity: .error, title: "a widget's view has no container background",
      rule:
        "From iOS 17 on, a widget's view declares its background with containerBackground(for: .widget), so that "
        + "the system can remove it. Without it, the text \"Please adopt containerBackground API\" is shown instead.",
      source: "documented: containerBackground(for:content:); observed: the text",
      advice:
        "Add .containerBackground(.fill.tertiary, for: .widget), or your own background, to the view of the entry."))

  static let foreignAppGroup = NoticedFault.Known(
    fault: .foreignAppGroup,
    description: DiagnosisDescription(
      code: "foreign-app-group", severity: .error,
      title: "user defaults of an app group that the process has not joined",
      rule:
        "UserDefaults(suiteName:) is shared by the members of an app group. Without the group in the entitlements, the "
        + "values that one process writes are not found by the others.",
      source: "documented: Configuring app groups; ours: the values are kept for the bundle alone",
      advice:
        "Add the group to appGroups in widgetlab.yaml, as in the entitlements of the Xcode project, or correct it."
    ))

  static let foreignContainer = NoticedFault.Known(
    fault: .foreignContainer,
    description: DiagnosisDescription(
      code: "foreign-container", severity: .error, title: "a file of another product's container",
      rule:
        "An app and each of its extensions have separate containers. No process can open the files of another "
        + "container: NSFileReadNoPermissionError (257), NSFileWriteNoPermissionError (513).",
      source: "documented: App Extension Programming Guide, Sharing Data with Your Containing App",
      advice:
        "Keep the file in the folder of an app group: FileManager.containerURL(forSecurityApplicationGroupIdentifier:)."
    ))

  static let notSimulated = NoticedFault.Known(
    fault: .notSimulated,
    description: DiagnosisDescription(
      code: "not-simulated", severity: .note, title: "a declaration that has an effect on a phone and none here",
      rule: "The process uses a declaration that compiles, and that the simulated device does not obey.",
      source: "ours: Documentation/limitations.md lists what is not simulated",
      advice: "Read the entry of limitations.md, and test what depends on it on a phone."))

  static let setAside = NoticedFault.Known(
    fault: .setAside,
    description: DiagnosisDescription(
      code: "set-aside", severity: .error, title: "stored work ended the host twice, and is set aside",
      rule:
        "A task, notification, timeline or image that was under way when the host ended by a trap (SIGILL, SIGSEGV and "
        + "others), twice in a row, is not handled again: the task fails with -1, the notification is discarded, the "
        + "timeline is requested again after a pause, the image is not read.",
      source: "ours: the device goes on, whatever a server or an author sends",
      advice:
        "This is a fault of WidgetLab: please report it with host.log and the journal. Until it is repaired, change "
        + "the URL, the payload or the view that the subject names."))

  static let assetNotUsable = NoticedFault.Known(
    fault: .assetNotUsable,
    description: DiagnosisDescription(
      code: "asset-not-usable", severity: .warning, title: "an image or a colour of the bundle cannot be shown",
      rule:
        "A name is looked up in the asset catalogs of the process's own bundle: an extension does not see those of "
        + "its app. An image that is missing or damaged shows nothing, and on a phone only a line in the log.",
      source: "documented: Image.init(_:bundle:), Color.init(_:bundle:); ours: only PNG, JPEG and SVG are drawn here",
      advice:
        "Compare the name, name the catalog in resources of the extension in widgetlab.yaml, and export the image as "
        + "PNG, JPEG or SVG."))

  static let loaderInView = NoticedFault.Known(
    fault: .loaderInView,
    description: DiagnosisDescription(
      code: "loader-in-view", severity: .warning, title: "a view of a widget begins work that it cannot show",
      rule:
        "A widget's views are archived when the timeline is there, and no code of them runs on a screen. onAppear is "
        + "called before the archive, and a request that it starts ends after it: the result is not shown. The closure "
        + "of task is never called: the view needs nothing of it, or it shows what it has without it.",
      source:
        "documented: session 10028 of 2023 (the views are archived); ours: the report",
      advice: "Load in getTimeline or timeline(for:in:), and hand the result to the view in the entry."))

  static let blockingLoad = NoticedFault.Known(
    fault: .blockingLoad,
    description: DiagnosisDescription(
      code: "blocking-load", severity: .warning, title: "a URL of the network is loaded synchronously",
      rule:
        "Data(contentsOf:) and String(contentsOf:) block their thread until the server has answered, for a minute at "
        + "most. A provider that is blocked delivers no timeline, and try? hides each failure.",
      source: "documented: NSData.init(contentsOf:): not for network-based URLs; ours: each host is reported once",
      advice:
        "Load the URL with URLSession.shared.data(from:) in an asynchronous provider, or before the completion handler "
        + "is called."))

  static let unsupportedView = NoticedFault.Known(
    fault: .unsupportedView,
    description: DiagnosisDescription(
      code: "unsupported-view", severity: .warning, title: "a view that widgets cannot show",
      rule: "A widget's views are archived: views that scroll, accept text or run code are left out.",
      source: "documented: SwiftUI views for widgets",
      advice:
        "Show the content in a stack with few enough rows, and open the app with a Link or a widgetURL for the rest."))
}

/// A process without the entitlement `aps-environment` requests a device token.
struct NoPushEntitlement: DiagnosticRule {
  let description = DiagnosisDescription(
    code: "no-push-entitlement", severity: .error, title: "a process without the entitlement requests a device token",
    rule:
      "Widgets with a push handler get a device token when the widget extension's target has the capability Push "
      + "Notifications, and an app when the app's target has it. Without it the handler is never called, "
      + "registerForRemoteNotifications() fails with NSCocoaErrorDomain 3000, and Activity.request with a push type "
      + "throws.",
    source:
      "documented: Updating widgets with WidgetKit push notifications, step 1; Registering your app with APNs; observed: "
      + "the errors",
    advice:
      "Add the capability to the target that requests the token, not only to the app. In WidgetLab: entitlements: "
      + "{ aps-environment: development } of the product in widgetlab.yaml.")

  func see(_ envelope: Envelope, _ record: DeviceRecord) -> [Sighting] {
    guard let withheld = envelope.reading(PushWithheld.self), withheld.reason == .noEntitlement else { return [] }
    let subject =
      withheld.handlers.isEmpty ? "registerForRemoteNotifications()" : withheld.handlers.joined(separator: ", ")
    return [
      Sighting(
        owner: withheld.address, subject: subject,
        what: "\(subject) needs a device token, but the entitlements of \(withheld.address.short) have no "
          + "aps-environment",
        evidence: [Evidence(envelope)])
    ]
  }
}
