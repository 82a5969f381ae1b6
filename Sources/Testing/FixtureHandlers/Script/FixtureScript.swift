// SPDX-License-Identifier: Apache-2.0

import Foundation
import Network
import Security
import SwiftUI
import Synchronization
import WidgetKit

/// The part of this process according to `TRIAL_FORM`: the app or the widget extension.
enum ScriptForm: String {
  case app, widget

  static let current: ScriptForm = {
    let name = ProcessInfo.processInfo.environment["TRIAL_FORM"] ?? ""
    guard let form = ScriptForm(rawValue: name) else { fatalError("TRIAL_FORM: there is no form '\(name)'") }
    return form
  }()
}

/// An app and an extension for tests. They read and write user defaults, print what their bundle has, and send requests,
/// as a script in the folder of their app group says: the app when it becomes active, the extension when it is asked for
/// a timeline.
enum FixtureScript {
  static let group = ProcessInfo.processInfo.environment["TRIAL_GROUP"] ?? ""

  @MainActor static func main() {
    switch ScriptForm.current {
    case .app: ScriptApp.main()
    case .widget: ScriptWidget.main()
    }
  }
}

struct ScriptApp: App {
  @UIApplicationDelegateAdaptor(ScriptDelegate.self) private var delegate

  var body: some Scene { WindowGroup { Text(verbatim: "Script") } }
}

final class ScriptDelegate: NSObject, UIApplicationDelegate {
  static private(set) var launchState: UIApplication.State?

  func application(
    _ application: UIApplication, didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
  ) -> Bool {
    Self.launchState = application.applicationState
    return true
  }

  func applicationDidBecomeActive(_ application: UIApplication) { Task.detached { await Script.run() } }
}

struct ScriptWidget: Widget {
  var body: some WidgetConfiguration {
    StaticConfiguration(kind: "Trial", provider: ScriptProvider()) { _ in ScriptView() }
  }
}

struct ScriptView: View {
  @AppStorage("drinks", store: UserDefaults(suiteName: FixtureScript.group)) private var drinks = 0
  @AppStorage("name", store: UserDefaults(suiteName: FixtureScript.group)) private var name = "unnamed"

  var body: some View { Text(verbatim: "\(name) \(drinks)") }
}

struct ScriptEntry: TimelineEntry {
  let date: Date
}

struct ScriptProvider: TimelineProvider {
  func placeholder(in context: Context) -> ScriptEntry { ScriptEntry(date: .now) }

  func getSnapshot(in context: Context, completion: @escaping @Sendable (ScriptEntry) -> Void) {
    completion(ScriptEntry(date: .now))
  }

  func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<ScriptEntry>) -> Void) {
    Task.detached {
      await Script.run()
      completion(Timeline(entries: [ScriptEntry(date: .now)], policy: .never))
    }
  }
}

/// The lines of the script `script-app` or `script-widget`, with words that a space separates.
enum Script {
  static func run() async {
    guard let folder = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: FixtureScript.group),
      let script = try? String(contentsOf: folder.appending(path: "script-\(ScriptForm.current)"), encoding: .utf8)
    else { return }
    for line in script.split(separator: "\n") { await perform(line.split(separator: " ").map(String.init), folder) }
    print("finished \(ScriptForm.current)")
  }

  private static func perform(_ words: [String], _ folder: URL) async {
    switch words[0] {
    case "info": print("\(words[1]) = \(Bundle.main.object(forInfoDictionaryKey: words[1]) ?? "nothing")")
    case "bundle":
      print("bundle \(Bundle.main.bundleIdentifier ?? "nothing") at \(Bundle.main.bundleURL.lastPathComponent)")
      let receipt: URL? = Bundle.main.appStoreReceiptURL
      print("receipt \(receipt?.path ?? "nothing")")
      print("keys \((Bundle.main.infoDictionary ?? [:]).keys.sorted().joined(separator: " "))")
    case "resource":
      let url = Bundle.main.url(forResource: words[1], withExtension: words[2])
      let text = url.flatMap { try? String(contentsOf: $0, encoding: .utf8) } ?? "nothing"
      print("\(words[1]).\(words[2]): \(text.trimmingCharacters(in: .newlines))")
    case "containing":
      // The bundle of the app, which contains PlugIns/Name.appex.
      let url = Bundle.main.bundleURL.deletingLastPathComponent().deletingLastPathComponent()
      print("app \(Bundle(url: url)?.bundleIdentifier ?? "nothing")")
    case "load": await load(words[1])
    case "download": await Download.shared.load(words[1], words.dropFirst(2).map { String($0) })
    case "set": defaults(words[1]).set(Int(words[3]) as Any? ?? words[3], forKey: words[2])
    case "get": print("\(words[2]) = \(defaults(words[1]).object(forKey: words[2]) ?? "nothing")")
    case "many":
      let storedDefaults = defaults(words[1])
      let count = Int(words[3]) ?? 0
      for number in 0..<count { storedDefaults.set(number, forKey: "\(words[2])\(number)") }
      // Writes them again until the file exists, if one is named. Then no thread of Swift concurrency is free.
      guard words.count > 4 else { break }
      let file = folder.appending(path: words[4]).path
      let (release, threads) = (DispatchSemaphore(value: 0), ProcessInfo.processInfo.activeProcessorCount)
      for _ in 0..<threads { Task.detached { block(until: release) } }
      var next = 0
      while !FileManager.default.fileExists(atPath: file) {
        storedDefaults.set(next % count, forKey: "\(words[2])\(next % count)")
        next += 1
      }
      for _ in 0..<threads { release.signal() }
    case "count":
      let storedDefaults = defaults(words[1])
      let foundCount = (0..<(Int(words[3]) ?? 0)).count { storedDefaults.integer(forKey: "\(words[2])\($0)") == $0 }
      print("\(words[2]) has \(foundCount), with 0: \(storedDefaults.object(forKey: "\(words[2])0") != nil)")
    case "meet":
      // A named pipe: each side waits for the other.
      let file = open(folder.appending(path: "meeting").path, ScriptForm.current == .app ? O_RDONLY : O_WRONLY)
      print("met \(file >= 0)")
    case "add", "read", "delete": keychain(words)
    case "path": print("path \(NetworkPath.text(NWPathMonitor().currentPath))")
    case "paths": NetworkPath.follow()
    case "device": await MainActor.run { printDevice() }
    case "die": kill(getpid(), SIGKILL)
    default: fatalError("there is no instruction '\(words[0])'")
    }
  }

  /// The identifier for the vendor, the battery, Low Power Mode, and the state of the app at its launch.
  @MainActor private static func printDevice() {
    let device = UIDevice.current
    device.isBatteryMonitoringEnabled = true
    print("vendor \(device.identifierForVendor?.uuidString ?? "nothing")")
    print("battery \(device.batteryLevel) \(device.batteryState) \(ProcessInfo.processInfo.isLowPowerModeEnabled)")
    if let state = ScriptDelegate.launchState { print("launched \(state)") }
  }

  /// Blocks its thread.
  private static func block(until release: DispatchSemaphore) { release.wait() }

  /// - Parameter name: `standard`, `group`, or the name of a suite.
  private static func defaults(_ name: String) -> UserDefaults {
    if name == "standard" { return .standard }
    guard let defaults = UserDefaults(suiteName: name == "group" ? FixtureScript.group : name) else {
      fatalError("there is no suite \(name)")
    }
    return defaults
  }

  private static func load(_ address: String) async {
    guard let url = URL(string: address) else { fatalError("\(address) is not a URL") }
    do {
      let (data, response) = try await URLSession.shared.data(from: url)
      print("loaded \((response as? HTTPURLResponse)?.statusCode ?? 0) \(String(decoding: data, as: UTF8.self))")
    } catch {
      print("not loaded \((error as NSError).code) \(error.localizedDescription)")
    }
  }
}

/// Downloads of background sessions, one session for each set of options. One at a time.
final class Download: NSObject, URLSessionDownloadDelegate, Sendable {
  private struct State {
    var sessions: [String: URLSession] = [:]
    var waitingContinuation: CheckedContinuation<Void, Never>?
  }

  static let shared = Download()

  private let state = Mutex(State())

  /// Returns when the download has ended.
  ///
  /// - Parameter options: `no-storage`, `no-cookies`, `never`.
  func load(_ address: String, _ options: [String]) async {
    guard let url = URL(string: address) else { fatalError("\(address) is not a URL") }
    let task = session(options).downloadTask(with: url)
    await withCheckedContinuation { continuation in
      state.withLock { $0.waitingContinuation = continuation }
      task.resume()
    }
  }

  private func session(_ options: [String]) -> URLSession {
    let name = ([Bundle.main.bundleIdentifier ?? "", "requests"] + options).joined(separator: ".")
    if let session = state.withLock({ $0.sessions[name] }) { return session }
    let configuration = URLSessionConfiguration.background(withIdentifier: name)
    configuration.sharedContainerIdentifier = FixtureScript.group
    if options.contains("no-storage") { configuration.httpCookieStorage = nil }
    if options.contains("no-cookies") { configuration.httpShouldSetCookies = false }
    if options.contains("never") { configuration.httpCookieAcceptPolicy = .never }
    let session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
    state.withLock { $0.sessions[name] = session }
    return session
  }

  func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
    let text = (try? String(contentsOf: location, encoding: .utf8)) ?? ""
    print("downloaded \((downloadTask.response as? HTTPURLResponse)?.statusCode ?? 0) \(text)")
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    if let error { print("not downloaded \((error as NSError).code) \(error.localizedDescription)") }
    state.withLock { $0.waitingContinuation.take() }?.resume()
  }
}

// The instructions for the keychain and the network.

extension Script {
  /// `add GROUP ACCOUNT TEXT`, `read ACCOUNT`, `delete ACCOUNT`. The group `default` is that of the process.
  static func keychain(_ words: [String]) {
    var query = [kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "trial"] as [String: Any]
    switch words[0] {
    case "add":
      query[kSecAttrAccount as String] = words[2]
      query[kSecValueData as String] = Data(words[3].utf8)
      if words[1] != "default" { query[kSecAttrAccessGroup as String] = words[1] }
      print("add \(words[2]): \(SecItemAdd(query as CFDictionary, nil))")
    case "read":
      query[kSecAttrAccount as String] = words[1]
      query[kSecReturnData as String] = kCFBooleanTrue as Any
      query[kSecReturnAttributes as String] = true
      query[kSecMatchLimit as String] = kSecMatchLimitOne
      var item: CFTypeRef?
      let status = SecItemCopyMatching(query as CFDictionary, &item)
      guard status == errSecSuccess, let foundItem = item as? [String: Any] else {
        return print("read \(words[1]): \(status)")
      }
      let text = (foundItem[kSecValueData as String] as? Data).map { String(decoding: $0, as: UTF8.self) }
      print(
        "read \(words[1]): \(text ?? "no data") in \(foundItem[kSecAttrAccessGroup as String] as? String ?? "no group")"
      )
    default:
      query[kSecAttrAccount as String] = words[1]
      print("delete \(words[1]): \(SecItemDelete(query as CFDictionary))")
    }
  }
}

/// Prints paths of the network.
enum NetworkPath {
  /// Kept, because a monitor ends with its last reference.
  private static let monitor = NWPathMonitor()

  static func text(_ path: NWPath) -> String {
    let names = path.availableInterfaces.map { "\($0.type)" }
    return (["\(path.status)"] + names + (path.isExpensive ? ["expensive"] : []) + (path.isConstrained ? ["low"] : []))
      .joined(separator: " ")
  }

  /// Prints the path now, and each other one while the process runs.
  static func follow() {
    monitor.pathUpdateHandler = { print("path changed: \(text($0))") }
    monitor.start(queue: .main)
  }
}
