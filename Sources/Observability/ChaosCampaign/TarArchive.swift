// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// Files in one file, in the format of `tar` (POSIX ustar), so that every tool can open it.
package struct TarArchive: Sendable, Equatable {
  /// One file.
  package struct Member: Sendable, Equatable {
    package let name: String
    package let data: Data

    package init(name: String, data: Data) {
      self.name = name
      self.data = data
    }
  }

  /// Why an archive cannot be read.
  package struct Problem: Error, CustomStringConvertible {
    package let description: String
  }

  private static let block = 512

  package var members: [Member]

  package init(_ members: [Member] = []) { self.members = members }

  /// The content of a file; `nil` when no member has this name.
  package subscript(name: String) -> Data? { members.first { $0.name == name }?.data }

  // MARK: Writing

  /// The archive's bytes.
  package var bytes: Data {
    var bytes = Data()
    for member in members {
      bytes += Self.head(of: member)
      bytes += member.data
      bytes += Data(count: (Self.block - member.data.count % Self.block) % Self.block)
    }
    return bytes + Data(count: 2 * Self.block)
  }

  private static func head(of member: Member) -> Data {
    var head = [UInt8](repeating: 0, count: block)
    func put(_ text: String, at offset: Int) {
      head.replaceSubrange(offset..<offset + text.utf8.count, with: text.utf8)
    }
    func octal(_ value: Int, _ digits: Int) -> String {
      let text = String(value, radix: 8)
      return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
    precondition(member.name.utf8.count < 100, "the name of a member has fewer than 100 bytes: \(member.name)")
    put(member.name, at: 0)
    put(octal(0o644, 7), at: 100)
    put(octal(0, 7), at: 108)
    put(octal(0, 7), at: 116)
    put(octal(member.data.count, 11), at: 124)
    put(octal(0, 11), at: 136)
    put("        ", at: 148)
    put("0", at: 156)
    put("ustar", at: 257)
    put("00", at: 263)
    put(octal(head.reduce(0) { $0 + Int($1) }, 6) + "\0 ", at: 148)
    return Data(head)
  }

  // MARK: Reading

  /// Whether the bytes begin like an archive.
  package static func isArchive(_ bytes: Data) -> Bool {
    bytes.count >= block && bytes.dropFirst(257).prefix(5) == Data("ustar".utf8)
  }

  /// Reads an archive of plain files.
  ///
  /// - Throws: `Problem` for other content.
  package init(reading bytes: Data) throws(Problem) {
    members = []
    var rest = bytes[...]
    while rest.count >= Self.block, rest.first != 0 {
      let head = Array(rest.prefix(Self.block))
      guard Self.isArchive(Data(head)), let size = Int(Self.text(head[124..<136]), radix: 8), size >= 0,
        Self.checksum(head) == Int(Self.text(head[148..<156]), radix: 8)
      else { throw Problem(description: "the file is not a tar archive, or it is damaged") }
      rest = rest.dropFirst(Self.block)
      guard rest.count >= size else {
        throw Problem(description: "the archive ends within \(Self.text(head[0..<100]))")
      }
      if head[156] == UInt8(ascii: "0") || head[156] == 0 {
        members.append(Member(name: Self.text(head[0..<100]), data: Data(rest.prefix(size))))
      }
      rest = rest.dropFirst((size + Self.block - 1) / Self.block * Self.block)
    }
  }

  private static func text(_ field: ArraySlice<UInt8>) -> String {
    String(decoding: field.prefix { $0 != 0 && $0 != UInt8(ascii: " ") }, as: UTF8.self)
  }

  /// The checksum counts its own field as spaces.
  private static func checksum(_ head: [UInt8]) -> Int {
    head.enumerated().reduce(0) { $0 + ((148..<156).contains($1.offset) ? 32 : Int($1.element)) }
  }
}
