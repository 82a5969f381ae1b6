// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A number of a text, which is no part of a name, a version such as `1.10.3` or an address.
struct StatedNumber: Hashable {
  /// As it is written: `10,000`.
  var text: String
  var value: Double
  /// The word after it, such as `KiB`; empty without one.
  var unit: String
  /// Whether the word follows without a space, as in `128th`.
  var isAttached: Bool

  /// The values by which a test may name it, such as seconds for days.
  var spellings: [Double] {
    let factors: [Double] =
      switch unit {
      case "%": [0.01]
      case "kB": [1_000]
      case "KiB": [1_024]
      case "MiB": [1_048_576]
      case "ms": [0.001]
      case "s": [1_000]
      case "min", "minute", "minutes": [60]
      case "h", "hour", "hours": [60, 3_600]
      case "day", "days": [24, 1_440, 86_400]
      default: []
      }
    return [value] + factors.map { $0 * value }
  }

  /// Whether one of the values is a spelling of it.
  func isNamed(by values: [Double]) -> Bool {
    spellings.contains { spelling in values.contains { abs($0 - spelling) <= 1e-9 * max(1, spelling) } }
  }
}

extension String {
  /// The numbers of the text, in order.
  var statedNumbers: [StatedNumber] {
    let bytes = Array(utf8)
    var numbers: [StatedNumber] = []
    var index = 0
    func byte(_ at: Int) -> UInt8 { bytes.indices.contains(at) ? bytes[at] : 0 }
    func isDigit(_ at: Int) -> Bool { (48...57).contains(byte(at)) }
    func isLetter(_ at: Int) -> Bool {
      byte(at) >= 128 || byte(at) == 95 || (65...90).contains(byte(at) & 0xDF)
    }
    func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
    func word(from start: Int) -> String {
      if byte(start) == UInt8(ascii: "%") { return "%" }
      return text(start..<((start..<bytes.count).first { !isLetter($0) } ?? bytes.count))
    }
    while index < bytes.count {
      if isLetter(index) {
        while isLetter(index) || isDigit(index) { index += 1 }
        continue
      }
      let isFraction = byte(index) == UInt8(ascii: ".") && isDigit(index + 1) && byte(index - 1) != UInt8(ascii: ".")
      guard isDigit(index) || isFraction else {
        index += 1
        continue
      }
      let start = index
      while isDigit(index) || ([44, 95].contains(byte(index)) && isDigit(index + 1)) { index += 1 }
      func skipFraction() {
        guard byte(index) == UInt8(ascii: "."), isDigit(index + 1) else { return }
        index += 1
        while isDigit(index) { index += 1 }
      }
      skipFraction()
      let end = index
      while byte(index) == UInt8(ascii: "."), isDigit(index + 1) { skipFraction() }
      let written = text(start..<end)
      guard index == end, let value = Double("0" + written.filter { $0 != "," && $0 != "_" }) else { continue }
      let isAttached = isLetter(end)
      let unit = word(from: isAttached || byte(end) != UInt8(ascii: " ") ? end : end + 1)
      numbers.append(StatedNumber(text: written, value: value, unit: unit, isAttached: isAttached))
    }
    return numbers
  }
}

extension FidelityRule {
  /// The numbers of the statement, without those of names and references, without 0 and 1, and without the defaults of its
  /// settings, which `Tests/ProcessesTests/Cluster` compares with the code.
  var statedNumbers: [StatedNumber] {
    let text = statement.split(separator: "`", omittingEmptySubsequences: false).enumerated()
      .map { $0.offset.isMultiple(of: 2) ? String($0.element) : "" }.joined(separator: " ")
      .replacing(/\[[^\]]*\]\([^)]*\)/, with: " ").replacing(/\b[A-Z]+-[0-9]{2}\b/, with: " ")
      .replacing(/\b(RFC|Annex|Rec\.|section|SHA)[ \-][0-9.]+/, with: " ")
    let defaults = (fields["Setting"] ?? "").statedNumbers.flatMap(\.spellings)
    return text.statedNumbers.filter { $0.value != 0 && $0.value != 1 && !$0.isAttached && !$0.isNamed(by: defaults) }
  }
}

extension FidelityPages {
  /// Numbers of statements that none of the linked tests contains, and exceptions that are not needed.
  ///
  /// - Parameter exceptions: the reason for each number that no test contains, by the id and the number.
  func unnamedNumbers(_ links: [RuleLink], exceptions: [String: String]) -> [Finding] {
    var unused = Set(exceptions.keys)
    var findings: [Finding] = []
    for rule in rules where !rule.isUntested {
      let numbers = rule.statedNumbers
      guard !numbers.isEmpty else { continue }
      let values = links.filter { $0.ids.contains(rule.id) }.flatMap { link in
        link.text.replacing(/"[A-Z]+-[0-9]{2}"/, with: "").statedNumbers.map(\.value)
      }
      for number in numbers where !number.isNamed(by: values) {
        let key = "\(rule.id) \(number.text)"
        guard exceptions[key] == nil else {
          unused.remove(key)
          continue
        }
        let advice = "\(rule.id): no linked test contains \(number.text); assert it, or correct the statement"
        findings.append(Finding(path: rule.path, line: rule.line, advice: advice))
      }
    }
    for key in unused.sorted() {
      findings.append(Finding(path: Self.index, line: 1, advice: "the exception \(key) is not needed; remove it"))
    }
    return findings
  }
}

extension FidelityPages {
  /// Why no linked test contains a number, by the id of the rule and the number.
  static let unnamedNumbers = [
    "ACTIVITY-13 30": "the host waits in real time",
    "DEFAULTS-06 256": "the limit of an envelope, which the tests of the bus assert",
    "PICTURE-02 27": "in the table of measured widths, a property of the suite",
    "PICTURE-02 3": "in the table of measured widths, a property of the suite",
    "PICTURE-02 7": "in the table of measured widths, a property of the suite",
    "PICTURE-04 13": "the device chooses the colours of the picture",
    "PICTURE-04 18": "the device chooses the colours of the picture",
    "PICTURE-04 26": "the device chooses the colours of the picture",
    "PICTURE-05 24": "the command draws the widgets of an iPad, and no test looks at their corners",
    "PICTURE-75 20,000": "so many folders take seconds to make",
    "PICTURE-75 32": "the test has an endless catalog",
    "PICTURE-79 16": "the test has an endless chain",
    "PROCESS-10 1000": "a line has any length, and the pipe belongs to the kernel",
    "PROCESS-10 256": "a line has any length, and the pipe belongs to the kernel",
    "TRANSFER-58 80": "the limit of NIO's decoder; the test has an endless header",
  ]
}
