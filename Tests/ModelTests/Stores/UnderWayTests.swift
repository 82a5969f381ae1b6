// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Testing

@testable import Stores

/// Which work ended its process, as the next instances of the process see it.
@Suite(.timeLimit(.minutes(1)))
struct UnderWayTests {
  private let poison = UnderWay.Work(.task, "1 of extension/iphone/com.example session")
  private let other = UnderWay.Work(.task, "2 of extension/iphone/com.example session")

  private let store = UUID()

  /// Runs instances of a process with one file.
  private func instances(_ instances: [(UnderWay) -> Void]) throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "under-way-\(UUID().uuidString)").path
    defer { unlink(path) }
    for instance in instances { instance(try UnderWay(page: path, of: store)) }
  }

  @Test func `work is suspect after one trap and set aside after two, with the signal in the reason`() throws {
    try instances([
      { underWay in
        #expect(underWay.setAside.isEmpty)
        underWay.begin(poison)
        underWay.begin(other)
        underWay.end(other)
        underWay.recordTrap(SIGILL)
      },
      { underWay in
        #expect(underWay.suspects(.task) == [poison])
        #expect(underWay.reason(poison) == nil)
        underWay.begin(poison)
        underWay.begin(other)
        underWay.recordTrap(SIGSEGV)
      },
      { underWay in
        #expect(underWay.setAside == [poison])
        #expect(underWay.suspects(.task) == [other])
        #expect(underWay.reason(poison)?.contains("SIGSEGV twice in a row") == true)
      },
      { underWay in
        // It is announced once, and stays set aside until its service has failed it.
        #expect(underWay.setAside.isEmpty)
        #expect(underWay.reason(poison) != nil)
        underWay.end(poison)
      },
      { underWay in #expect(underWay.reason(poison) == nil) },
    ])
  }

  @Test func `a suspect that is handled without a trap is suspect no longer`() throws {
    let trap: (UnderWay) -> Void = { underWay in
      underWay.begin(poison)
      underWay.recordTrap(SIGABRT)
    }
    try instances([
      trap, { $0.handle(poison) {} }, trap, { #expect($0.suspects(.task) == [poison]) }, trap,
      { #expect($0.setAside == [poison]) },
    ])
  }

  @Test func `a kill counts for nothing, however often it comes`() throws {
    let killed: (UnderWay) -> Void = { underWay in
      underWay.begin(poison)
      #expect(underWay.suspects(.task).isEmpty)
    }
    try instances(Array(repeating: killed, count: 5) + [{ #expect($0.setAside.isEmpty && $0.reason(poison) == nil) }])
  }

  @Test func `more work than the file has room for is handled and not recorded`() throws {
    let long = UnderWay.Work(.image, String(repeating: "0", count: 600))
    try instances([
      { underWay in
        for number in 0..<2000 { underWay.begin(UnderWay.Work(.notification, "\(number)")) }
        underWay.begin(long)
        underWay.recordTrap(SIGILL)
      },
      { underWay in
        #expect(underWay.suspects(.notification).count == 512)
        #expect(underWay.suspects(.image).isEmpty)
      },
    ])
  }

  @Test func `what was under way of another database is forgotten`() throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "under-way-\(UUID().uuidString)").path
    defer { unlink(path) }
    for store in [store, UUID()] {
      let underWay = try UnderWay(page: path, of: store)
      #expect(underWay.suspects(.task).isEmpty)
      underWay.begin(poison)
      underWay.recordTrap(SIGILL)
    }
  }

  @Test func `a damaged file holds nothing back`() throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "under-way-\(UUID().uuidString)").path
    defer { unlink(path) }
    var random = SystemRandomNumberGenerator()
    try Data((0..<300_000).map { _ in UInt8.random(in: .min ... .max, using: &random) }).write(
      to: URL(fileURLWithPath: path))
    let underWay = try UnderWay(page: path, of: store)
    #expect(underWay.handle(poison) { true })
    #expect(underWay.reason(poison) == nil)
  }
}
