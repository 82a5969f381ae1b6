// SPDX-License-Identifier: Apache-2.0

package import Archive
package import AuthorRuntime
import Dispatch
import MessageBus
import Messages
import Synchronization
import Timekeeping
import URLSessionAPI

extension AppIntent {
  /// The parameters by property name. Parameters without a value are omitted.
  package var archivedParameters: [String: ArchivedValue] {
    var values: [String: ArchivedValue] = [:]
    for (name, parameter) in intentParameters { values[name] = parameter.archive }
    return values
  }

  /// The type's name, which identifies the type in another process of the same executable.
  package static var archivedName: String {
    let name = String(reflecting: Self.self)
    seen.withLock { $0[name] = Self.self }
    return name
  }

  /// Whether the app is brought to the foreground to perform it.
  package static var opensApp: Bool { modes(on: DeviceVersion.major).contains(.foreground(.immediate)) }

  /// Where it is performed. `supportedModes` replaces `openAppWhenRun` since iOS 26.
  ///
  /// - Parameter version: the device's major version.
  static func modes(on version: Int) -> IntentModes {
    version >= 26 ? supportedModes : openAppWhenRun ? .foreground : .background
  }

  /// Whether it is performed in the app's process instead of the extension's. Source: "Adding interactivity to
  /// widgets".
  package static var runsInApp: Bool {
    modes(on: DeviceVersion.major).isForeground || self is any AudioPlaybackIntent.Type
      || self is any ForegroundContinuableIntent.Type
      || self is any LiveActivityIntent.Type || self is any LiveActivityStartingIntent.Type
      || self is any PushToTalkTransmissionIntent.Type
  }

  /// What the user can configure.
  ///
  /// - Parameters:
  ///   - searches: the user's texts by parameter. `nil`: the author's queries are not called, and the result contains
  ///     only what the types declare. Otherwise the queries run, which can take any time.
  ///   - chosen: the values of the other parameters so far, which an `IntentParameterDependency` reads.
  @concurrent package static func declaration(
    asking searches: [String: String]? = [:], chosen: [String: ArchivedValue] = [:]
  ) async -> IntentDeclaration {
    let intent = Self()
    let parameters = await ConfiguredIntent.$current.withValue(intent) {
      // A value that is no longer accepted counts as not chosen; the provider's timeline reports it.
      for (name, parameter) in intent.intentParameters where chosen[name] != nil {
        try? await parameter.restore(chosen[name])
      }
      // The values that need no question come first, because questions may depend on them.
      let parameters = intent.intentParameters
      var declared: [String: IntentDeclaration.Parameter] = [:]
      for (name, parameter) in parameters.filter({ !$0.parameter.isAsked }) + parameters.filter(\.parameter.isAsked) {
        let choices = parameter.isAsked && searches == nil ? nil : await parameter.choices(searches?[name])
        declared[name] = parameter.declaration(named: name, choices)
        if let text = searches?[name], !text.isEmpty { await parameter.restore(text, among: choices?.options ?? []) }
      }
      return parameters.compactMap { declared[$0.name] }
    }
    return IntentDeclaration(type: archivedName, title: title.resolved(), parameters: parameters)
  }

  /// An intent with these parameter values. A parameter that is not in `values` has its default.
  ///
  /// - Throws: `IntentRefusal` for a value that a parameter does not accept, and errors of the author's queries.
  @concurrent package static func restored(_ values: [String: ArchivedValue]) async throws -> Self {
    let intent = Self()
    try await ConfiguredIntent.$current.withValue(intent) {
      for (name, parameter) in intent.intentParameters { try await parameter.restore(values[name]) }
    }
    return intent
  }

  /// Blocks until `restored` has returned.
  ///
  /// - Parameter intent: the type of the widget's intent; `nil` without an intent.
  /// - Returns: `nil` if that is another type, or when `restored` throws.
  package static func restoredBlocking(_ values: [String: ArchivedValue], of intent: String?) -> Self? {
    guard let intent, isArchived(as: intent) else { return nil }
    let answer = Found<Self>()
    let tasks = TaskOwner()
    tasks.start {
      let intent = try? await restored(values)
      answer.intent.withLock { $0 = intent }
      answer.isThere.signal()
    }
    answer.isThere.wait()
    return answer.intent.withLock { $0 }
  }

  /// Whether a name is the type's `archivedName` in this or in another executable, which has it in another module, or the
  /// class that the type replaces.
  private static func isArchived(as name: String) -> Bool {
    func withoutModule(_ name: String) -> [Substring] { Array(name.split(separator: ".").dropFirst()) }
    if withoutModule(name) == withoutModule(archivedName) { return true }
    let former = (self as? any CustomIntentMigratedAppIntent.Type)?.intentClassName
    return former.map { withoutModule(name) == [Substring($0)] } ?? false
  }

  /// In the order of declaration.
  private var intentParameters: [(name: String, parameter: any AnyIntentParameter)] {
    Mirror(reflecting: self).children.compactMap { child in
      guard let label = child.label, let parameter = child.value as? any AnyIntentParameter else { return nil }
      return (label.hasPrefix("_") ? String(label.dropFirst()) : label, parameter)
    }
  }
}

/// An intent that a blocked thread waits for.
private final class Found<Intent: AppIntent>: Sendable {
  let intent = Mutex<Intent?>(nil)
  let isThere = DispatchSemaphore(value: 0)
}

/// Types that were archived in this process. A private type cannot be found in another way.
private let seen = Mutex<[String: any AppIntent.Type]>([:])

/// Finds the intent type for an `archivedName` of this or of another executable. An app performs intents that its
/// extension archived; each has the type in its own main module.
///
/// - Parameter main: the name of this executable's main module.
func intentType(named name: String, main: String = mainModule) -> (any AppIntent.Type)? {
  if let type = seen.withLock({ $0[name] }) { return type }
  let parts = name.split(separator: ".").map(String.init)
  guard parts.count > 1 else { return nil }
  return intentType(of: parts) ?? intentType(of: [main] + parts.dropFirst())
}

private func intentType(of parts: [String]) -> (any AppIntent.Type)? {
  let parts = parts.map { "\($0.utf8.count)\($0)" }
  // The name does not include whether a type is a structure (V), an enumeration (O) or a class (C).
  var candidates = [parts[0]]
  for part in parts.dropFirst() {
    candidates = candidates.flatMap { before in ["V", "O", "C"].map { before + part + $0 } }
  }
  return candidates.lazy.compactMap { _typeByName($0) as? any AppIntent.Type }.first
}

/// The module name that SwiftPM derives from the executable's name.
let mainModule = String(
  (CommandLine.arguments.first ?? "").split(separator: "/").last.map { name in
    name.map { $0.isLetter || $0.isNumber ? $0 : "_" }
  } ?? [])

/// Performs intents that the host requests. Register before the process is announced.
package enum IntentPerformer {
  /// Replies to `intent.perform` after the host has acknowledged what the author's code requested during the call.
  package static func serve(_ process: HostedProcess) {
    process.connection.onRequest(PerformIntent.self) { request, received in
      guard let type = intentType(named: request.intent) else {
        throw unknown(request.intent)
      }
      let opens: PerformIntent.Opening?
      do {
        opens = try await process.asCurrent(received.context) { try await perform(type, request) }
      } catch let error as BusError {
        throw error
      } catch {
        process.log("\(request.intent) failed: \(error)")
        throw BusError(.intentFailed, "\(request.intent): \(error)")
      }
      await process.settled()
      return PerformIntent.Reply(opens: opens)
    }
  }

  /// The refusal of an intent that this executable lacks, with the remedy.
  static func unknown(_ intent: String) -> BusError {
    BusError(
      .unknownIntent,
      "this executable has no intent type \(intent): on a phone nothing happens; add the file of the intent to the "
        + "targets of both the app and the extension")
  }

  /// Returns what the result of the intent opens.
  @concurrent private static func perform<Intent: AppIntent>(
    _ type: Intent.Type, _ request: PerformIntent
  ) async throws -> PerformIntent.Opening? {
    let result = try await type.restored(request.values).perform()
    return (result as? any OpensIntent)?.opensIntent.map { opening($0) }
  }

  private static func opening<Intent: AppIntent>(_ intent: Intent) -> PerformIntent.Opening {
    if let link = intent as? OpenURLIntent { return .url(link.url.absoluteString) }
    return .intent(
      Intent.archivedName, values: intent.archivedParameters, opensApp: Intent.opensApp, runsInApp: Intent.runsInApp)
  }
}
