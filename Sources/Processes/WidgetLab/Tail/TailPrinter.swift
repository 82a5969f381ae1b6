// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Journal
import JournalAnalysis
import Messages

/// Prints the envelopes that pass a filter, and detects the end.
struct TailPrinter: Sendable {
  enum Verdict: Equatable, Sendable {
    case goOn
    /// No later envelope can pass.
    case ended
    /// `exitWhen` matches the envelope that was printed last.
    case matched
    /// The envelope of `--around` is no longer in the journal.
    case missing
  }

  /// The lines before and after an envelope.
  struct Around: Sendable {
    let sequence: UInt64
    let context: Int
    fileprivate var before: [Envelope] = []
    /// The number of lines left to print; `nil` before the middle.
    fileprivate var rest: Int?

    init(sequence: UInt64, context: Int) {
      self.sequence = sequence
      self.context = context
    }
  }

  private let format: TailCommand.Format
  private let filter: JournalFilter
  private let exitWhen: FilterExpression?
  private var around: Around?
  private var lines: TailLines
  /// Receives all envelopes, including those that are not printed.
  private var diagnostician: Diagnostician?
  private let isColored: Bool
  private let emit: @Sendable (String) -> Void
  private var hasBegun = false
  /// The sequence number of the last envelope that was printed.
  private var printed: UInt64 = 0

  init(
    format: TailCommand.Format, lines: TailLines, filter: JournalFilter, exitWhen: FilterExpression? = nil,
    around: Around? = nil, diagnostician: Diagnostician? = nil, isColored: Bool = false,
    emit: (@Sendable (String) -> Void)? = nil
  ) {
    self.format = format
    self.filter = filter
    self.lines = lines
    self.exitWhen = exitWhen
    self.around = around
    self.diagnostician = diagnostician
    self.isColored = isColored
    self.emit = emit ?? { Output.print($0, isColored: isColored) }
  }

  /// Prints the next envelope if it passes, and new diagnoses.
  mutating func handle(_ envelope: Envelope) -> Verdict {
    let diagnoses = diagnostician?.handle(envelope) ?? []
    let verdict = show(envelope)
    if printed == envelope.header.sequence { for diagnosis in diagnoses { print(diagnosis) } }
    return verdict
  }

  private mutating func show(_ envelope: Envelope) -> Verdict {
    switch filter.place(envelope.header) {
    case .before: return .goOn
    case .after:
      // The clocks of senders differ: a later time may precede an earlier one. Sequence numbers are monotonic.
      if case .sequence = filter.until { return .ended }
      return .goOn
    case .inside: break
    }
    let passes = filter.passes(envelope)
    if around != nil { return takeAround(envelope, passes: passes) }
    let isMatch = exitWhen?.matches(envelope) ?? false
    if passes || isMatch { print(envelope) }
    return isMatch ? .matched : .goOn
  }

  private mutating func takeAround(_ envelope: Envelope, passes: Bool) -> Verdict {
    guard var around else { return .goOn }
    defer { self.around = around }
    let sequence = envelope.header.sequence
    if sequence < around.sequence {
      if passes { around.before = (around.before + [envelope]).suffix(around.context) }
      return .goOn
    }
    if let rest = around.rest {
      if passes {
        print(envelope)
        around.rest = rest - 1
      }
      return around.rest == 0 ? .ended : .goOn
    }
    guard sequence == around.sequence else { return .missing }
    for earlier in around.before { print(earlier) }
    print(envelope)
    around.rest = around.context
    return around.context == 0 ? .ended : .goOn
  }

  private mutating func print(_ envelope: Envelope) {
    switch format {
    case .json: emit(EnvelopeJSON.line(envelope))
    case .pretty:
      if !hasBegun { emit(lines.heading) }
      emit(lines.line(envelope))
    }
    hasBegun = true
    printed = envelope.header.sequence
  }

  private func print(_ diagnosis: Diagnosis) {
    switch format {
    case .pretty: emit(DiagnosisText.line(diagnosis, isColored: isColored))
    case .json:
      let report = ["diagnosis": DiagnosisReport(diagnosis)]
      if let data = try? Output.jsonData(report) { emit(String(decoding: data, as: UTF8.self)) }
    }
  }

  /// Whether the envelope of `--around` has been printed; `true` without `--around`.
  private var isFound: Bool { around.map { $0.rest != nil } ?? true }

  // MARK: A whole journal

  /// Reads a journal until a match, until its end, or indefinitely.
  ///
  /// - Parameters:
  ///   - follows: whether to wait for new entries at the end.
  ///   - limit: the maximum time; `nil` for no limit.
  /// - Returns: `matched`, `ended`, `missing`, or `goOn` when the limit was reached first.
  /// - Throws: `JournalError`.
  func run(_ reader: JournalReader, from start: JournalPosition, follows: Bool, limit: Duration?) async throws
    -> Verdict
  {
    try await withThrowingTaskGroup(of: Verdict.self) { group in
      group.addTask {
        var printer = self
        if follows {
          for try await envelope in reader.follow(from: start) {
            let verdict = printer.handle(envelope)
            if verdict != .goOn { return verdict }
          }
          return .goOn
        }
        var cursor = reader.cursor(from: start)
        while let envelope = try cursor.next() {
          let verdict = printer.handle(envelope)
          if verdict != .goOn { return verdict }
        }
        return printer.isFound ? .ended : .missing
      }
      if let limit {
        group.addTask {
          try await Task.sleep(for: limit)
          return .goOn
        }
      }
      defer { group.cancelAll() }
      return try await group.next() ?? .ended
    }
  }
}

extension TailColumn {
  /// Reads `time,kind,note`.
  ///
  /// - Throws: a validation error that the argument parser prints, with exit code 64.
  static func list(_ text: String) throws -> [TailColumn] {
    let words = text.split(separator: ",", omittingEmptySubsequences: false).map {
      $0.trimmingCharacters(in: .whitespaces)
    }
    return try words.map { word in
      guard let column = TailColumn(rawValue: word) else {
        throw ValidationError("--columns: '\(word)' is not a column; use \(names)")
      }
      return column
    }
  }
}

/// When colours are printed.
enum ColorPolicy: String, CaseIterable, ExpressibleByArgument {
  case auto, always, never

  var isColored: Bool {
    switch self {
    case .auto: Output.isColored
    case .always: true
    case .never: false
    }
  }
}
