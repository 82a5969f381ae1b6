import Conversations
import Foundation

/// What `widgetlab wait` waits for.
enum WaitCondition: Equatable, Sendable {
  /// An envelope that matches.
  case said(FilterExpression)
  /// The host's last word about an app or an extension.
  case state(Address, String)
  /// A process that `up` keeps alive: `ready`, `running` or `dead`.
  case standing(Address, String)

  static let states = ["absent", "launching", "running", "suspended", "dying"]
  static let standingStates = ["ready", "running", "dead"]
  private static let sessionSteps = [
    ("opened", "kind == session.open"), ("downloading", "kind == transfer.progress && step == started"),
    ("downloaded", "kind == transfer.progress && step == finished"), ("delivered", "kind == session.events"),
    ("acknowledged", "kind == session.acknowledged"),
  ]

  /// Reads `host=ready`, `extension=suspended`, `session=acknowledged`, `session:daily=acknowledged`, or an expression.
  ///
  /// - Parameter address: whom a name means.
  /// - Throws: a complaint that says what can be waited for; what `address` throws.
  init(_ text: String, address: (String) throws -> Address) throws {
    if ["==", "!=", "<", ">"].contains(where: text.contains) {
      do {
        self = .said(try FilterExpression(text))
      } catch {
        throw Complaint(Exit.usage, "\(error)")
      }
      return
    }
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
      $0.trimmingCharacters(in: .whitespaces)
    }
    guard parts.count == 2 else {
      throw Complaint(
        Exit.usage, "'\(text)' is no condition",
        advice: "say such as host=ready, extension=suspended, session=acknowledged, or an expression in quotes")
    }
    let (name, state) = (parts[0], parts[1])
    if name == "session" || name.hasPrefix("session:") {
      self = .said(try Self.session(name == "session" ? nil : String(name.dropFirst("session:".count)), state))
      return
    }
    let found = try address(name)
    let isChild = found.role == .app || found.role == .widgetExtension
    let allowed = isChild ? Self.states : Self.standingStates
    guard allowed.contains(state) else {
      throw Complaint(
        Exit.usage, "\(found.short) is never '\(state)'", advice: "one of: \(allowed.joined(separator: ", "))")
    }
    self = isChild ? .state(found, state) : .standing(found, state)
  }

  private static func session(_ name: String?, _ step: String) throws -> FilterExpression {
    guard let text = sessionSteps.first(where: { $0.0 == step })?.1 else {
      let allowed = sessionSteps.map(\.0).joined(separator: ", ")
      throw Complaint(Exit.usage, "a session is never '\(step)'", advice: "one of: \(allowed)")
    }
    let expression = try FilterExpression(text)
    guard let name else { return expression }
    return .and(expression, .comparison(FilterComparison(field: .session, relation: .equal, value: .glob(name))))
  }
}

/// What the journal says so far of a condition. Whether it holds is known once all that there is has been read.
struct WaitWatch: Sendable {
  let condition: WaitCondition
  /// The envelope by which the condition came to hold; `nil` while it does not.
  private(set) var match: Envelope?
  /// Whether it holds.
  private(set) var holds: Bool
  /// Why the process that is to run cannot be started, by the last word about it.
  private(set) var failure: BusError?

  init(_ condition: WaitCondition) {
    self.condition = condition
    // Nobody has spoken of a process yet: it was never started.
    if case .state(_, "absent") = condition { holds = true } else { holds = false }
  }

  /// States that a process cannot reach while its launch fails.
  private static let livingStates = ["running", "suspended"]

  mutating func see(_ envelope: Envelope) {
    switch condition {
    case .said(let expression):
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
