// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Messages

@Suite struct `The numbers of tasks in a message` {
  private func text(_ numbers: TaskNumbers) throws -> String {
    String(decoding: try BodyCoding.encode(numbers), as: UTF8.self)
  }

  @Test(arguments: [([], "\"\""), ([7], "\"7\""), ([3, 1, 2, 2], "\"1-3\""), ([9, 1, 2, 7], "\"1-2,7,9\"")])
  func `task numbers are encoded as ranges, and decoded again`(identifiers: [Int], encoded: String) throws {
    let numbers = try #require(TaskNumbers(identifiers))
    #expect(try text(numbers) == encoded)
    let decoded = try BodyCoding.decode(TaskNumbers.self, from: Array(encoded.utf8))
    #expect(decoded.identifiers == Set(identifiers).sorted())
  }

  @Test func `task numbers that are too long for a message are left out`() throws {
    #expect(try text(try #require(TaskNumbers(1...1_000_000))) == "\"1-1000000\"")
    #expect(TaskNumbers((1...100_000).map { $0 * 2 }) == nil)
  }

  @Test(arguments: ["\"3-1\"", "\"a\"", "\"1-2-3\"", "\"1-9000000000\"", "7"])
  func `text that is not a list of ranges is refused`(text: String) {
    #expect(throws: BusError.self) { try BodyCoding.decode(TaskNumbers.self, from: Array(text.utf8)) }
  }
}
