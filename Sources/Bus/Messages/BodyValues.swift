// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// The values of a body, either in the envelope or in a file that it names, one per line. Only one piece of the file is
/// in memory at a time.
package struct BodyValues<Value: DirectJSON & Sendable> {
  private var values: ArraySlice<Value> = []
  private var file: FileHandle?
  private var piece = Data()
  private static var pieceLength: Int { 65_536 }

  package init(_ values: [Value]) { self.values = values[...] }

  /// - Throws: `failed` (indefinite) when the file cannot be opened.
  package init(file path: String) throws(BusError) {
    do {
      file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
    } catch {
      throw .unreadable(error)
    }
  }

  /// Returns the next value; `nil` after the last.
  ///
  /// - Throws: `failed` (indefinite) when the file cannot be read, `malformed-body`.
  package mutating func next() throws(BusError) -> Value? {
    guard file != nil else { return values.popFirst() }
    while true {
      if let end = piece.firstIndex(of: UInt8(ascii: "\n")) {
        defer { piece = piece[(end + 1)...] }
        return try BodyCoding.decode(Value.self, from: Array(piece[..<end]))
      }
      guard let more = try read() else {
        guard piece.isEmpty else { throw BusError(.malformed, "the body file ends in the middle of a line") }
        return nil
      }
      piece = piece + more
    }
  }

  private func read() throws(BusError) -> Data? {
    do {
      let data = try file?.read(upToCount: Self.pieceLength)
      return data?.isEmpty == false ? data : nil
    } catch {
      throw .unreadable(error)
    }
  }

  /// Returns the remaining values.
  package mutating func all() throws(BusError) -> [Value] {
    var all: [Value] = []
    while let value = try next() { all.append(value) }
    return all
  }
}

extension BodyCoding {
  /// Encodes values one per line, for a file that `BodyValues` reads.
  ///
  /// - Throws: `malformed-body`.
  package static func lines(_ values: [some DirectJSON]) throws(BusError) -> Data {
    var lines = Data()
    for value in values {
      lines += try data(value)
      lines.append(UInt8(ascii: "\n"))
    }
    return lines
  }
}

extension BusError {
  fileprivate static func unreadable(_ error: any Error) -> BusError {
    BusError(.failed, "the body file cannot be read: \(error)", isDefinite: false)
  }
}
