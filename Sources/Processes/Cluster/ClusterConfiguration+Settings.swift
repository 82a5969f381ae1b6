// SPDX-License-Identifier: Apache-2.0

import Foundation

extension ClusterConfiguration {
  /// Rules that Apple does not document, see Documentation/fidelity.
  package struct Settings: Sendable, Hashable {
    /// An idle extension is suspended after this long.
    package var suspendAfter: Duration = .seconds(1)
    /// A suspended extension that is not needed is ended after this long; 0 for never.
    package var endIdleAfter: Duration = .seconds(600)
    /// Time to call the completion handler of a session's events. Then the process is evicted.
    package var completionDeadline: Duration = .seconds(30)
    /// Time between the expiration notice, which cancels `backgroundTask` actions, and the eviction of the process.
    package var completionGrace: Duration = .seconds(5)
    /// `true`: the handler is called after the delegate calls, and a finish may come without a handler, as observed by
    /// developers; `false`: as Apple documents.
    package var observedEventOrder = false
    /// Time to provide a timeline. Then the extension is stopped.
    package var timelineDeadline: Duration = .seconds(30)
    /// How many requests for timelines an extension has at once.
    package var concurrentTimelines = 1
    /// Each timeline is requested twice at once, and the reply that arrives last counts.
    package var requestsTimelinesTwice = false
    /// How long the intent of a widget's button or toggle, or of a control, may run, by the machine's clock.
    package var intentDeadline: Duration = .seconds(30)
    /// How long a process that exited during its launch is not launched again; doubled each time.
    package var crashBackoffFirst: Duration = .seconds(1)
    package var crashBackoffMax: Duration = .seconds(60)
    /// Events whose completion was not called are redelivered after this long; doubled each time.
    package var redeliverAfter: Duration = .seconds(60)
    /// After this many deliveries, events are held until a process creates the session.
    package var redeliveries: Int = 5
    /// An interrupted transfer is resumed after this long, and an owner that exited during a delivery is notified again
    /// after this long; doubled each time.
    package var resumeAfter: Duration = .seconds(1)
    package var resumeAfterMax: Duration = .seconds(60)
    /// Maximum number of background session tasks that load at the same time on the device.
    package var maximumLoads: Int = 64
    /// A discretionary task waits for Wi-Fi.
    package var discretionaryNeedsWiFi: Bool = true
    /// Tasks that an extension creates are discretionary, like tasks that an app creates in the background.
    package var widgetTransfersAreDiscretionary: Bool = false
    /// The first delay of the resume rate limiter, doubled by each wake; 0 disables the limiter.
    package var limiterFirst: Duration = .seconds(60)
    /// The limiter's maximum delay.
    package var limiterMax: Duration = .seconds(86_400)
    /// The limiter applies to tasks that an extension creates.
    package var limiterAppliesToWidgets: Bool = true
    /// An app and its extensions share one limiter.
    package var limiterIsSharedWithApp: Bool = false
    /// A process that is not running is launched for `willBeginDelayedRequest`.
    package var delayedRequestLaunches: Bool = true
    /// How often per second a running process receives each task's byte counts.
    package var countsPerSecond: Int = 4
    /// How long the partial file that resume data refers to is kept for a task that can be resumed.
    package var keepsResumeData: Duration = .seconds(604_800)
    /// Maximum number of redirections of a background session task. One more ends it with -1007.
    package var redirectLimit = 16
    /// Maximum number of redirections of a request that a process performs itself. One more ends it with -1007.
    package var inlineRedirectLimit = 20
    /// An encoded body may become at most this many times as long; 0 for no limit.
    package var expansionLimit = 200
    /// How much of the disk downloads leave free, MiB; `nil` for a quarter of it, at most 256 MiB.
    package var diskReserve: Int?
    /// A body of at most this many KiB is restarted instead of resumed.
    package var resumableFrom = 64
    /// Time to answer a challenge. Then it gets the default handling; 0 for no limit.
    package var challengeDeadline: Duration = .zero
    /// How long a blocking call of the author's code, such as `resume()`, waits for the host.
    package var callDeadline: Duration = .seconds(5)
    /// When several handlers match, the first completion acknowledges a session's events instead of the last.
    package var firstCompletionCounts = false
    /// `getAllTasks` includes tasks that have ended but whose end was not delivered yet.
    package var listsEndedTasks = true
    /// How long, in real time, an advance of the device clock waits for the work that it started.
    package var advancePatience: Duration = .seconds(30)
    /// Force-quitting an app also cancels its extensions' transfers.
    package var forceQuitCancelsExtensions: Bool = false

    /// A widget push reloads all widgets of the app, and not only those with a push handler.
    package var pushReloadsAllWidgets = false

    /// How many Live Activities an app has at a time.
    package var activityLimit = 5
    /// How many pushes of priority 10 a Live Activity shows in an hour.
    package var activityPushBudget = 20

    /// Settings of the gallery and the screen.
    package var gallery = GallerySettings()

    /// An extension that uses more memory (`RssAnon`) than this is evicted, MiB; 0 for no limit.
    package var extensionMemoryLimit = 30
    /// How often an extension's memory is checked.
    package var memoryInterval: Duration = .milliseconds(250)

    /// Disables budget and spacing of reloads. Source: WidgetKit Developer Mode.
    package var developerMode = false
    /// The file of the budget policy for reloads, absolute; `nil` for the built-in policy.
    package var budget: String?
    /// A placement is not reloaded for this long after a failed reload; doubled each time.
    package var timelineBackoffFirst: Duration = .seconds(60)
    package var timelineBackoffMax: Duration = .seconds(3600)
    /// How often an extension that exited during a timeline request is asked again at once.
    package var retriesAfterExit = 1
    /// The system's pause after a timeline of one entry whose policy is `atEnd`.
    package var oneEntryPause: Duration = .seconds(900)
    /// The shortest time after which a timeline's policy causes the next reload.
    package var policyFloor: Duration = .seconds(60)
    /// Limits of a timeline's archive: KiB, depth of nested views, pixels of an image, entries.
    package var archiveLimit = 4096
    package var archiveDepth = 240
    package var imageAreaLimit = 2_121_055.2
    package var entryLimit = 400

    package init() {}
  }
}

extension ClusterConfiguration.Settings {
  init(reading mapping: ConfigurationReader) throws(ClusterError) {
    var reader = mapping
    self.init()
    suspendAfter = try reader.seconds("suspendAfter") ?? suspendAfter
    endIdleAfter = try reader.seconds("endIdleAfter") ?? endIdleAfter
    completionDeadline = try reader.seconds("completionDeadline") ?? completionDeadline
    completionGrace = try reader.seconds("completionGrace") ?? completionGrace
    observedEventOrder = try reader.boolean("observedEventOrder") ?? observedEventOrder
    timelineDeadline = try reader.seconds("timelineDeadline") ?? timelineDeadline
    intentDeadline = try reader.seconds("intentDeadline") ?? intentDeadline
    crashBackoffFirst = try reader.seconds("crashBackoffFirst") ?? crashBackoffFirst
    crashBackoffMax = try reader.seconds("crashBackoffMax") ?? crashBackoffMax
    redeliverAfter = try reader.seconds("redeliverAfter") ?? redeliverAfter
    redeliveries = try reader.integer("redeliveries") ?? redeliveries
    resumeAfter = try reader.seconds("resumeAfter") ?? resumeAfter
    resumeAfterMax = try reader.seconds("resumeAfterMax") ?? resumeAfterMax
    extensionMemoryLimit = try reader.integer("extensionMemoryLimit") ?? extensionMemoryLimit
    memoryInterval = try reader.seconds("memoryInterval") ?? memoryInterval
    guard (0...1 << 20).contains(extensionMemoryLimit) else {
      throw reader.error("extensionMemoryLimit", "must be a number of MiB, or 0 for no limit")
    }
    guard memoryInterval >= .milliseconds(10) else { throw reader.error("memoryInterval", "must be at least 0.01 s") }
    try readTransfers(&reader)
    try readProcesses(&reader)
    try readGallery(&reader)
    try readTime(&reader)
    try readTimelines(&reader)
    guard redeliveries > 0 else { throw reader.error("redeliveries", "must be at least 1") }
    guard crashBackoffFirst <= crashBackoffMax else {
      throw reader.error("crashBackoffMax", "is shorter than crashBackoffFirst")
    }
    guard resumeAfter <= resumeAfterMax else { throw reader.error("resumeAfterMax", "is shorter than resumeAfter") }
    try reader.finish()
  }

  private mutating func readTransfers(_ reader: inout ConfigurationReader) throws(ClusterError) {
    maximumLoads = try reader.integer("maximumLoads") ?? maximumLoads
    discretionaryNeedsWiFi = try reader.boolean("discretionaryNeedsWiFi") ?? discretionaryNeedsWiFi
    widgetTransfersAreDiscretionary =
      try reader.boolean("widgetTransfersAreDiscretionary") ?? widgetTransfersAreDiscretionary
    limiterFirst = try reader.seconds("limiterFirst") ?? limiterFirst
    limiterMax = try reader.seconds("limiterMax") ?? limiterMax
    limiterAppliesToWidgets = try reader.boolean("limiterAppliesToWidgets") ?? limiterAppliesToWidgets
    limiterIsSharedWithApp = try reader.boolean("limiterIsSharedWithApp") ?? limiterIsSharedWithApp
    delayedRequestLaunches = try reader.boolean("delayedRequestLaunches") ?? delayedRequestLaunches
    countsPerSecond = try reader.integer("countsPerSecond") ?? countsPerSecond
    keepsResumeData = try reader.seconds("keepsResumeData") ?? keepsResumeData
    forceQuitCancelsExtensions = try reader.boolean("forceQuitCancelsExtensions") ?? forceQuitCancelsExtensions
    redirectLimit = try reader.integer("redirectLimit") ?? redirectLimit
    resumableFrom = try reader.integer("resumableFrom") ?? resumableFrom
    expansionLimit = try reader.integer("expansionLimit") ?? expansionLimit
    diskReserve = try reader.integer("diskReserve") ?? diskReserve
    challengeDeadline = try reader.seconds("challengeDeadline") ?? challengeDeadline
    listsEndedTasks = try reader.boolean("listsEndedTasks") ?? listsEndedTasks
    guard (0...1 << 20).contains(expansionLimit) else { throw reader.error("expansionLimit", "must be 0 or more") }
    guard (0...1 << 30).contains(diskReserve ?? 0) else { throw reader.error("diskReserve", "must be a number of MiB") }
    guard redirectLimit >= 0 else { throw reader.error("redirectLimit", "must be 0 or more") }
    guard (0...1 << 20).contains(resumableFrom) else { throw reader.error("resumableFrom", "must be a number of KiB") }
    guard limiterFirst <= limiterMax else { throw reader.error("limiterMax", "is shorter than limiterFirst") }
    guard maximumLoads > 0 else { throw reader.error("maximumLoads", "must be at least 1") }
    guard countsPerSecond >= 0 else { throw reader.error("countsPerSecond", "must be 0 or more") }
  }

  private mutating func readTimelines(_ reader: inout ConfigurationReader) throws(ClusterError) {
    developerMode = try reader.boolean("developerMode") ?? developerMode
    pushReloadsAllWidgets = try reader.boolean("pushReloadsAllWidgets") ?? pushReloadsAllWidgets
    activityLimit = try reader.integer("activityLimit") ?? activityLimit
    activityPushBudget = try reader.integer("activityPushBudget") ?? activityPushBudget
    guard (1...100).contains(activityLimit) else { throw reader.error("activityLimit", "must be 1 to 100") }
    guard activityPushBudget >= 1 else { throw reader.error("activityPushBudget", "must be at least 1") }
    budget = try reader.string("budget").map(reader.beside)
    timelineBackoffFirst = try reader.seconds("timelineBackoffFirst") ?? timelineBackoffFirst
    timelineBackoffMax = try reader.seconds("timelineBackoffMax") ?? timelineBackoffMax
    retriesAfterExit = try reader.integer("retriesAfterExit") ?? retriesAfterExit
    oneEntryPause = try reader.seconds("oneEntryPause") ?? oneEntryPause
    policyFloor = try reader.seconds("policyFloor") ?? policyFloor
    concurrentTimelines = try reader.integer("concurrentTimelines") ?? concurrentTimelines
    requestsTimelinesTwice = try reader.boolean("requestsTimelinesTwice") ?? requestsTimelinesTwice
    archiveLimit = try reader.integer("archiveLimit") ?? archiveLimit
    archiveDepth = try reader.integer("archiveDepth") ?? archiveDepth
    imageAreaLimit = try reader.number("imageAreaLimit") ?? imageAreaLimit
    entryLimit = try reader.integer("entryLimit") ?? entryLimit
    guard timelineBackoffFirst <= timelineBackoffMax else {
      throw reader.error("timelineBackoffMax", "is shorter than timelineBackoffFirst")
    }
    guard (1...100).contains(concurrentTimelines) else { throw reader.error("concurrentTimelines", "must be 1 to 100") }
    guard retriesAfterExit >= 0 else { throw reader.error("retriesAfterExit", "must be 0 or more") }
    guard policyFloor >= .seconds(1) else { throw reader.error("policyFloor", "must be at least 1 s") }
    guard oneEntryPause >= .seconds(1) else { throw reader.error("oneEntryPause", "must be at least 1 s") }
    guard (1...65_536).contains(archiveLimit) else { throw reader.error("archiveLimit", "must be a number of KiB") }
    guard (1...240).contains(archiveDepth) else { throw reader.error("archiveDepth", "must be 1 to 240") }
    guard imageAreaLimit > 0 else { throw reader.error("imageAreaLimit", "must be a number of pixels") }
    guard (1...10_000).contains(entryLimit) else { throw reader.error("entryLimit", "must be 1 to 10000") }
  }

  private mutating func readTime(_ reader: inout ConfigurationReader) throws(ClusterError) {
    advancePatience = try reader.seconds("advancePatience") ?? advancePatience
  }

  /// Reads the rules that apply within an author's process.
  private mutating func readProcesses(_ reader: inout ConfigurationReader) throws(ClusterError) {
    callDeadline = try reader.seconds("callDeadline") ?? callDeadline
    inlineRedirectLimit = try reader.integer("inlineRedirectLimit") ?? inlineRedirectLimit
    firstCompletionCounts = try reader.boolean("firstCompletionCounts") ?? firstCompletionCounts
    guard inlineRedirectLimit >= 0 else { throw reader.error("inlineRedirectLimit", "must be 0 or more") }
  }
}
