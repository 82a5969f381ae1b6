import Foundation

extension ClusterConfiguration {
  /// Rules that Apple does not state, see Documentation/fidelity.md.
  package struct Settings: Sendable, Hashable {
    /// An extension with nothing to do is suspended after this long.
    package var suspendAfter: Duration = .seconds(1)
    /// Time to call the completion handler of a session's events, then the process is evicted.
    package var completionDeadline: Duration = .seconds(30)
    /// From the word that the time is running out, which cancels `backgroundTask` actions, until the process is evicted.
    package var completionGrace: Duration = .seconds(5)
    /// Handler after the messages, and a finish without a handler, as developers saw it; `false` for what Apple documents.
    package var observedEventOrder = false
    /// Time to give a timeline, then the extension is halted half-way.
    package var timelineDeadline: Duration = .seconds(30)
    /// How long a process that ended while it was launching is left alone; doubled each time.
    package var crashBackoffFirst: Duration = .seconds(1)
    package var crashBackoffMax: Duration = .seconds(60)
    /// Events whose completion was never called are delivered again after this long; doubled each time.
    package var redeliverAfter: Duration = .seconds(60)
    /// After so many deliveries they are held until a process creates the session.
    package var redeliveries: Int = 5
    /// An interrupted transfer is resumed after this long, as is telling an owner that died over it; doubled each time.
    package var resumeAfter: Duration = .seconds(1)
    package var resumeAfterMax: Duration = .seconds(60)
    /// Tasks of background sessions that load at the same time on the device.
    package var maximumLoads: Int = 64
    /// A discretionary task waits for Wi-Fi.
    package var discretionaryNeedsWiFi: Bool = true
    /// What an extension creates is discretionary, as what an app creates behind the front is.
    package var widgetTransfersAreDiscretionary: Bool = false
    /// The first delay of the resume rate limiter, doubled by each wake; 0 turns it off.
    package var limiterFirst: Duration = .seconds(60)
    /// What the limiter's delay does not go beyond.
    package var limiterMax: Duration = .seconds(86_400)
    /// The limiter holds what an extension creates.
    package var limiterAppliesToWidgets: Bool = true
    /// One limiter for an app and its extensions.
    package var limiterIsSharedWithApp: Bool = false
    /// A process that does not run is woken for `willBeginDelayedRequest`.
    package var delayedRequestLaunches: Bool = true
    /// How often a running process is told of each task's bytes.
    package var countsPerSecond: Int = 4
    /// How long what resume data goes on from is kept for a task that goes on.
    package var keepsResumeData: Duration = .seconds(604_800)
    /// Redirections of a task of a background session; one more ends it with -1007.
    package var redirectLimit = 16
    /// Redirections of a request that a process performs itself; one more ends it with -1007.
    package var inlineRedirectLimit = 20
    /// A body of at most so many KiB begins anew rather than to be resumed.
    package var resumableFrom = 64
    /// How long a process may take to answer a challenge, which is then handled as by default; 0 for any time.
    package var challengeDeadline: Duration = .zero
    /// How long a call of an author's thread, such as `resume()`, waits for the host.
    package var callDeadline: Duration = .seconds(5)
    /// Of several matching handlers, the first completion acknowledges a session's events, and not the last.
    package var firstCompletionCounts = false
    /// `getAllTasks` names tasks that have ended and whose end was not told yet.
    package var listsEndedTasks = true
    /// How long, by this machine's clock, an advance of the device's waits for what it set going.
    package var advancePatience: Duration = .seconds(30)
    /// Ending an app cancels its extensions' transfers too.
    package var forceQuitCancelsExtensions: Bool = false

    /// What the gallery and the screen do where Apple leaves it open.
    package var gallery = GallerySettings()

    /// What an extension may have of memory (`RssAnon`) before it is evicted, MiB; 0 for any amount.
    package var extensionMemoryLimit = 30
    /// How often its memory is looked at.
    package var memoryInterval: Duration = .milliseconds(250)

    /// Neither budget nor spacing holds for reloads. Source: WidgetKit Developer Mode.
    package var developerMode = false
    /// The file of the policy by which reloads are paid for, absolute; `nil` for the built-in one.
    package var budget: String?
    /// A placement is left alone for so long after a reload that came to nothing; doubled each time.
    package var timelineBackoffFirst: Duration = .seconds(60)
    package var timelineBackoffMax: Duration = .seconds(3600)
    /// How often an extension that died while it was asked for a timeline is asked again at once.
    package var retriesAfterDeath = 1
    /// The system's pause after a timeline of one entry whose policy is `atEnd`.
    package var oneEntryPause: Duration = .seconds(900)
    /// A timeline's policy brings the next reload no sooner.
    package var policyFloor: Duration = .seconds(60)
    /// What the archive of a timeline may not go beyond: KiB, views within views, pixels of an image, entries.
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
    completionDeadline = try reader.seconds("completionDeadline") ?? completionDeadline
    completionGrace = try reader.seconds("completionGrace") ?? completionGrace
    observedEventOrder = try reader.boolean("observedEventOrder") ?? observedEventOrder
    timelineDeadline = try reader.seconds("timelineDeadline") ?? timelineDeadline
    crashBackoffFirst = try reader.seconds("crashBackoffFirst") ?? crashBackoffFirst
    crashBackoffMax = try reader.seconds("crashBackoffMax") ?? crashBackoffMax
    redeliverAfter = try reader.seconds("redeliverAfter") ?? redeliverAfter
    redeliveries = try reader.integer("redeliveries") ?? redeliveries
    resumeAfter = try reader.seconds("resumeAfter") ?? resumeAfter
    resumeAfterMax = try reader.seconds("resumeAfterMax") ?? resumeAfterMax
    extensionMemoryLimit = try reader.integer("extensionMemoryLimit") ?? extensionMemoryLimit
    memoryInterval = try reader.seconds("memoryInterval") ?? memoryInterval
    guard (0...1 << 20).contains(extensionMemoryLimit) else {
      throw reader.error("extensionMemoryLimit", "is a number of MiB, and 0 for no limit")
    }
    guard memoryInterval >= .milliseconds(10) else { throw reader.error("memoryInterval", "is at least 0.01 s") }
    try readTransfers(&reader)
    try readProcesses(&reader)
    try readGallery(&reader)
    try readTime(&reader)
    try readTimelines(&reader)
    guard redeliveries > 0 else { throw reader.error("redeliveries", "is at least 1") }
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
    challengeDeadline = try reader.seconds("challengeDeadline") ?? challengeDeadline
    listsEndedTasks = try reader.boolean("listsEndedTasks") ?? listsEndedTasks
    guard redirectLimit >= 0 else { throw reader.error("redirectLimit", "is 0 or more") }
    guard (0...1 << 20).contains(resumableFrom) else { throw reader.error("resumableFrom", "is a number of KiB") }
    guard limiterFirst <= limiterMax else { throw reader.error("limiterMax", "is shorter than limiterFirst") }
    guard maximumLoads > 0 else { throw reader.error("maximumLoads", "is at least 1") }
    guard countsPerSecond >= 0 else { throw reader.error("countsPerSecond", "is 0 or more") }
  }

  private mutating func readTimelines(_ reader: inout ConfigurationReader) throws(ClusterError) {
    developerMode = try reader.boolean("developerMode") ?? developerMode
    budget = try reader.string("budget").map(reader.beside)
    timelineBackoffFirst = try reader.seconds("timelineBackoffFirst") ?? timelineBackoffFirst
    timelineBackoffMax = try reader.seconds("timelineBackoffMax") ?? timelineBackoffMax
    retriesAfterDeath = try reader.integer("retriesAfterDeath") ?? retriesAfterDeath
    oneEntryPause = try reader.seconds("oneEntryPause") ?? oneEntryPause
    policyFloor = try reader.seconds("policyFloor") ?? policyFloor
    archiveLimit = try reader.integer("archiveLimit") ?? archiveLimit
    archiveDepth = try reader.integer("archiveDepth") ?? archiveDepth
    imageAreaLimit = try reader.number("imageAreaLimit") ?? imageAreaLimit
    entryLimit = try reader.integer("entryLimit") ?? entryLimit
    guard timelineBackoffFirst <= timelineBackoffMax else {
      throw reader.error("timelineBackoffMax", "is shorter than timelineBackoffFirst")
    }
    guard retriesAfterDeath >= 0 else { throw reader.error("retriesAfterDeath", "is 0 or more") }
    guard policyFloor >= .seconds(1) else { throw reader.error("policyFloor", "is at least 1 s") }
    guard oneEntryPause >= .seconds(1) else { throw reader.error("oneEntryPause", "is at least 1 s") }
    guard (1...65_536).contains(archiveLimit) else { throw reader.error("archiveLimit", "is a number of KiB") }
    guard (1...240).contains(archiveDepth) else { throw reader.error("archiveDepth", "is 1 to 240") }
    guard imageAreaLimit > 0 else { throw reader.error("imageAreaLimit", "is a number of pixels") }
    guard (1...10_000).contains(entryLimit) else { throw reader.error("entryLimit", "is 1 to 10000") }
  }

  private mutating func readTime(_ reader: inout ConfigurationReader) throws(ClusterError) {
    advancePatience = try reader.seconds("advancePatience") ?? advancePatience
  }

  /// What holds within an author's process.
  private mutating func readProcesses(_ reader: inout ConfigurationReader) throws(ClusterError) {
    callDeadline = try reader.seconds("callDeadline") ?? callDeadline
    inlineRedirectLimit = try reader.integer("inlineRedirectLimit") ?? inlineRedirectLimit
    firstCompletionCounts = try reader.boolean("firstCompletionCounts") ?? firstCompletionCounts
    guard inlineRedirectLimit >= 0 else { throw reader.error("inlineRedirectLimit", "is 0 or more") }
  }
}
