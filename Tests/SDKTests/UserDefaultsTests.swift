// SPDX-License-Identifier: Apache-2.0

import BusTesting
import CAuthorProcess
import DefaultsLog
import FidelityRules
import Foundation
import MessageBus
import Messages
import Synchronization
import Testing
import Timekeeping
import URLSessionAPI

@testable import AuthorRuntime
@testable import SwiftUI
@testable import UserDefaultsAPI

/// An app and its extension with one app group, on an in-memory bus.
private final class DefaultsModel: Sendable {
  static let group = "group.com.example.Trial"
  let bus = InMemoryBus()
  let app: HostedProcess
  let widget: HostedProcess
  let folder = FileManager.default.temporaryDirectory.path + "/user-defaults-\(UUID().uuidString)"

  init() {
    let (bus, folder) = (bus, folder)
    let make = { (address: Address) in
      let context = LaunchContext(
        address: address, generation: 1, host: .host("phone"), endpoint: "", serverKey: "", publicKey: "",
        secretKey: "", container: "\(folder)/\(address.bundleIdentifier ?? "")",
        groups: [DefaultsModel.group: "\(folder)/group"], rules: .waiting(60), agentPid: 0)
      return HostedProcess(context, connection: bus.connection(address))
    }
    app = make(.app("phone", "com.example.App"))
    widget = make(.widgetExtension("phone", "com.example.App.Widget"))
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  /// The app's next process instance.
  func appAgain() -> HostedProcess {
    let context = LaunchContext(
      address: app.address, generation: 2, host: app.host, endpoint: "", serverKey: "", publicKey: "", secretKey: "",
      container: app.container, groups: app.groups, rules: .waiting(60), agentPid: 0)
    return HostedProcess(context, connection: bus.connection(.app("phone", "com.example.Other")))
  }

  var suite: UserDefaults { get throws { try #require(UserDefaults(suiteName: Self.group)) } }
}

@Suite(.timeLimit(.minutes(1))) struct `User defaults in an author's process` {
  private let model = DefaultsModel()

  @Test func `Foundation's functions are replaced in this dynamic executable`() {
    #expect(user_defaults_are_replaced())
  }

  @Test(.rule("DEFAULTS-01")) func `a suite of an app group is one store for app and extension`() throws {
    try model.app.asCurrent {
      let defaults = try model.suite
      defaults.set(3, forKey: "drinks")
      defaults.set("Anna", forKey: "name")
    }
    try model.widget.asCurrent {
      let defaults = try model.suite
      #expect(defaults.integer(forKey: "drinks") == 3 && defaults.string(forKey: "name") == "Anna")
      defaults.set(4, forKey: "drinks")
      defaults.removeObject(forKey: "name")
    }
    try model.app.asCurrent {
      let defaults = try model.suite
      #expect(defaults.integer(forKey: "drinks") == 4 && defaults.object(forKey: "name") == nil)
    }
  }

  @Test(.rule("DEFAULTS-02")) func `standard defaults and other suites belong to the bundle, and outlive its process`()
    throws
  {
    model.app.asCurrent {
      UserDefaults.standard.set(1, forKey: "a")
      UserDefaults(suiteName: "other")?.set(2, forKey: "a")
    }
    model.widget.asCurrent {
      #expect(UserDefaults.standard.object(forKey: "a") == nil)
      #expect(UserDefaults(suiteName: "other")?.object(forKey: "a") == nil)
    }
    model.appAgain().asCurrent {
      #expect(UserDefaults.standard.integer(forKey: "a") == 1)
      #expect(UserDefaults(suiteName: "other")?.integer(forKey: "a") == 2)
      #expect(UserDefaults.standard.persistentDomain(forName: "com.example.App")?["a"] as? Int == 1)
    }
  }

  @Test(.rule("DEFAULTS-07"), arguments: [0, 1])
  func `a value that is no property list terminates the process`(form: Int) async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [form] in
      UserDefaults.standard.set(form == 0 ? ["a": NSObject()] : NSObject() as Any, forKey: "a")
    }
    let printed = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(printed.contains("UserDefaults"), "\(printed)")
  }

  @Test(.rule("DEFAULTS-07")) func `every type of a property list is returned as it was set`() throws {
    try model.app.asCurrent {
      let defaults = try model.suite
      let date = Date(timeIntervalSinceReferenceDate: 12.5)
      defaults.set("ä", forKey: "string")
      defaults.set(Int.min, forKey: "int")
      defaults.set(UInt64.max, forKey: "unsigned")
      defaults.set(2.0, forKey: "double")
      defaults.set(Float(1.5), forKey: "float")
      defaults.set(CGFloat(2.5), forKey: "cgFloat")
      defaults.set(true, forKey: "bool")
      defaults.set(date, forKey: "date")
      defaults.set(Data([1, 2]), forKey: "data")
      defaults.set(["a", "b"], forKey: "strings")
      defaults.set(["a", 1, [2.5], ["k": true]] as [Any], forKey: "array")
      defaults.set(["k": ["x": CGFloat(1)]], forKey: "dictionary")
      #expect(defaults.object(forKey: "string") as? String == "ä")
      #expect(defaults.object(forKey: "int") as? Int == .min)
      #expect(defaults.object(forKey: "unsigned") as? UInt64 == .max)
      #expect(defaults.object(forKey: "double") as? Double == 2)
      #expect(defaults.object(forKey: "float") as? Float == 1.5)
      #expect(defaults.double(forKey: "cgFloat") == 2.5)
      #expect(defaults.object(forKey: "bool") as? Bool == true)
      #expect(defaults.object(forKey: "date") as? Date == date)
      #expect(defaults.data(forKey: "data") == Data([1, 2]))
      #expect(defaults.stringArray(forKey: "strings") == ["a", "b"])
      #expect(defaults.array(forKey: "array")?.count == 4 && defaults.array(forKey: "array")?[1] as? Int == 1)
      #expect((defaults.dictionary(forKey: "dictionary")?["k"] as? [String: Any])?["x"] as? Double == 1)
    }
  }

  @Test(.rule("DEFAULTS-08")) func `registered defaults are those of all instances, below what is set`() throws {
    try model.app.asCurrent {
      let defaults = try model.suite
      UserDefaults.standard.register(defaults: ["registered": 1])
      #expect(defaults.integer(forKey: "registered") == 1)
      #expect(defaults.dictionaryRepresentation()["registered"] as? Int == 1)
      defaults.set(2, forKey: "registered")
      #expect(defaults.integer(forKey: "registered") == 2 && UserDefaults.standard.integer(forKey: "registered") == 1)
      defaults.removeObject(forKey: "registered")
      #expect(defaults.integer(forKey: "registered") == 1)
    }
  }

  @Test(.rule("DEFAULTS-09")) func `a domain is listed, replaced and removed as a whole`() throws {
    try model.app.asCurrent {
      let defaults = try model.suite
      defaults.set(1, forKey: "a")
      defaults.set("x", forKey: "b")
      let all = defaults.dictionaryRepresentation()
      #expect(all["a"] as? Int == 1 && all["b"] as? String == "x")
      defaults.setPersistentDomain(["c": 3], forName: DefaultsModel.group)
      #expect(defaults.object(forKey: "a") == nil && defaults.integer(forKey: "c") == 3)
      defaults.removePersistentDomain(forName: DefaultsModel.group)
      #expect(defaults.object(forKey: "c") == nil)
      UserDefaults.standard.set(1, forKey: "a")
      UserDefaults.standard.removePersistentDomain(forName: "com.example.App")
      #expect(UserDefaults.standard.object(forKey: "a") == nil)
    }
  }

  @Test(.rule("DEFAULTS-09")) func `standard defaults search the suites that were added`() throws {
    try model.app.asCurrent {
      try model.suite.set("group", forKey: "a")
      #expect(UserDefaults.standard.object(forKey: "a") == nil)
      UserDefaults.standard.addSuite(named: DefaultsModel.group)
      #expect(UserDefaults.standard.string(forKey: "a") == "group")
      #expect(UserDefaults.standard.dictionaryRepresentation()["a"] as? String == "group")
      UserDefaults.standard.set("own", forKey: "a")
      #expect(UserDefaults.standard.string(forKey: "a") == "own")
      UserDefaults.standard.removeSuite(named: DefaultsModel.group)
      UserDefaults.standard.removeObject(forKey: "a")
      #expect(UserDefaults.standard.object(forKey: "a") == nil)
    }
  }

  @Test(.rule("DEFAULTS-10")) func `key-value coding and URLs are as on Apple's systems`() throws {
    try model.app.asCurrent {
      let defaults = try model.suite
      defaults.setValue(5, forKey: "a")
      #expect(defaults.value(forKey: "a") as? Int == 5)
      defaults.setValue(nil, forKey: "a")
      #expect(defaults.value(forKey: "a") == nil)
      let page = try #require(URL(string: "https://example.com/a?b=c"))
      let file = URL(fileURLWithPath: "/tmp/a b")
      defaults.set(page, forKey: "page")
      defaults.set(file, forKey: "file")
      #expect(defaults.url(forKey: "page") == page)
      #expect(defaults.object(forKey: "page") is Data, "an archive")
      #expect(defaults.url(forKey: "file")?.path == file.path)
      #expect(defaults.string(forKey: "file") == "/tmp/a b")
      #expect(UserDefaults(suiteName: "com.example.App") == nil && UserDefaults(suiteName: "NSGlobalDomain") == nil)
    }
  }

  @Test(.rule("DEFAULTS-11")) func `each change is notified on its thread, with the instance that has the domain`()
    throws
  {
    try model.app.asCurrent {
      let defaults = try model.suite
      let standard = try notified(UserDefaults.standard) { UserDefaults.standard.set(1, forKey: "a") }
      let own = try notified(defaults) { defaults.set(1, forKey: "a") }
      let removed = try notified(defaults) { try model.suite.removeObject(forKey: "a") }
      let none = try notified(defaults) { UserDefaults.standard.set(2, forKey: "a") }
      let counts: [Int] = [standard, own, removed, none]
      #expect(counts == [1, 1, 1, 0])
    }
  }

  /// How often the notification is posted for an object on this thread during the work.
  ///
  /// `UserDefaults.standard` is one object for all tests of this process, and others write to it on their threads.
  private func notified(_ object: UserDefaults, _ work: () throws -> Void) throws -> Int {
    let count = Atomic(0)
    let thread = pthread_self()
    let token = NotificationCenter.default.addObserver(
      forName: UserDefaults.didChangeNotification, object: object, queue: nil
    ) { _ in
      if pthread_equal(pthread_self(), thread) != 0 { count.add(1, ordering: .relaxed) }
    }
    defer { NotificationCenter.default.removeObserver(token) }
    try work()
    return count.load(ordering: .relaxed)
  }

  @Test(.rule("DEFAULTS-12")) func `AppStorage reads and writes the store that it names`() throws {
    try model.app.asCurrent {
      let defaults = try model.suite
      let drinks = AppStorage(wrappedValue: 0, "drinks", store: defaults)
      let amount = AppStorage(wrappedValue: 0.5, "drinks", store: defaults)
      let isOn = AppStorage(wrappedValue: false, "isOn", store: defaults)
      let page = AppStorage(wrappedValue: URL(fileURLWithPath: "/"), "page", store: defaults)
      drinks.wrappedValue = 4
      defaults.set(1, forKey: "isOn")
      page.wrappedValue = try #require(URL(string: "https://example.com"))
      #expect(defaults.integer(forKey: "drinks") == 4 && amount.wrappedValue == 4 && isOn.wrappedValue)
      #expect(defaults.url(forKey: "page")?.absoluteString == "https://example.com")
      #expect(page.wrappedValue.absoluteString == "https://example.com")
    }
    try model.widget.asCurrent {
      let suite = try model.suite
      #expect(AppStorage(wrappedValue: 0, "drinks", store: suite).wrappedValue == 4)
      UserDefaults.standard.set(7, forKey: "drinks")
      #expect(AppStorage(wrappedValue: 0, "drinks").wrappedValue == 7)
    }
  }

  @Test(.rule("DEFAULTS-05")) func `many changes are recorded in few notices`() async throws {
    _ = try await model.app.connection.start()
    try model.app.asCurrent {
      let defaults = try model.suite
      for number in 0..<1000 { defaults.set(number, forKey: "key\(number)") }
    }
    var notices: [DefaultsChanged] = []
    while notices.reduce(0, { $0 + $1.changes }) < 1000 {
      try Task.checkCancellation()
      await Task.yield()
      notices = await model.bus.sentEnvelopes.compactMap { Self.notice($0) }
    }
    #expect(notices.count <= 20 && notices[0].keys.first == "key0" && notices[0].domain == DefaultsModel.group)
    #expect(DefaultsReporter.pause == .seconds(0.1))
    #expect(DefaultsChanged.namedKeys == 10 && notices.allSatisfy { $0.keys.count <= DefaultsChanged.namedKeys })
    model.app.tasks.cancel()
  }

  private static func notice(_ envelope: Envelope) -> DefaultsChanged? {
    envelope.header.kind == DefaultsChanged.kind
      ? try? BodyCoding.decode(DefaultsChanged.self, from: envelope.body) : nil
  }

  @Test(.rule("DEFAULTS-13")) func `the language of the device is in the global domain`() {
    model.app.asCurrent {
      #expect(UserDefaults.standard.stringArray(forKey: "AppleLanguages")?.count == 1)
      #expect(UserDefaults.standard.string(forKey: "AppleLocale") != nil)
    }
  }
}
