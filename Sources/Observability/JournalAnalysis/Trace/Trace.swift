// SPDX-License-Identifier: Apache-2.0

import Foundation
package import Messages

/// One operation from the journal, step by step: its envelopes, their causes, and the process events in between.
package struct Trace: Sendable {
  /// One envelope of the operation.
  package struct Step: Sendable {
    /// The envelope.
    package let envelope: Envelope
    /// Its note.
    package let note: EnvelopeNote
    /// The sequence number of the step that this one waited for.
    package let after: UInt64?
    /// The time since that step in microseconds, by the clocks of the senders; 0 when the clocks say it was earlier.
    package let waited: Int64?
    /// The time since the first step, in microseconds.
    package let time: Int64
    /// The sequence number of the envelope.
    package var sequence: UInt64 { envelope.header.sequence }
  }

  /// The operation.
  package let subject: TraceSubject
  /// The steps, in the order of the journal.
  package let steps: [Step]

  /// Gathers the steps.
  ///
  /// - Parameter envelopes: the whole journal, in order.
  package init(_ subject: TraceSubject, in envelopes: [Envelope]) {
    self.subject = subject
    let gathered = TraceGathering(subject, envelopes).indices.map { envelopes[$0] }
    let notes = gathered.map { EnvelopeNote($0) }
    let start = gathered.first?.header.sentAt.microseconds ?? 0
    steps = gathered.indices.map { index in
      let sentAt = gathered[index].header.sentAt.microseconds
      let cause = Self.predecessor(of: index, gathered, notes).map { gathered[$0].header }
      return Step(
        envelope: gathered[index], note: notes[index], after: cause?.sequence,
        waited: cause.map { max(0, sentAt - $0.sentAt.microseconds) }, time: sentAt - start)
    }
  }

  /// What a step waited for: the envelope that it names as its cause; else, for a transfer, the previous step of that
  /// transfer; else the last step that its actor took part in: happened-before, as processes and messages order it.
  private static func predecessor(of index: Int, _ steps: [Envelope], _ notes: [EnvelopeNote]) -> Int? {
    let header = steps[index].header
    let earlier = steps[..<index]
    if let cause = header.cause, let found = earlier.lastIndex(where: { $0.header.id == cause }) { return found }
    if header.kind == TransferProgress.kind,
      let found = earlier.lastIndex(where: { [TransferProgress.kind, CreateTransfer.kind].contains($0.header.kind) })
    {
      return found
    }
    // The reporter of a process event is not its actor.
    let isNotified = header.source == .messageBus || [ProcessExited.kind, ProcessStarted.kind].contains(header.kind)
    let actor = isNotified ? notes[index].subject ?? header.source : header.source
    return earlier.indices.last { other in
      let parties = [earlier[other].header.source, earlier[other].header.destination, notes[other].subject]
      return parties.contains(actor)
    }
  }
}

// MARK: Figures

extension Trace {
  /// The time from the first to the last step, in microseconds.
  package var total: Int64 { steps.last?.time ?? 0 }

  /// Whether the host has deleted the session's events after the owner acknowledged them, and nothing was begun since.
  package var isAcknowledged: Bool {
    let end = steps.last { $0.envelope.header.kind == SessionAcknowledged.kind }?.sequence
    let begun = steps.last { $0.envelope.header.kind == CreateTransfer.kind }?.sequence
    return end.map { $0 > begun ?? 0 } ?? false
  }

  /// The generations of the owner that took part.
  package var generations: [UInt32] {
    let foundGenerations = steps.compactMap { step -> UInt32? in
      if step.envelope.header.source == subject.owner { return step.envelope.header.sourceGeneration }
      guard let started = step.envelope.reading(ProcessStarted.self), started.address == subject.owner else {
        return nil
      }
      return started.generation
    }
    return Set(foundGenerations).subtracting([0]).sorted()
  }

  /// How often the owner exited.
  package var exits: Int { steps.count { $0.envelope.reading(ProcessExited.self)?.address == subject.owner } }

  /// How often the session's events were sent again.
  package var redeliveries: Int {
    let sent = steps.filter { $0.envelope.header.kind == SessionEvents.kind }.map(\.envelope.header.id)
    return sent.count - Set(sent).count
  }

  /// The step that waited longest.
  package var longestWait: Step? { steps.max { $0.waited ?? 0 < $1.waited ?? 0 } }
}

/// Selects the envelopes of a trace.
private struct TraceGathering {
  private let subject: TraceSubject
  private let envelopes: [Envelope]
  private var chosen: Set<Int> = []

  init(_ subject: TraceSubject, _ envelopes: [Envelope]) {
    self.subject = subject
    self.envelopes = envelopes
    addOperation()
    let related = chosen
    addCauses()
    addAnswers()
    addInstances(around: related)
  }

  var indices: [Int] { chosen.sorted() }

  /// Adds the envelopes with the correlation id or the given envelope, and those that follow from it and have no
  /// correlation id.
  private mutating func addOperation() {
    var ids: Set<UUID> = []
    for index in envelopes.indices {
      let header = envelopes[index].header
      let isOwn = header.correlation == nil || header.correlation == subject.correlation
      let follows = isOwn && header.cause.map(ids.contains) ?? false
      let isRelated = header.correlation != nil && header.correlation == subject.correlation
      guard isRelated || follows || header.id == subject.envelope else { continue }
      chosen.insert(index)
      ids.insert(header.id)
    }
  }

  /// Adds the causes of the steps, and their causes.
  private mutating func addCauses() {
    let places = Dictionary(envelopes.indices.map { (envelopes[$0].header.id, $0) }) { first, _ in first }
    var open = Array(chosen)
    while let index = open.popLast() {
      guard let cause = envelopes[index].header.cause.flatMap({ places[$0] }), chosen.insert(cause).inserted else {
        continue
      }
      open.append(cause)
    }
  }

  private mutating func addAnswers() {
    let ids = Set(chosen.map { envelopes[$0].header.id })
    for index in envelopes.indices where envelopes[index].header.kind.answer != nil {
      if envelopes[index].header.cause.map(ids.contains) == true { chosen.insert(index) }
    }
  }

  /// Adds spawns, starts, exits, stops and continuations of the owner, and events of the host, the agents and the bus;
  /// from the spawn of the first instance that took part to the end of the operation, or of the journal when it has not
  /// ended.
  private mutating func addInstances(around related: Set<Int>) {
    guard let owner = subject.owner, let first = related.min(), let last = related.max() else { return }
    let latest = related.filter { envelopes[$0].header.correlation == subject.correlation }.max() ?? last
    let hasEnded = envelopes[latest].header.kind == SessionAcknowledged.kind
    let begin =
      envelopes[..<first].lastIndex { $0.reading(SpawnProcess.self)?.address == owner } ?? chosen.min() ?? first
    let end = hasEnded ? last : envelopes.indices.last ?? last
    var orders: Set<UUID> = []
    for index in begin...end {
      let header = envelopes[index].header
      let isAnswer = header.kind.answer != nil && header.cause.map(orders.contains) == true
      guard isAnswer || isInstance(of: owner, envelopes[index]) || isRestart(envelopes[index]) else { continue }
      if header.kind.answer == nil { orders.insert(header.id) }
      chosen.insert(index)
    }
  }

  private func isInstance(of owner: Address, _ envelope: Envelope) -> Bool {
    if envelope.header.kind == ProcessReady.kind { return envelope.header.source == owner }
    let kinds = [
      SpawnProcess.kind, SignalProcess.kind, ProcessStarted.kind, MemoryExceeded.kind, LocksHeld.kind,
      ProcessExited.kind, ProcessState.kind, RegistrationChanged.kind,
    ]
    guard kinds.contains(envelope.header.kind), EnvelopeNote(envelope).subject == owner else { return false }
    return envelope.reading(RegistrationChanged.self).map { Self.isComingOrGoing($0) } ?? true
  }

  /// Whether the host, an agent or the bus started or exited.
  private func isRestart(_ envelope: Envelope) -> Bool {
    if envelope.header.kind == BusStarted.kind {
      // A new segment also begins with this message. It does not mean that the broker was restarted.
      let before = envelopes.last { $0.header.sequence < envelope.header.sequence && $0.header.kind == BusStarted.kind }
      let generation = envelope.reading(BusStarted.self)?.generation
      return generation != before?.reading(BusStarted.self)?.generation
    }
    guard let changed = envelope.reading(RegistrationChanged.self), Self.isComingOrGoing(changed) else { return false }
    return [.host, .agent].contains(changed.registration.address.role)
  }

  private static func isComingOrGoing(_ changed: RegistrationChanged) -> Bool {
    [.connected, .disconnected, .left].contains(changed.change)
  }
}

extension Trace {
  /// The table and the summary of `widgetlab trace`.
  package func lines(isColored: Bool) -> [String] {
    let heading =
      "    TIME+   WAITED   AFTER     SEQ   \("FROM".padded(20)) > \("TO".padded(20)) "
      + "\("GEN".padded(5)) \("KIND".padded(22)) NOTE"
    return [TerminalColor.faint(heading, if: isColored)] + steps.map { line($0, isColored: isColored) } + [""] + summary
  }

  private func line(_ step: Step, isColored: Bool) -> String {
    let header = step.envelope.header
    let line =
      "\(Self.seconds(step.time).aligned(9)) \((step.waited.map(Self.seconds) ?? "-").aligned(8)) "
      + "\((step.after.map { "#\($0)" } ?? "-").aligned(7)) \(String(step.sequence).aligned(7)) "
      + "\(step.note.mark.rawValue) \(header.source.tailName.padded(20)) > \(header.destination.tailName.padded(20)) "
      + "\("\(header.sourceGeneration)>\(header.destinationGeneration)".padded(5)) \(header.kind.name.padded(22)) "
      + step.note.text
    return TailLines.coloured(line, mark: step.note.mark, kind: header.kind, isColored: isColored)
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
    var foundRanges: [ClosedRange<UInt32>] = []
    for number in numbers {
      if let last = foundRanges.last, last.upperBound + 1 == number {
        foundRanges[foundRanges.count - 1] = last.lowerBound...number
      } else {
        foundRanges.append(number...number)
      }
    }
    return foundRanges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound) to \($0.upperBound)" }
      .joined(separator: ", ")
  }

  /// Microseconds as seconds with three digits.
  static func seconds(_ microseconds: Int64) -> String {
    let milliseconds = (abs(microseconds) + 500) / 1000
    let sign = microseconds < 0 && milliseconds > 0 ? "-" : ""
    return "\(sign)\(milliseconds / 1000).\(String(1000 + milliseconds % 1000).dropFirst())"
  }

  // MARK: JSON

  /// One step in JSON. Times are seconds.
  package struct Line: Encodable {
    let sequence: UInt64
    let time: Double
    let waited: Double?
    let after: UInt64?
    let kind: String
    let from: String
    let to: String
    let fromGeneration: UInt32
    let toGeneration: UInt32
    /// Of the envelope; `nil` is left out.
    var id: String?
    let attempt: UInt16
    let mark: String?
    /// The process that started or ended; `nil` is left out.
    package var subject: String?
    let note: String

    /// - Parameter name: the name of a process.
    package init(_ step: Step, name: (Address) -> String) {
      let header = step.envelope.header
      (sequence, time) = (step.sequence, Double(step.time) / 1e6)
      (waited, after) = (step.waited.map { Double($0) / 1e6 }, step.after)
      (kind, from, to) = (header.kind.name, name(header.source), name(header.destination))
      (fromGeneration, toGeneration) = (header.sourceGeneration, header.destinationGeneration)
      (attempt, mark, note) = (header.attempt, step.note.mark.word, step.note.text)
    }
  }

  /// The trace as one JSON object. Times are seconds.
  package struct Report: Encodable {
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
        var line = Line(step, name: \.text)
        line.id = step.envelope.header.id.text
        return line
      })
  }
}

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
