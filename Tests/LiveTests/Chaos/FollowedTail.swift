// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import WidgetLabTesting

/// A `widgetlab tail --follow` that runs during a campaign, and its output.
struct FollowedTail: Sendable {
  /// The output format.
  enum Form: String, Sendable {
    case json
    /// The columns `sequence` and `kind`, below their headings.
    case pretty
  }

  /// One printed line.
  struct Line: Sendable {
    let sequence: UInt64
    /// Only in JSON.
    let id: UUID?
    let kind: String
  }

  let name: String
  let first: UInt64
  private let form: Form
  private let output: String
  private let child: LabChild
  private let ending: Task<Int32, Never>

  /// Starts the tail.
  ///
  /// - Parameter first: the first sequence number; 1 for no `--since`.
  static func start(
    _ executables: String, folder: String, form: Form, from first: UInt64
  ) async throws -> FollowedTail {
    let name = "\(form.rawValue) tail from #\(first)"
    let output = "\(folder)/tail-\(form.rawValue)-\(first).out"
    let place = first == 1 ? [] : ["--since", "seq:\(first)"]
    let columns = form == .pretty ? ["--columns", "sequence,kind", "--color", "never"] : []
    let child = try await LabChild.start(
      executables + "/widgetlab",
      ["tail", "--follow", "--output", form.rawValue, "--journal", "\(folder)/journal"] + place + columns,
      output: output,
      errors: output + ".err")
    let ending = Task { await child.ending() }
    return FollowedTail(name: name, first: first, form: form, output: output, child: child, ending: ending)
  }

  func stop() async {
    child.signal(SIGKILL)
    _ = await ending.value
  }

  /// The sequence number of the last complete line.
  func last() throws -> UInt64 {
    let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: output))
    defer { try? file.close() }
    let size = try file.seekToEnd()
    try file.seek(toOffset: size > 65_536 ? size - 65_536 : 0)
    let text = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
    let whole = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    return try whole.last.flatMap { try line(Substring($0))?.sequence } ?? 0
  }

  /// All complete lines.
  func lines() throws -> [Line] {
    let text = try String(contentsOfFile: output, encoding: .utf8)
    return try text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().compactMap(line)
  }

  /// Parses a line; `nil` for the headings.
  private func line(_ text: Substring) throws -> Line? {
    switch form {
    case .json:
      struct Object: Decodable {
        let sequence: UInt64
        let id: UUID
        let kind: String
      }
      let object = try JSONDecoder().decode(Object.self, from: Data(text.utf8))
      return Line(sequence: object.sequence, id: object.id, kind: object.kind)
    case .pretty:
      let words = text.split(separator: " ")
      guard let number = words.first, let sequence = UInt64(number) else { return nil }
      return Line(sequence: sequence, id: nil, kind: words.last.map(String.init) ?? "")
    }
  }
}
