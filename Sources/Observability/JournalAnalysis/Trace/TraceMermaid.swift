// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages

extension Trace {
  /// The longest diagram that Mermaid draws with its default configuration, in characters, less one for a newline.
  static let mermaidLimit = 50_000 - 1

  /// The trace as a Mermaid sequence diagram, for a page or a pull request.
  ///
  /// When it is too long, its middle is left out, and the diagram states that.
  package var mermaid: String {
    var names: [Address: String] = [:]
    var people: [String] = []
    for address in steps.flatMap({ Self.lanes(of: $0) }) where names[address] == nil {
      let name = "p\(names.count + 1)"
      names[address] = name
      people.append("  participant \(name) as \(Self.escaped(address.tailName, limit: 60))")
    }
    let title = subject.session.map { ["  Note over p1: session \(Self.escaped($0, limit: 80))"] }
    let head = ["sequenceDiagram"] + people + (people.isEmpty ? [] : title ?? [])
    let body = steps.map { "  " + Self.line($0, names) }
    let end = people.isEmpty ? [] : ["  Note over p1: \(Self.escaped(summary.first ?? "", limit: 200))"]
    return (head + Self.cut(body, to: Self.mermaidLimit - Self.length(head + end)) + end).joined(separator: "\n")
  }

  /// The lifelines of a step.
  private static func lanes(of step: Step) -> [Address] {
    let header = step.envelope.header
    if let subject = step.note.subject, step.note.mark != .none { return [subject] }
    return header.destination == .journal ? [header.source] : [header.source, header.destination]
  }

  private static func line(_ step: Step, _ names: [Address: String]) -> String {
    let header = step.envelope.header
    let lanes = lanes(of: step).compactMap { names[$0] }
    let mark = step.note.mark == .none ? "" : step.note.mark.rawValue + " "
    let waited = step.waited.map { ", +\(seconds($0)) s" } ?? ""
    let text = escaped("\(mark)\(header.kind) (#\(step.sequence)\(waited)) \(step.note.text)", limit: 140)
    guard lanes.count == 2, lanes[0] != lanes[1] else { return "Note over \(lanes.first ?? "p1"): \(text)" }
    let arrow = header.kind.answer == nil ? "->>" : header.kind.answer == .failed ? "--x" : "-->>"
    return "\(lanes[0])\(arrow)\(lanes[1]): \(text)"
  }

  /// Escapes the characters with a meaning in Mermaid: a semicolon ends a line, a number sign begins an entity.
  static func escaped(_ text: String, limit: Int) -> String {
    let cut = text.count > limit ? text.prefix(limit - 1) + "…" : text[...]
    return cut.map { character in
      switch character {
      case ";": "#59;"
      case "#": "#35;"
      case "<": "#lt;"
      case ">": "#gt;"
      case "{": "#123;"
      case "}": "#125;"
      case "%": "#37;"
      case let other where other.isNewline || other == "\t" || other.unicodeScalars.contains { $0.value < 0x20 }: " "
      default: String(character)
      }
    }
    .joined()
  }

  private static func length(_ lines: [String]) -> Int { lines.reduce(0) { $0 + $1.utf16.count + 1 } }

  /// The first and last lines that fit, two of the first for each of the last.
  private static func cut(_ lines: [String], to limit: Int) -> [String] {
    guard length(lines) > limit else { return lines }
    var room = limit - 100
    var head: [String] = []
    var tail: [String] = []
    while head.count + tail.count < lines.count {
      let takesHead = head.count <= 2 * tail.count
      let next = takesHead ? lines[head.count] : lines[lines.count - 1 - tail.count]
      guard next.utf16.count < room else { break }
      room -= next.utf16.count + 1
      if takesHead { head.append(next) } else { tail.append(next) }
    }
    let left = lines.count - head.count - tail.count
    return head + ["  Note over p1: … \(left) steps omitted …"] + tail.reversed()
  }
}
