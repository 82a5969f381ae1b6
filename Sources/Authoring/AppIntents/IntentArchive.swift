package import Archive
import BackgroundURLSession
import Dispatch
import Synchronization

extension AppIntent {
  /// The parameters by the names of their properties; those without a value are not among them.
  package var archivedParameters: [String: ArchivedValue] {
    var values: [String: ArchivedValue] = [:]
    for (name, parameter) in intentParameters { values[name] = parameter.archive }
    return values
  }

  /// The type's name, by which another process of the same executable finds the type again.
  package static var archivedName: String {
    let name = String(reflecting: Self.self)
    seen.withLock { $0[name] = Self.self }
    return name
  }

  /// Whether the app is brought to the front for it.
  package static var opensApp: Bool { openAppWhenRun }

  /// Whether it is performed in the app's process, and not in the extension's. Source: "Adding interactivity to widgets".
  package static var runsInApp: Bool {
    openAppWhenRun || self is any AudioPlaybackIntent.Type || self is any ForegroundContinuableIntent.Type
      || self is any LiveActivityIntent.Type || self is any PushToTalkTransmissionIntent.Type
  }

  /// What a person can choose.
  ///
  /// - Parameter searches: what a person looks for, by the parameter. With it the author's queries are asked what there is,
  ///   which takes as long as they take; without it, what is known of the type alone.
  @concurrent package static func declaration(asking searches: [String: String]? = [:]) async -> IntentDeclaration {
    var parameters: [IntentDeclaration.Parameter] = []
    for (name, parameter) in Self().intentParameters {
      let isAsked = parameter.isAsked
      let choices = isAsked && searches == nil ? nil : await parameter.choices(searches?[name])
      parameters.append(parameter.declaration(named: name, choices))
    }
    return IntentDeclaration(type: archivedName, title: title.resolved(), parameters: parameters)
  }

  /// An intent of what travelled; what is not among `values` has its standard.
  ///
  /// - Throws: `IntentRefusal` for a value that a parameter does not take, and what the author's queries throw.
  @concurrent package static func restored(_ values: [String: ArchivedValue]) async throws -> Self {
    let intent = Self()
    for (name, parameter) in intent.intentParameters { try await parameter.restore(values[name]) }
    return intent
  }

  /// The same for a caller that cannot wait otherwise; `nil` for what `restored` throws.
  package static func restoredBlocking(_ values: [String: ArchivedValue]) -> Self? {
    let found = Found<Self>()
    Task.detached {
      let intent = try? await restored(values)
      found.intent.withLock { $0 = intent }
      found.isThere.signal()
    }
    found.isThere.wait()
    return found.intent.withLock { $0 }
  }

  /// In the author's order.
  private var intentParameters: [(name: String, parameter: any AnyIntentParameter)] {
    Mirror(reflecting: self).children.compactMap { child in
      guard let label = child.label, let parameter = child.value as? any AnyIntentParameter else { return nil }
      return (label.hasPrefix("_") ? String(label.dropFirst()) : label, parameter)
    }
  }
}

/// An intent for a thread that waits for it.
private final class Found<Intent: AppIntent>: Sendable {
  let intent = Mutex<Intent?>(nil)
  let isThere = DispatchSemaphore(value: 0)
}

/// Types that were named in this process: a private one is found no other way.
private let seen = Mutex<[String: any AppIntent.Type]>([:])

/// The intent's type of a name as `archivedName` gives it, in the executable that gave it or in another one: an app
/// performs an intent that its extension archived, and each has it in its own main module.
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
  // A name does not say which of its types are structures (V), enumerations (O) or classes (C).
  var candidates = [parts[0]]
  for part in parts.dropFirst() {
    candidates = candidates.flatMap { before in ["V", "O", "C"].map { before + part + $0 } }
  }
  return candidates.lazy.compactMap { _typeByName($0) as? any AppIntent.Type }.first
}

/// As SwiftPM names it: after the executable.
let mainModule = String(
  (CommandLine.arguments.first ?? "").split(separator: "/").last.map { name in
    name.map { $0.isLetter || $0.isNumber ? $0 : "_" }
  } ?? [])
