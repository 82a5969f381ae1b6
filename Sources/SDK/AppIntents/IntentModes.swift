// SPDX-License-Identifier: Apache-2.0

import Archive

/// Where an intent may be performed. Source: `AppIntents.IntentModes`.
///
/// With `.foreground(.immediate)` the app is brought to the foreground first, as with `openAppWhenRun`. With the others the
/// app performs the intent in the background: the request to continue in the foreground does not exist here.
public struct IntentModes: OptionSet, Sendable {
  /// When the app comes to the foreground. Source: `AppIntents.IntentModes.ForegroundMode`.
  public enum ForegroundMode: Int, Sendable {
    case immediate, dynamic, deferred
  }

  public let rawValue: Int
  public init(rawValue: Int) { self.rawValue = rawValue }

  public static let background = IntentModes(rawValue: 1)
  public static let foreground = foreground(.immediate)
  public static func foreground(_ mode: ForegroundMode) -> IntentModes { IntentModes(rawValue: 2 << mode.rawValue) }

  var isForeground: Bool { !subtracting(.background).isEmpty }
}

/// An object that no query finds, and that no message contains. Source: `AppIntents.TransientAppEntity`.
public protocol TransientAppEntity: AppValue {
  init()
}

extension TransientAppEntity {
  public static var _kind: _IntentValueKind { _IntentValueKind(.entity) }
  public var _archived: _IntentArchive { _IntentArchive(nil) }
  @concurrent public static func _restored(_ archive: _IntentArchive) async throws -> Self? { nil }
  @concurrent public static func _choices() async throws -> _IntentOptions? { nil }
}
