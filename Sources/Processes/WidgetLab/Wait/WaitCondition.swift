// SPDX-License-Identifier: Apache-2.0

import Foundation
import JournalAnalysis
import Messages

/// What `widgetlab wait` waits for.
enum WaitCondition: Equatable, Sendable {
  /// An envelope that matches.
  case output(FilterExpression)
  /// The last state of an app or an extension that the host reported.
  case state(Address, String)
  /// The state of a process that `up` supervises: `ready`, `running` or `exited`.
  case standing(Address, String)

  static let states = ["absent", "launching", "running", "suspended", "dying"]
  static let standingStates = ["ready", "running", "exited"]
  private static let sessionSteps = [
    ("opened", "kind == session.open"), ("downloading", "kind == transfer.progress && step == started"),
    ("downloaded", "kind == transfer.progress && step == finished"), ("delivered", "kind == session.events"),
    ("acknowledged", "kind == session.acknowledged"),
  ]

  /// Reads `host=ready`, `extension=suspended`, `session=acknowledged`, `session:daily=acknowledged`, or an expression.
  ///
  /// - Parameter address: resolves a process name.
  /// - Throws: a command error that lists the possible conditions; what `address` throws.
  init(_ text: String, address: (String) throws -> Address) throws {
    if ["==", "!=", "<", ">"].contains(where: text.contains) {
      do {
        self = .output(try FilterExpression(text))
      } catch {
        throw CommandError(Exit.usage, "\(error)")
      }
      return
    }
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
      $0.trimmingCharacters(in: .whitespaces)
    }
    guard parts.count == 2 else {
      throw CommandError(
        Exit.usage, "'\(text)' is not a condition",
        advice: "use host=ready, extension=suspended, session=acknowledged or similar, or an expression in quotes")
    }
    let (name, state) = (parts[0], parts[1])
    if name == "session" || name.hasPrefix("session:") {
      self = .output(try Self.session(name == "session" ? nil : String(name.dropFirst("session:".count)), state))
      return
    }
    let found = try address(name)
    let isChild = found.role == .app || found.role == .widgetExtension
    let allowed = isChild ? Self.states : Self.standingStates
    guard allowed.contains(state) else {
      throw CommandError(
        Exit.usage, "\(found.short) has no state '\(state)'", advice: "use one of: \(allowed.joined(separator: ", "))")
    }
    self = isChild ? .state(found, state) : .standing(found, state)
  }

  private static func session(_ name: String?, _ step: String) throws -> FilterExpression {
    guard let text = sessionSteps.first(where: { $0.0 == step })?.1 else {
      let allowed = sessionSteps.map(\.0).joined(separator: ", ")
      throw CommandError(Exit.usage, "a session has no step '\(step)'", advice: "use one of: \(allowed)")
    }
    let expression = try FilterExpression(text)
    guard let name else { return expression }
    return .and(expression, .comparison(FilterComparison(field: .session, relation: .equal, value: .glob(name))))
  }
}

/// Evaluates a condition over the journal. The result is valid once the existing journal has been read.
struct WaitWatch: Sendable {
  let condition: WaitCondition
  /// The envelope that fulfilled the condition; `nil` while it does not hold.
  private(set) var match: Envelope?
  /// Whether it holds.
  private(set) var holds: Bool
  /// Why the process that should run cannot be started, according to the last report about it.
  private(set) var failure: BusError?

  init(_ condition: WaitCondition) {
    self.condition = condition
    // A process that the journal does not mention was never started.
    if case .state(_, "absent") = condition { holds = true } else { holds = false }
  }

  /// States that a process cannot reach while its launch fails.
  private static let livingStates = ["running", "suspended"]

  mutating func see(_ envelope: Envelope) {
    switch condition {
    case .output(let expression):
      guard !holds, expression.matches(envelope) else { return }
      match = envelope
      holds = true
    case .state(let address, let wanted):
      guard let state = envelope.reading(ProcessState.self), state.address == address else { return }
      failure = Self.livingStates.contains(wanted) ? state.launchFailure : nil
      holds = state.state == wanted
      match = holds ? envelope : nil
    case .standing: return
    }
  }
}
