// SPDX-License-Identifier: Apache-2.0

package import Archive
package import Messages

extension ClusterConfiguration {
  /// Rules that Apple does not document, see Documentation/fidelity. `table` describes them.
  package struct Settings: Sendable, Hashable {
    package var suspendAfter: Duration = .seconds(1)
    package var endIdleAfter: Duration = .seconds(600)
    package var completionDeadline: Duration = .seconds(30)
    package var completionGrace: Duration = .seconds(5)
    package var observedEventOrder = false
    package var timelineDeadline: Duration = .seconds(30)
    package var concurrentTimelines = 1
    package var requestsTimelinesTwice = false
    package var intentDeadline: Duration = .seconds(30)
    package var crashBackoffFirst: Duration = .seconds(1)
    package var crashBackoffMax: Duration = .seconds(60)
    package var redeliverAfter: Duration = .seconds(60)
    package var redeliveries: Int = 5
    package var resumeAfter: Duration = .seconds(1)
    package var resumeAfterMax: Duration = .seconds(60)
    package var maximumLoads: Int = 64
    package var discretionaryNeedsWiFi: Bool = true
    package var widgetTransfersAreDiscretionary: Bool = false
    package var limiterFirst: Duration = .seconds(60)
    package var limiterMax: Duration = .seconds(86_400)
    package var limiterAppliesToWidgets: Bool = true
    package var limiterIsSharedWithApp: Bool = false
    package var delayedRequestLaunches: Bool = true
    package var countsPerSecond: Int = 4
    package var keepsResumeData: Duration = .seconds(604_800)
    package var redirectLimit = 16
    package var expansionLimit = 200
    /// MiB; `nil` for the default of the disk.
    package var diskReserve: Int?
    package var resumableFrom = 64
    package var challengeDeadline: Duration = .zero
    package var listsEndedTasks = true
    package var advancePatience: Duration = .seconds(30)
    package var forceQuitCancelsExtensions: Bool = false
    package var pushReloadsAllWidgets = false
    package var activityLimit = 5
    package var activityPushBudget = 20
    package var activityTokenNeedsConsent = true
    package var gallery = GallerySettings()
    /// What an author's process gets.
    package var process = ProcessRules()
    package var extensionMemoryLimit = 30
    package var memoryInterval: Duration = .milliseconds(250)
    package var developerMode = false
    /// Absolute; `nil` for the built-in policy.
    package var budget: String?
    package var timelineBackoffFirst: Duration = .seconds(60)
    package var timelineBackoffMax: Duration = .seconds(3600)
    package var retriesAfterExit = 1
    package var oneEntryPause: Duration = .seconds(900)
    package var policyFloor: Duration = .seconds(60)
    package var policyDelay: Duration = .zero
    package var policyDelaySeed = 0
    package var archiveLimit = 4096
    package var archiveDepth = 240
    package var imageAreaLimit = 2_121_055.2
    package var entryLimit = 400

    package init() {}
  }

  /// Settings of the gallery and the screen, see Documentation/fidelity/gallery.md.
  package struct GallerySettings: Sendable, Hashable {
    package var placesEachKind = true
    package var defaultFamiliesIncludeAccessory = true
    package var contentMargin = 16
    package var homeScreenRenderingMode = RenderingModeName.fullColor
    package var standByRenderingMode = RenderingModeName.fullColor
    package var hidesSensitiveContent = true
    package var smartRotatePause: Duration = .seconds(1800)

    package init() {}
  }
}

extension ClusterConfiguration.Settings: SettingsPart {
  static let table: [Setting<Self>] = Array(
    [processes, deliveries, transfers, timelines, screens].joined())

  private static let processes: [Setting<Self>] = [
    .seconds(
      "suspendAfter", \.suspendAfter, "An idle extension is suspended after this long.", on: "processes", "pushes"),
    .seconds(
      "endIdleAfter", \.endIdleAfter, "A suspended extension that is not needed is ended after this long; 0 for never.",
      on: "processes"),
    .count(
      "extensionMemoryLimit", \.extensionMemoryLimit, most: 1_048_576, unit: "MiB",
      "An extension that uses more memory (`RssAnon`) than this is evicted; 0 for no limit.", on: "processes"),
    .seconds(
      "memoryInterval", \.memoryInterval, least: 0.01, "How often an extension's memory is checked.", on: "processes"),
    .seconds(
      "crashBackoffFirst", \.crashBackoffFirst,
      "How long a process that exited during its launch is not launched again; doubled each time.", on: "activities",
      "processes"),
    .seconds(
      "crashBackoffMax", \.crashBackoffMax, "The maximum of `crashBackoffFirst`.", on: "activities", "processes"),
    .seconds(
      "callDeadline", \.process.callDeadline,
      "How long a blocking call of the author's code, such as `resume()`, waits for the host.", on: "tasks"),
    .seconds(
      "backgroundTime", \.process.backgroundTime, least: 1,
      "How long `beginBackgroundTask` and `performExpiringActivity` keep a process running in the background.",
      on: "processes"),
    .flag(
      "separatesContainers", \.process.separatesContainers,
      "An app or extension cannot open the files of another product's container.", on: "processes"),
    .flag(
      "forceQuitCancelsExtensions", \.forceQuitCancelsExtensions,
      "Force-quitting an app also cancels its extensions' transfers.", on: "processes"),
    .seconds(
      "intentDeadline", \.intentDeadline,
      "Time for the intent of a button, a toggle or a control. Then the tap reports it.", on: "gallery"),
    .seconds(
      "advancePatience", \.advancePatience,
      "How long, in real time, an advance of the device clock waits for the work that it started.", on: "clock"),
  ]

  private static let deliveries: [Setting<Self>] = [
    .seconds(
      "completionDeadline", \.completionDeadline,
      "Time to call the completion handler of a session's events, then the process is evicted; also to answer "
        + "`willBeginDelayedRequest`, then the original request is sent.",
      on: "delivery", "transfers"),
    .seconds(
      "completionGrace", \.completionGrace,
      "Time between the expiration notice, which cancels `backgroundTask` actions, and the eviction of the process.",
      on: "delivery"),
    .flag(
      "observedEventOrder", \.observedEventOrder,
      "`true`: the handler is called after the delegate calls, and a finish may come without a handler, "
        + "as observed by developers; `false`: as Apple documents.",
      on: "delivery"),
    .flag(
      "firstCompletionCounts", \.process.firstCompletionCounts,
      "When several handlers match, the first completion acknowledges a session's events instead of the last.",
      on: "delivery"),
    .seconds(
      "redeliverAfter", \.redeliverAfter,
      "Events whose completion was not called are redelivered after this long; doubled each time.", on: "delivery"),
    .count(
      "redeliveries", \.redeliveries, least: 1,
      "After this many deliveries, events are held until a process creates the session.", on: "delivery"),
    .seconds(
      "resumeAfter", \.resumeAfter,
      "An interrupted transfer is resumed after this long, and an owner that exited during a delivery is notified "
        + "again after this long; doubled each time.",
      on: "delivery", "transfers"),
    .seconds("resumeAfterMax", \.resumeAfterMax, "The maximum of `resumeAfter`.", on: "delivery", "transfers"),
  ]

  private static let transfers: [Setting<Self>] = [
    .count(
      "maximumLoads", \.maximumLoads, least: 1,
      "Maximum number of background session tasks that load at the same time on the device.", on: "transfers"),
    .flag("discretionaryNeedsWiFi", \.discretionaryNeedsWiFi, "A discretionary task waits for Wi-Fi.", on: "transfers"),
    .flag(
      "widgetTransfersAreDiscretionary", \.widgetTransfersAreDiscretionary,
      "Tasks that an extension creates are discretionary, like tasks that an app creates in the background.",
      on: "transfers"),
    .seconds(
      "limiterFirst", \.limiterFirst,
      "The first delay of the resume rate limiter, doubled by each wake; 0 disables the limiter.", on: "transfers"),
    .seconds("limiterMax", \.limiterMax, "The maximum of `limiterFirst`.", on: "transfers"),
    .flag(
      "limiterAppliesToWidgets", \.limiterAppliesToWidgets, "The limiter applies to tasks that an extension creates.",
      on: "transfers"),
    .flag(
      "limiterIsSharedWithApp", \.limiterIsSharedWithApp, "An app and its extensions share one limiter.",
      on: "transfers"),
    .flag(
      "delayedRequestLaunches", \.delayedRequestLaunches,
      "A process that is not running is launched for `willBeginDelayedRequest`.", on: "transfers"),
    .count(
      "countsPerSecond", \.countsPerSecond, "How often per second a running process receives each task's byte counts.",
      on: "tasks"),
    .seconds(
      "keepsResumeData", \.keepsResumeData,
      "How long the partial file that resume data refers to is kept for a task that can be resumed.", on: "tasks"),
    .count(
      "redirectLimit", \.redirectLimit,
      "Maximum number of redirections of a background session task. One more ends it with -1007.", on: "transfers"),
    .count(
      "inlineRedirectLimit", \.process.inlineRedirectLimit,
      "Maximum number of redirections of a request that a process performs itself. One more ends it with -1007.",
      on: "inline-requests"),
    .seconds(
      "inlineSuspensionLimit", \.process.inlineSuspensionLimit,
      "A request that a process performs itself ends with -1005 when the process was suspended for longer than this, in "
        + "machine time; 0 for never.",
      on: "inline-requests"),
    .count(
      "resumableFrom", \.resumableFrom, most: 1_048_576, unit: "KiB",
      "A body of at most this length is restarted instead of resumed.", on: "transfers"),
    .optionalCount(
      "diskReserve", \.diskReserve, most: 1_073_741_824, unit: "MiB", without: "a quarter of the disk, at most 256 MiB",
      "How much of the disk downloads leave free.", on: "transfers"),
    .count(
      "expansionLimit", \.expansionLimit, most: 1_048_576,
      "An encoded body may become at most this many times as long; 0 for no limit.", on: "transfers"),
    .seconds(
      "challengeDeadline", \.challengeDeadline,
      "Time to answer a challenge. Then it gets the default handling; 0 for no limit.", on: "transfers"),
    .flag(
      "listsEndedTasks", \.listsEndedTasks,
      "`getAllTasks` includes tasks that have ended but whose end was not delivered yet.", on: "tasks"),
  ]

  private static let timelines: [Setting<Self>] = [
    .flag(
      "developerMode", \.developerMode,
      "Disables budget and spacing of reloads, as WidgetKit Developer Mode does, but not the spacing of reloads that a "
        + "provider requests while it makes a timeline. Also disables `activityPushBudget` and `smartRotatePause`.",
      on: "activities", "budgets", "controls", "gallery", "pushes"),
    .path(
      "budget", \.budget, without: "built-in", "A file with the budget policy for reloads; see `deploy/budgets`.",
      on: "budgets", "controls", "pushes", "settings"),
    .seconds(
      "timelineDeadline", \.timelineDeadline, "Time to provide a timeline. Then the extension is suspended.",
      on: "controls", "timelines", "widgetkit"),
    .count(
      "concurrentTimelines", \.concurrentTimelines, least: 1, most: 100,
      "How many requests for timelines an extension has at once.", on: "timelines"),
    .flag(
      "requestsTimelinesTwice", \.requestsTimelinesTwice,
      "Each timeline is requested twice at once, and the reply that arrives last counts.", on: "timelines"),
    .seconds(
      "timelineBackoffFirst", \.timelineBackoffFirst,
      "A placement is not reloaded for this long after a failed reload; doubled each time.", on: "timelines"),
    .seconds("timelineBackoffMax", \.timelineBackoffMax, "The maximum of `timelineBackoffFirst`.", on: "timelines"),
    .count(
      "retriesAfterExit", \.retriesAfterExit,
      "How often an extension that exited during a timeline request is asked again at once.", on: "timelines"),
    .seconds(
      "oneEntryPause", \.oneEntryPause, least: 1,
      "The system's pause after a timeline of one entry whose policy is `atEnd`.", on: "timelines"),
    .seconds(
      "policyFloor", \.policyFloor, least: 1,
      "The shortest time after which a timeline's policy causes the next reload.", on: "timelines"),
    .seconds(
      "policyDelay", \.policyDelay, most: 86_400,
      "The longest time by which the reload of a timeline's policy is later than its date.", on: "timelines"),
    .count(
      "policyDelaySeed", \.policyDelaySeed,
      "From which the delays up to `policyDelay` are drawn: equal seeds give equal delays.", on: "timelines"),
    .count(
      "archiveLimit", \.archiveLimit, least: 1, most: 65_536, unit: "KiB", "Maximum size of a timeline's archive.",
      on: "timelines"),
    .count(
      "archiveDepth", \.archiveDepth, least: 1, most: 240, "Maximum depth of nested views in a timeline's archive.",
      on: "timelines", "views"),
    .number(
      "imageAreaLimit", \.imageAreaLimit, least: 1, unit: "px", "Maximum area of an image.", on: "timelines", "views"),
    .count(
      "entryLimit", \.entryLimit, least: 1, most: 10_000, "Maximum number of entries of a timeline.", on: "timelines"),
  ]

  private static let screens: [Setting<Self>] = [
    .flag(
      "placesEachKind", \.gallery.placesEachKind,
      "One widget of each kind is placed on a screen as soon as its extension announces the kind.", on: "gallery"),
    .flag(
      "defaultFamiliesIncludeAccessory", \.gallery.defaultFamiliesIncludeAccessory,
      "A widget without `supportedFamilies` also supports the accessory families.", on: "gallery"),
    .count(
      "contentMargin", \.gallery.contentMargin, most: 100, unit: "pt",
      "Default content margin of the Home Screen and the Today View.", on: "gallery"),
    .choice(
      "homeScreenRenderingMode", \.gallery.homeScreenRenderingMode, of: [.fullColor, .accented],
      "`accented` for a tinted Home Screen.", on: "gallery", "pictures", "views"),
    .choice(
      "standByRenderingMode", \.gallery.standByRenderingMode, of: [.fullColor, .vibrant],
      "`vibrant` for StandBy in low light.", on: "gallery", "pictures"),
    .flag(
      "hidesSensitiveContent", \.gallery.hidesSensitiveContent,
      "Sensitive content is hidden while the device is locked.", on: "gallery", "views"),
    .seconds(
      "smartRotatePause", \.gallery.smartRotatePause,
      "Smart Rotate does not turn a stack for this long after its last turn, by the user or by Smart Rotate; 0 for no "
        + "pause.",
      on: "gallery"),
    .count(
      "activityLimit", \.activityLimit, least: 1, most: 100, "How many Live Activities an app has at a time.",
      on: "activities"),
    .count(
      "activityPushBudget", \.activityPushBudget, least: 1,
      "How many pushes of priority 10 a Live Activity shows in an hour.", on: "activities"),
    .flag(
      "activityTokenNeedsConsent", \.activityTokenNeedsConsent,
      "A Live Activity that was started by a push has no token until the user allows those of the app.",
      on: "activities"),
    .flag(
      "pushReloadsAllWidgets", \.pushReloadsAllWidgets,
      "A widget push reloads all widgets of the app, and not only those with a push handler.", on: "pushes"),
  ]

  func complete(_ reader: inout ConfigurationReader) throws(ClusterError) {
    let pairs = [
      ("crashBackoffFirst", crashBackoffFirst, "crashBackoffMax", crashBackoffMax),
      ("resumeAfter", resumeAfter, "resumeAfterMax", resumeAfterMax),
      ("limiterFirst", limiterFirst, "limiterMax", limiterMax),
      ("timelineBackoffFirst", timelineBackoffFirst, "timelineBackoffMax", timelineBackoffMax),
    ]
    for (first, shortest, name, longest) in pairs where longest < shortest {
      throw reader.error(name, "is shorter than \(first)")
    }
  }
}
