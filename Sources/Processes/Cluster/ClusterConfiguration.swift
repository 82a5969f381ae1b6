package import Conversations
import Foundation
import Yams

/// What `widgetlab.yaml` says: the device, its apps and extensions, the provider, and the settings of the rules that
/// Apple does not state.
package struct ClusterConfiguration: Sendable, Hashable {
  package struct Device: Sendable, Hashable {
    /// The device's name on the bus: letters, digits, `-`, `_`, `.`.
    package let name: String
    package let model: String
    package let platform: String
    package let version: String
  }

  /// An app or an extension of the device.
  package struct Product: Sendable, Hashable {
    package let bundle: String
    /// A name in the folder of the agent's executables, or an absolute path.
    package let executable: String
    /// The number of the agent that spawns it.
    package let agent: Int
    /// As it stands in the file; `ClusterConfiguration.environment(of:in:)` expands it.
    package let environment: [String: String]
    package let isExtension: Bool

    /// Its address on a device.
    package func address(on device: String) -> Address {
      isExtension ? .widgetExtension(device, bundle) : .app(device, bundle)
    }
  }

  /// The developer's own backend.
  package struct Provider: Sendable, Hashable {
    package let executable: String
    package let arguments: [String]
  }

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
    /// Ending an app cancels its extensions' transfers too.
    package var forceQuitCancelsExtensions: Bool = false

    /// What an extension may have of memory (`RssAnon`) before it is evicted, MiB; 0 for any amount.
    package var extensionMemoryLimit = 30
    /// How often its memory is looked at.
    package var memoryInterval: Duration = .milliseconds(250)

    package init() {}
  }

  package let device: Device
  package let appGroups: [String]
  package let apps: [Product]
  package let extensions: [Product]
  /// `nil` when the backend runs elsewhere.
  package let provider: Provider?
  package let settings: Settings
  /// What the broker bounds.
  package let bus: BusLimits

  /// Apps, then extensions.
  package var products: [Product] { apps + extensions }

  /// The agents that the products name, ascending; agent 1 when there are none.
  package var agentNumbers: [Int] { Set(products.map(\.agent)).union(products.isEmpty ? [1] : []).sorted() }

  /// The product with a bundle identifier.
  package func product(_ bundle: String) -> Product? { products.first { $0.bundle == bundle } }

  /// An app's extensions: those whose bundle identifiers begin with its own, as on a device.
  package func extensions(ofApp bundle: String) -> [Product] {
    extensions.filter { product in
      let apps = apps.map(\.bundle).filter { product.bundle.hasPrefix($0 + ".") }
      return apps.max { $0.count < $1.count } == bundle
    }
  }

  /// Reads `widgetlab.yaml`.
  ///
  /// - Throws: `configuration`, with the file, the line and the key.
  package static func load(_ path: String) throws(ClusterError) -> ClusterConfiguration {
    let text: String
    do {
      text = try String(contentsOfFile: path, encoding: .utf8)
    } catch {
      throw ClusterError(
        .configuration,
        "\(path) cannot be read: name another file with --config, or go to the folder of your widgetlab.yaml")
    }
    return try ClusterConfiguration(yaml: text, file: path)
  }

  /// Reads the text of a `widgetlab.yaml`.
  ///
  /// - Parameter file: its name in messages.
  /// - Throws: `configuration`, with the file, the line and the key.
  package init(yaml: String, file: String = "widgetlab.yaml") throws(ClusterError) {
    let node: Node?
    do {
      node = try Yams.compose(yaml: yaml)
    } catch {
      throw ClusterError(.configuration, "\(file) is not YAML: \(error)")
    }
    guard let node else { throw ClusterError(.configuration, "\(file) is empty: at least `device:` is needed") }
    var root = try ConfigurationReader(node, file: file, path: "")
    var device = try root.requiredMapping("device")
    self.device = try Device(reading: &device)
    appGroups = try root.strings("appGroups")
    apps = try root.mappings("apps").map { reader throws(ClusterError) in
      try Product(reading: reader, isExtension: false)
    }
    extensions = try root.mappings("extensions").map { reader throws(ClusterError) in
      try Product(reading: reader, isExtension: true)
    }
    provider = try root.mapping("provider").map { reader throws(ClusterError) in try Provider(reading: reader) }
    settings =
      try root.mapping("settings").map { reader throws(ClusterError) in try Settings(reading: reader) }
      ?? Settings()
    bus = try root.mapping("bus").map { reader throws(ClusterError) in try BusLimits(reading: reader) } ?? BusLimits()
    try root.finish()
    try validate(file)
  }

  private func validate(_ file: String) throws(ClusterError) {
    var seen: Set<String> = []
    for product in products where !seen.insert(product.bundle).inserted {
      throw ClusterError(
        .configuration, "\(file): the bundle identifier \(product.bundle) is used twice; each process needs its own")
    }
    for group in appGroups where !group.isName {
      throw ClusterError(.configuration, "\(file): appGroups: \"\(group)\" is no group identifier")
    }
  }
}

extension ClusterConfiguration.Device {
  fileprivate init(reading reader: inout ConfigurationReader) throws(ClusterError) {
    name = try reader.requiredString("name")
    guard name.isName else {
      throw reader.error("name", "\"\(name)\" is no device name; letters, digits, `-`, `_` and `.` make one")
    }
    model = try reader.string("model") ?? "iPhone 16"
    platform = try reader.string("platform") ?? "iOS"
    version = try reader.string("version") ?? "18.0"
    try reader.finish()
  }
}

extension ClusterConfiguration.Product {
  fileprivate init(reading mapping: ConfigurationReader, isExtension: Bool) throws(ClusterError) {
    var reader = mapping
    bundle = try reader.requiredString("bundle")
    guard bundle.isName, bundle.utf8.count <= 155 else {
      throw reader.error("bundle", "\"\(bundle)\" is no bundle identifier")
    }
    executable = try reader.requiredString("executable")
    guard !executable.isEmpty else { throw reader.error("executable", "is empty") }
    agent = try reader.integer("agent") ?? 1
    guard agent > 0 else { throw reader.error("agent", "agents are numbered from 1") }
    environment = try reader.dictionary("environment")
    for (name, value) in environment {
      do {
        try Expansion.check(value)
      } catch {
        throw reader.error("environment", "\(name): \(error.message)")
      }
    }
    self.isExtension = isExtension
    try reader.finish()
  }
}

extension ClusterConfiguration.Provider {
  fileprivate init(reading mapping: ConfigurationReader) throws(ClusterError) {
    var reader = mapping
    executable = try reader.requiredString("executable")
    arguments = try reader.strings("arguments")
    try reader.finish()
  }
}

extension ClusterConfiguration.Settings {
  fileprivate init(reading mapping: ConfigurationReader) throws(ClusterError) {
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

  /// What holds within an author's process.
  private mutating func readProcesses(_ reader: inout ConfigurationReader) throws(ClusterError) {
    callDeadline = try reader.seconds("callDeadline") ?? callDeadline
    inlineRedirectLimit = try reader.integer("inlineRedirectLimit") ?? inlineRedirectLimit
    firstCompletionCounts = try reader.boolean("firstCompletionCounts") ?? firstCompletionCounts
    guard inlineRedirectLimit >= 0 else { throw reader.error("inlineRedirectLimit", "is 0 or more") }
  }
}

extension BusLimits {
  fileprivate init(reading mapping: ConfigurationReader) throws(ClusterError) {
    var reader = mapping
    self.init()
    if let text = try reader.string("journalLimit") {
      guard let length = ByteCount(argument: text) else {
        throw reader.error("journalLimit", "\"\(text)\" is no length of at least 64KiB; one looks like 512MiB or 1GiB")
      }
      journal = length
    }
    peers = try reader.integer("peerLimit") ?? peers
    guard peers > 0 else { throw reader.error("peerLimit", "is at least 1") }
    keyGrace = try reader.seconds("keyGrace") ?? keyGrace
    guard keyGrace <= .seconds(86_400) else { throw reader.error("keyGrace", "is at most a day: 86400") }
    try reader.finish()
  }
}

extension String {
  /// Whether it can be a component of an address and of a path.
  fileprivate var isName: Bool {
    !isEmpty && self != "." && self != ".."
      && utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
          true
        default: false
        }
      }
  }
}
