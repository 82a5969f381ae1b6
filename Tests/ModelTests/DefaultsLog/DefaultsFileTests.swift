// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Synchronization
import Testing

@testable import DefaultsLog

@Suite(.timeLimit(.minutes(1))) final class `The file of a domain` {
  private let folder = FileManager.default.temporaryDirectory.path + "/defaults-\(UUID().uuidString)"
  private var path: String { DefaultsFile.path(of: "group.a", in: folder) }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  @Test(.rule("DEFAULTS-01")) func `a change is visible to another reader at its next read`() throws {
    let (first, second) = (DefaultsFile(path), DefaultsFile(path))
    #expect(try second.values().isEmpty)
    try first.append(.value("a", [1]))
    #expect(try second.value(forKey: "a") == [1])
    try second.append(.value("a", [2]))
    #expect(try first.value(forKey: "a") == [2])
    try first.append(.removal("a"))
    #expect(try second.values().isEmpty)
    #expect(DefaultsFile.domains(in: folder) == ["group.a"])
  }

  @Test func `the name of a domain may have any character`() throws {
    for name in ["a/b", "100%", "ä ö", "..", "a.defaults"] {
      try DefaultsFile(DefaultsFile.path(of: name, in: folder)).append(.value("k", []))
    }
    #expect(Set(DefaultsFile.domains(in: folder)) == ["a/b", "100%", "ä ö", "..", "a.defaults"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["Library"])
  }

  @Test(.rule("DEFAULTS-04")) func `writers at once lose no key`() async throws {
    let path = path
    try await withThrowingTaskGroup { group in
      for writer in 0..<4 {
        group.addTask {
          let file = DefaultsFile(path)
          for number in 0..<500 { try file.append(.value("\(writer)-\(number)", [UInt8](repeating: 1, count: 50))) }
        }
      }
      try await group.waitForAll()
    }
    #expect(try DefaultsFile(path).values().count == 2000)
  }

  @Test func `a part of a record of a killed writer hides no other`() throws {
    let file = DefaultsFile(path)
    try file.append(.value("a", [1]))
    let handle = try #require(FileHandle(forWritingAtPath: path))
    try handle.seekToEnd()
    try handle.write(contentsOf: DefaultsRecord.value("torn", [UInt8](repeating: 1, count: 5000)).bytes.prefix(3000))
    #expect(try file.values().count == 1)
    try file.append(.value("b", [2]))
    #expect(try file.values() == ["a": [1], "b": [2]])
    #expect(try DefaultsFile(path).values() == ["a": [1], "b": [2]])
  }

  @Test func `a log is compacted when no process has it open`() throws {
    var file: DefaultsFile? = DefaultsFile(path)
    for number in 0..<100 { try file?.append(.value("a", [UInt8(number)])) }
    let size = try length()
    #expect(DefaultsFile.compactAll(in: folder, from: 0) == [], "it is open")
    file = nil
    #expect(DefaultsFile.compactAll(in: folder, from: size + 1) == [], "it is short")
    #expect(DefaultsFile.compactAll(in: folder, from: 0) == ["group.a"])
    #expect(try length() < size / 10)
    #expect(try DefaultsFile(path).values() == ["a": [99]])
    #expect(DefaultsFile.compactAll(in: folder, from: 0) == [], "it has no outdated values")
    try DefaultsFile(path).append(.value("b", [1]))
    #expect(try DefaultsFile(path).values() == ["a": [99], "b": [1]])
  }

  @Test(.rule("DEFAULTS-04")) func `a compaction loses no change of a writer that opens the file at the same time`()
    async throws
  {
    let (path, folder) = (path, folder)
    let compactions = Counter()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<3 {
        group.addTask {
          for number in 0..<300 {
            // A compaction needs a moment at which no writer has the file open.
            while number == 150, compactions.value.load(ordering: .relaxed) == 0 {
              try Task.checkCancellation()
              await Task.yield()
            }
            let file = DefaultsFile(path)
            try file.append(.value("outdated", [UInt8](repeating: 1, count: 500)))
            await Task.yield()  // on one core all tasks share one thread
            try file.append(.value("\(writer)-\(number)", [1]))
          }
        }
      }
      group.addTask {
        repeat {
          compactions.value.add(DefaultsFile.compactAll(in: folder, from: 0).count, ordering: .relaxed)
          await Task.yield()
        } while !Task.isCancelled
      }
      for _ in 0..<3 { _ = try await group.next() }
      group.cancelAll()
    }
    #expect(try DefaultsFile(path).values().count == 901)
    #expect(compactions.value.load(ordering: .relaxed) > 0)
  }

  @Test func `a file that another replaced is read again`() throws {
    let file = DefaultsFile(path)
    try file.append(.value("a", [1]))
    #expect(try file.values().count == 1)
    try FileManager.default.removeItem(atPath: path)
    #expect(try file.values().isEmpty)
    try file.append(.value("b", [2]))
    #expect(try DefaultsFile(path).values() == ["b": [2]])
  }

  @Test(.rule("DEFAULTS-07")) func `a change that cannot be written fails with the reason`() throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Data().write(to: URL(fileURLWithPath: folder + "/Library"))
    let failure = #expect(throws: DefaultsFile.Failure.self) { try DefaultsFile(path).append(.clear) }
    #expect(failure?.code == ENOTDIR)
    #expect(throws: DefaultsFile.Failure.self) {
      try DefaultsFile(path).append(.value("a", [UInt8](repeating: 0, count: 64 << 20)))
    }
  }

  @Test func `a value is the same as a property list and on the bus`() throws {
    let value = DefaultsValue.dictionary([
      "s": .string("ä"), "i": .integer(.min), "r": .real(2.5), "whole": .real(3), "yes": .bool(true),
      "one": .integer(1),
      "no": .bool(false), "zero": .integer(0), "date": .date(Date(timeIntervalSince1970: 1_772_344_800)),
      "data": .data(Data([0, 255])), "array": .array([.string("a"), .array([.integer(2)]), .dictionary([:])]),
    ])
    #expect(DefaultsValue(propertyList: try value.propertyList()) == value)
    #expect(try BodyCoding.decode(DefaultsValue.self, from: try BodyCoding.encode(value)) == value)
    #expect(DefaultsValue(propertyList: [1, 2, 3]) == nil)
  }

  private func length() throws -> Int {
    try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
  }
}

private final class Counter: Sendable {
  let value = Atomic(0)
}
