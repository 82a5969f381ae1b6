// SPDX-License-Identifier: Apache-2.0

/// A named reason to keep a process running and unsuspended: `timeline`, `events <session>`, `foreground`.
package struct Assertion: Hashable, Sendable, Comparable, CustomStringConvertible, ExpressibleByStringLiteral {
  package let description: String

  package init(_ text: String) { description = text }

  package init(stringLiteral text: String) { description = text }

  /// The app is in the foreground. Ends with the instance: the system does not relaunch a crashed app by itself.
  package static let foreground: Assertion = "foreground"

  /// The user touched a button or a toggle whose intent the process performs.
  package static let interaction: Assertion = "interaction"

  /// The app plays audio, gives directions or follows the device's location. Ends with the instance.
  package static let activity: Assertion = "activity"

  private static let eventsPrefix = "events "

  /// The events of a background session are delivered.
  package static func events(of session: String) -> Assertion { Assertion(eventsPrefix + session) }

  /// Whether this is `events(of:)` of any session.
  package var isForEvents: Bool { description.hasPrefix(Assertion.eventsPrefix) }

  package static func < (left: Assertion, right: Assertion) -> Bool { left.description < right.description }
}
