// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
import DefaultsLog
import Foundation
import Localization
import MessageBus
import Messages
import Synchronization

/// The user defaults of one process: the domains that it opened, each with its log. Created at the first use. Any
/// thread.
///
/// The suite of an app group is in the group's folder and shared with all members. Every other domain is in the
/// process's container.
final class UserDefaultsStore: Sendable {
  /// A domain, as the process names it.
  struct Domain: Sendable {
    /// As `ReadDefaults.domain`.
    let name: String
    let file: DefaultsFile
    /// `nil` for the standard domain.
    let suite: String?
  }

  private struct State {
    var domains: [String?: Domain] = [:]
    /// Suites that standard defaults search too, in order.
    var searched: [String] = []
    var instances: [SuiteInstance] = []
    /// What was reported already.
    var reported: Set<String> = []
  }

  private let process: HostedProcess?
  private let reporter: DefaultsReporter?
  private let state = Mutex(State())

  private static let unhosted = UserDefaultsStore(nil)

  /// The store of the calling code's process; a common one in an executable that no agent started.
  static var current: UserDefaultsStore {
    HostedProcess.current.map { $0.part(UserDefaultsStore.self) { UserDefaultsStore($0) } } ?? unhosted
  }

  private init(_ process: HostedProcess?) {
    self.process = process
    self.reporter = process.map { DefaultsReporter($0) }
  }

  // MARK: Domains

  /// The identifier of the standard domain.
  var standardName: String { process?.address.bundleIdentifier ?? ProcessInfo.processInfo.processName }

  /// The folder with `Library/Preferences` of a domain.
  private func folder(of suite: String?) -> String {
    if let suite, let group = process?.groups[suite] { return group }
    if let process { return process.container }
    let environment = ProcessInfo.processInfo.environment
    return environment["CFFIXED_USER_HOME"] ?? environment["HOME"] ?? "/"
  }

  /// The domain of a suite; `nil` is the standard domain, which also has the name of the bundle.
  private func domain(_ suite: String?) -> Domain {
    let suite = suite == standardName ? nil : suite
    let (domain, isForeign) = state.withLock { state in
      if let domain = state.domains[suite] { return (domain, false) }
      let file = DefaultsFile(DefaultsFile.path(of: suite ?? standardName, in: folder(of: suite)))
      let isShared = suite.map { process?.groups[$0] != nil } ?? false
      let name = suite.map { isShared ? $0 : "\(standardName)/\($0)" } ?? standardName
      let domain = Domain(name: name, file: file, suite: suite)
      state.domains[suite] = domain
      return (domain, !isShared && process != nil && suite?.hasPrefix("group.") == true)
    }
    if isForeign, let suite { reportForeign(suite) }
    return domain
  }

  /// Prints it, and records it for `widgetlab diagnose`.
  private func reportForeign(_ suite: String) {
    process?.connection.record(
      FaultNoticed(
        .foreignAppGroup, subject: "suite \(suite)", details: "\(standardName) is not a member of this app group"))
    report(
      "UserDefaults(suiteName: \"\(suite)\"): \(standardName) is not a member of this app group, so the values are "
        + "shared with no other process; add it to appGroups in widgetlab.yaml")
  }

  // MARK: Values

  /// The value of a key in the domain, or, for the standard domain, in what it searches besides.
  func object(forKey key: String, suite: String?) -> AnyObject? {
    for domain in searched(suite) {
      if let bytes = reading(domain, { try $0.value(forKey: key) }) { return DefaultsObject.object(bytes) }
    }
    return Self.global(key)
  }

  /// All values, with those of the domains that the standard domain searches.
  func objects(suite: String?) -> [String: AnyObject] {
    var objects: [String: AnyObject] = [:]
    for domain in searched(suite).reversed() {
      let values = reading(domain) { try $0.values() } ?? [:]
      for (key, bytes) in values { objects[key] = DefaultsObject.object(bytes) }
    }
    return objects
  }

  private func searched(_ suite: String?) -> [Domain] {
    let more = suite == nil ? state.withLock { $0.searched } : []
    return [domain(suite)] + more.map { domain($0) }
  }

  /// The keys of the global domain that every device has.
  private static func global(_ key: String) -> AnyObject? {
    switch key {
    case "AppleLanguages": [preferredLanguages()[0]]._bridgeToObjectiveC()
    case "AppleLocale": Locale.device.identifier._bridgeToObjectiveC()
    default: nil
    }
  }

  /// Sets or removes a key, and posts the notification.
  func set(_ object: AnyObject?, forKey key: String, suite: String?) {
    let domain = domain(suite)
    let change: DefaultsRecord
    if let object {
      guard let bytes = DefaultsObject.propertyList(object) else {
        return report("UserDefaults: the value of \(key) is no property list and is not stored: \(object)")
      }
      change = .value(key, bytes)
    } else {
      change = .removal(key)
    }
    do {
      try domain.file.append(change)
    } catch {
      return report("UserDefaults: the change of \(key) in \(domain.name) is lost: \(error)")
    }
    reporter?.changed(key, in: domain.name)
    post(domain)
  }

  private func reading<Result>(_ domain: Domain, _ body: (DefaultsFile) throws -> Result?) -> Result? {
    do {
      return try body(domain.file)
    } catch {
      report("UserDefaults: \(domain.name) cannot be read: \(error)")
      return nil
    }
  }

  func addSuite(_ suite: String) {
    state.withLock { state in if !state.searched.contains(suite) { state.searched.append(suite) } }
  }

  func removeSuite(_ suite: String) { state.withLock { $0.searched.removeAll { $0 == suite } } }

  // MARK: Reports

  /// Writes a line to standard error, once.
  private func report(_ line: String) {
    guard state.withLock({ $0.reported.insert(line).inserted }) else { return }
    if let process { process.log(line) } else { FileHandle.standardError.write(Data("\(line)\n".utf8)) }
  }

  // MARK: Notification

  /// Remembers an instance of a suite, for the notification, as long as it exists.
  func register(_ instance: UserDefaults, suite: String) {
    state.withLock { state in
      state.instances.removeAll { $0.defaults == nil }
      state.instances.append(SuiteInstance(suite: suite, defaults: instance))
    }
  }

  /// Posts `didChangeNotification` on this thread, for each instance of the domain.
  private func post(_ domain: Domain) {
    guard let suite = domain.suite else {
      return NotificationCenter.default.post(name: UserDefaults.didChangeNotification, object: UserDefaults.standard)
    }
    let instances = state.withLock { $0.instances }.filter { $0.suite == suite }.compactMap(\.defaults)
    for instance in instances.isEmpty ? [UserDefaults(suiteName: Optional(suite))].compactMap(\.self) : instances {
      NotificationCenter.default.post(name: UserDefaults.didChangeNotification, object: instance)
    }
  }
}

/// An instance of an author's code, which it owns.
private struct SuiteInstance: Sendable {
  let suite: String
  // Unsafe: UserDefaults has no Sendable conformance on Linux. Its methods may be called on any thread.
  nonisolated(unsafe) weak var defaults: UserDefaults?
}

/// The values of user defaults as Foundation passes them, and as they are in the log.
enum DefaultsObject {
  /// A binary property list; `nil` when the object is none.
  static func propertyList(_ object: AnyObject) -> [UInt8]? {
    if let data = try? PropertyListSerialization.data(fromPropertyList: object, format: .binary, options: 0) {
      return Array(data)
    }
    guard let plain = plain(object) else { return nil }
    return (try? PropertyListSerialization.data(fromPropertyList: plain, format: .binary, options: 0)).map(Array.init)
  }

  /// The object of a binary property list.
  static func object(_ bytes: [UInt8]) -> AnyObject? {
    guard let value = try? PropertyListSerialization.propertyList(from: Data(bytes), format: nil) else { return nil }
    // Without these calls the linker drops the conformances from a static executable.
    if let array = value as? [Any] { return array._bridgeToObjectiveC() }
    if let dictionary = value as? [String: Any] { return dictionary._bridgeToObjectiveC() }
    return value as AnyObject
  }

  /// The value without the types that UserDefaults permits and property lists on Linux do not have; `nil` if it has
  /// others.
  private static func plain(_ value: Any) -> AnyObject? {
    switch value {
    case let value as CGFloat: return NSNumber(value: Double(value))
    case let values as [Any]:
      let plainValues = values.compactMap { plain($0) }
      return plainValues.count == values.count ? (plainValues as [Any])._bridgeToObjectiveC() : nil
    case let values as [String: Any]:
      let plainValues = values.compactMapValues { plain($0) }
      return plainValues.count == values.count ? (plainValues as [String: Any])._bridgeToObjectiveC() : nil
    case is String, is Date, is Data, is NSNumber: return value as AnyObject
    default: return nil
    }
  }
}

/// Records in the journal which defaults a process changed. Changes within a moment of a notice are in the next one, so
/// that thousands of them do not fill the journal.
final class DefaultsReporter: Sendable {
  private struct State {
    var changes: [(domain: String, keys: [String], count: Int)] = []
    var isSending = false
  }

  /// The shortest time between two notices, of the machine's time.
  static let pause = Duration.milliseconds(100)

  private let process: HostedProcess
  private let state = Mutex(State())

  init(_ process: HostedProcess) { self.process = process }

  /// Any thread.
  func changed(_ key: String, in domain: String) {
    let begins = state.withLock { state in
      let index = state.changes.firstIndex { $0.domain == domain } ?? state.changes.count
      if index == state.changes.count { state.changes.append((domain, [], 0)) }
      state.changes[index].count += 1
      let keys = state.changes[index].keys
      if keys.count < DefaultsChanged.namedKeys, !keys.contains(key) { state.changes[index].keys.append(key) }
      defer { state.isSending = true }
      return !state.isSending
    }
    // The author's code may occupy all threads of Swift concurrency: on one core there is one.
    if begins { process.startTask(on: process.connection.executor) { await self.send() } }
  }

  private func send() async {
    while let changes = next() {
      for change in changes {
        process.connection.record(DefaultsChanged(domain: change.domain, keys: change.keys, changes: change.count))
      }
      await process.connection.caughtUp()
      try? await Task.sleep(for: Self.pause)
    }
  }

  private func next() -> [(domain: String, keys: [String], count: Int)]? {
    state.withLock { state in
      defer { state.changes = [] }
      state.isSending = !state.changes.isEmpty && !Task.isCancelled
      return state.isSending ? state.changes : nil
    }
  }
}
