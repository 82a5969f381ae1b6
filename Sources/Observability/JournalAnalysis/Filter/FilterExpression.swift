// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
package import Messages

/// A predicate over one envelope, such as `kind == transfer.* && session == "daily"`. See `FilterParser` for the
/// grammar.
package indirect enum FilterExpression: Equatable, Sendable {
  case comparison(FilterComparison)
  case not(FilterExpression)
  case and(FilterExpression, FilterExpression)
  case or(FilterExpression, FilterExpression)

  /// Parses an expression.
  ///
  /// - Parameter now: the base of relative times such as `5m`.
  /// - Throws: an error with the position.
  package init(_ text: String, now: Timestamp = .now) throws(FilterError) {
    var parser = FilterParser(text, now: now)
    self = try parser.expression()
  }

  /// Whether the envelope matches.
  package func matches(_ envelope: Envelope) -> Bool { matches(EnvelopeFacts(envelope)) }

  /// Same, for facts that several expressions share.
  func matches(_ facts: EnvelopeFacts) -> Bool {
    switch self {
    case .comparison(let comparison): comparison.matches(facts)
    case .not(let inner): !inner.matches(facts)
    case .and(let left, let right): left.matches(facts) && right.matches(facts)
    case .or(let left, let right): left.matches(facts) || right.matches(facts)
    }
  }
}

/// `field operator value`.
package struct FilterComparison: Equatable, Sendable {
  /// The operators.
  package enum Relation: String, CaseIterable, Sendable {
    case equal = "=="
    case unequal = "!="
    case atMost = "<="
    case atLeast = ">="
    case less = "<"
    case greater = ">"

    /// Whether it is an ordering, which texts do not support.
    var isOrder: Bool { self != .equal && self != .unequal }

    /// Whether the comparison of two values is true.
    func holds<T: Comparable>(_ left: T, _ right: T) -> Bool {
      switch self {
      case .equal: left == right
      case .unequal: left != right
      case .atMost: left <= right
      case .atLeast: left >= right
      case .less: left < right
      case .greater: left > right
      }
    }
  }

  /// A value of an expression.
  package enum Value: Equatable, Sendable {
    /// A text with `*`, `?` and `[a-z]`, as in a shell.
    case glob(String)
    case number(Int64)
    case time(Timestamp)
    /// The first digits of an identifier, lower case, without hyphens.
    case digits(String)
  }

  /// The field on the left.
  package let field: FilterField
  /// The operator.
  package let relation: Relation
  /// The value on the right.
  package let value: Value

  /// Creates a comparison. The value must have the shape of the field.
  package init(field: FilterField, relation: Relation, value: Value) {
    self.field = field
    self.relation = relation
    self.value = value
  }

  /// A field that the envelope does not have equals nothing, and is neither less nor greater.
  func matches(_ facts: EnvelopeFacts) -> Bool {
    if relation == .unequal {
      return !FilterComparison(field: field, relation: .equal, value: value).matches(facts)
    }
    switch value {
    case .number(let wanted): return facts.number(field).map { relation.holds($0, wanted) } ?? false
    case .time(let wanted): return relation.holds(facts.envelope.header.sentAt, wanted)
    case .digits(let wanted): return facts.identifier(field).map { $0.hasPrefix(wanted) } ?? false
    case .glob(let glob):
      if facts.texts(field).contains(where: { fnmatch(glob, $0, 0) == 0 }) { return true }
      return field == .session && facts.belongs(toSession: glob)
    }
  }
}

/// The fields of an envelope that an expression can use.
package enum FilterField: String, CaseIterable, Sendable {
  case kind, from, to, address, generation, sequence, correlation, session, pid, widget, attempt, time
  case id, cause, task, state, step, method, mark, note

  /// How the values of a field are compared.
  package enum Shape: String, Equatable, Sendable { case text, address, number, time, identifier }

  /// The shape of the values.
  package var shape: Shape {
    switch self {
    case .from, .to, .address: .address
    case .generation, .sequence, .pid, .attempt, .task: .number
    case .time: .time
    case .correlation, .id, .cause: .identifier
    case .kind, .session, .widget, .state, .step, .method, .mark, .note: .text
    }
  }

  /// The description in the help text.
  package var meaning: String {
    switch self {
    case .kind: "transfer.create, session.events/ack …"
    case .from: "the sender: host, extension, agent/1, app/com.example.*"
    case .to: "the receiver"
    case .address: "the sender, the receiver or the process it is about"
    case .generation: "the sender's generation; of process events, that of the process"
    case .sequence: "the broker's number"
    case .correlation: "the correlation id: its first digits"
    case .session: "the background session's identifier"
    case .pid: "the pid in the message, of the sender or of the subject"
    case .widget: "the kind of widget"
    case .attempt: "how often the sender has sent it before"
    case .time: "when it was sent: 13:05:07, 5m (ago), 2026-11-21T13:05:07Z"
    case .id: "the envelope's id: its first digits"
    case .cause: "the id of the envelope that it replies to or follows from"
    case .task: "the task of a session: 1, 2 …"
    case .state: "of process.state: running, suspended, absent …"
    case .step: "of transfer.progress: started, resumed, finished …"
    case .method: "of delegate.called: didFinishDownloadingTo …"
    case .mark: "launch (process started), exit (process exited) or refused"
    case .note: "the last column of the tail"
    }
  }
}

extension FilterExpression {
  /// The syntax, for `tail --help`.
  package static var lesson: String {
    let fields = FilterField.allCases.map { "  \($0.rawValue.padded(12)) \($0.meaning)" }.joined(separator: "\n")
    return """
      EXPRESSIONS (--where, --exit-when, `wait --for`)
      field == value, combined with && (binds tighter) and ||, negated with !, grouped with ( ). Texts and addresses \
      support == and != with globs (* ? [a-z]); numbers and times also < <= > >=. A value is a bare word or is in \
      "quotes". A field that an envelope lacks equals nothing: `session == *` matches all envelopes with a session. \
      Put the expression in single quotes for the shell.

      \(fields)
      """
  }
}
