// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages

extension Trace {
  /// The table and the summary of `widgetlab trace`.
  package func lines(isColored: Bool) -> [String] {
    let heading =
      "    TIME+   WAITED   AFTER     SEQ   \("FROM".padded(20)) > \("TO".padded(20)) "
      + "\("GEN".padded(5)) \("KIND".padded(22)) NOTE"
    return [TerminalColor.faint(heading, isColored)] + steps.map { line($0, isColored) } + [""] + summary
  }

  private func line(_ step: Step, _ isColored: Bool) -> String {
    let header = step.envelope.header
    let line =
      "\(Self.seconds(step.time).aligned(9)) \((step.waited.map(Self.seconds) ?? "-").aligned(8)) "
      + "\((step.after.map { "#\($0)" } ?? "-").aligned(7)) \(String(step.sequence).aligned(7)) "
      + "\(step.note.mark.rawValue) \(header.source.tailName.padded(20)) > \(header.destination.tailName.padded(20)) "
      + "\("\(header.sourceGeneration)>\(header.destinationGeneration)".padded(5)) \(header.kind.name.padded(22)) "
      + step.note.text
    return TailLines.coloured(line, step.note.mark, header.kind, isColored)
  }

  /// The summary of the trace, in two or three lines.
  package var summary: [String] {
    guard let last = steps.last else { return ["no steps"] }
    var lines = [
      "\(subject): \(steps.count) steps, \(Self.seconds(total)) s from #\(steps[0].sequence) to #\(last.sequence)"
    ]
    if subject.owner != nil {
      let instances = Self.ranges(generations)
      let again = redeliveries == 0 ? "" : ", events sent again: \(redeliveries)"
      let end = isAcknowledged ? "acknowledged" : "not acknowledged yet; last step: \(last.envelope.header.kind)"
      lines.append("generations \(instances), exits: \(exits)\(again); \(end)")
    }
    if let longest = longestWait, let waited = longest.waited, let after = longest.after {
      lines.append(
        "longest wait: \(Self.seconds(waited)) s, #\(longest.sequence) \(longest.envelope.header.kind) after #\(after)"
      )
    }
    return lines
  }

  /// `1 to 4, 7` for 1, 2, 3, 4 and 7.
  static func ranges(_ numbers: [UInt32]) -> String {
    var found: [ClosedRange<UInt32>] = []
    for number in numbers {
      if let last = found.last, last.upperBound + 1 == number {
        found[found.count - 1] = last.lowerBound...number
      } else {
        found.append(number...number)
      }
    }
    return found.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound) to \($0.upperBound)" }
      .joined(separator: ", ")
  }

  /// Microseconds as seconds with three digits.
  static func seconds(_ microseconds: Int64) -> String {
    let milliseconds = (abs(microseconds) + 500) / 1000
    let sign = microseconds < 0 && milliseconds > 0 ? "-" : ""
    return "\(sign)\(milliseconds / 1000).\(String(1000 + milliseconds % 1000).dropFirst())"
  }

  // MARK: JSON

  /// The trace as one JSON object. Times are seconds.
  package struct Report: Encodable {
    /// One step.
    struct Line: Encodable {
      let sequence: UInt64
      let time: Double
      let waited: Double?
      let after: UInt64?
      let kind: String
      let from: String
      let to: String
      let fromGeneration: UInt32
      let toGeneration: UInt32
      let id: String
      let attempt: UInt16
      let mark: String?
      let note: String
    }

    let session: String?
    let owner: String?
    let correlation: String?
    let generations: [UInt32]
    let exits: Int
    let redeliveries: Int
    let isAcknowledged: Bool
    let total: Double
    let steps: [Line]
  }

  /// The trace as a value for JSON.
  package var report: Report {
    Report(
      session: subject.session, owner: subject.owner?.text, correlation: subject.correlation?.text,
      generations: generations, exits: exits, redeliveries: redeliveries, isAcknowledged: isAcknowledged,
      total: Double(total) / 1e6,
      steps: steps.map { step in
        let header = step.envelope.header
        return Report.Line(
          sequence: step.sequence, time: Double(step.time) / 1e6, waited: step.waited.map { Double($0) / 1e6 },
          after: step.after, kind: header.kind.name, from: header.source.text, to: header.destination.text,
          fromGeneration: header.sourceGeneration, toGeneration: header.destinationGeneration,
          id: header.id.text, attempt: header.attempt, mark: step.note.mark.word,
          note: step.note.text)
      })
  }
}
