// SPDX-License-Identifier: Apache-2.0

import FaultPoints
import Foundation
import Glibc
import Messages
import Testing

/// A process maps its page once and forever, so one page serves all tests, which run in order.
@Suite(.serialized) struct `The fault points of a process` {
  private static let process = Address.host("iphone")
  private static let joined: FaultPointPage = {
    let path = NSTemporaryDirectory() + "fault-points-\(UUID().uuidString)"
    // A mapped file needs no name.
    defer { unlink(path) }
    do {
      let page = try FaultPointPage.create(at: path)
      try FaultPointPage.join(path, as: process)
      return page
    } catch {
      preconditionFailure("\(error)")
    }
  }()

  private let page = Self.joined

  @Test func `a process without the page has no fault points`() throws {
    #expect(try FaultPointPage.join("/nowhere/fault-points", as: Self.process) == false)
  }

  @Test func `a file that is not a page is refused`() throws {
    let file = NSTemporaryDirectory() + "no-page-\(UUID().uuidString)"
    try Data("text".utf8).write(to: URL(fileURLWithPath: file))
    defer { unlink(file) }
    let error = #expect(throws: FaultPointError.self) { try FaultPointPage.join(file, as: Self.process) }
    #expect(error?.code == EINVAL)
  }

  @Test func `the page has the last point that a process reached`() throws {
    let before = try #require(page.state(of: Self.process))
    #expect(before.pid == getpid())
    for point in [FaultPoint.hostAfterTasksSaved, .hostBeforeScreenSaved] {
      // Other tests of this process reach points on their threads.
      let isSeen = (0..<10_000).contains { _ in
        point.reached()
        return page.lastReached(Self.process) == point
      }
      #expect(isSeen, "\(point.name)")
    }
    #expect(try #require(page.state(of: Self.process)).count >= before.count + 2)
    #expect(page.state(of: .pushServer) == nil)
    #expect(page.state(of: Self.process, pid: 1) == nil)
  }

  @Test func `an armed failure skips hits and ends by itself`() throws {
    let fault = try #require(page.arm(.fail(errno: ENOSPC), at: .hostBeforeTasksSaved, skipping: 1, times: 2))
    defer { page.disarm(fault) }
    let results = (0..<4).map { _ in FaultPoint.hostBeforeTasksSaved.failure() }
    #expect(results == [nil, ENOSPC, ENOSPC, nil])
    #expect(page.performed(fault) == 2)
  }

  @Test func `a fault concerns only its point and its process`() throws {
    let other = try #require(page.arm(.fail(errno: EIO), at: .hostBeforeTasksSaved, of: .pushServer, times: nil))
    defer { page.disarm(other) }
    let own = try #require(page.arm(.fail(errno: EIO), at: .hostBeforeScreenSaved, of: Self.process, times: nil))
    defer { page.disarm(own) }
    #expect(FaultPoint.hostBeforeTasksSaved.failure() == nil)
    #expect(FaultPoint.hostBeforeScreenSaved.failure() == EIO)
    page.disarm(own)
    #expect(FaultPoint.hostBeforeScreenSaved.failure() == nil)
  }

  @Test(.timeLimit(.minutes(1))) func `a stall ends when it is disarmed`() async throws {
    let fault = try #require(page.arm(.stall(milliseconds: 600_000), at: .hostAfterScreenSaved, times: nil))
    // On its own thread: the tests that run beside this one need those of the pool.
    let stalled = Task {
      await withCheckedContinuation { continuation in
        Thread.detachNewThread {
          FaultPoint.hostAfterScreenSaved.reached()
          continuation.resume()
        }
      }
    }
    while page.performed(fault) == 0 {
      try Task.checkCancellation()
      await Task.yield()
    }
    page.disarm(fault)
    await stalled.value
  }

  @Test func `all places can be used and freed`() {
    let faults = (0..<FaultPointPage.capacity).compactMap { _ in
      page.arm(.double, type: SessionEvents.kind.name)
    }
    #expect(faults.count == FaultPointPage.capacity)
    #expect(page.arm(.crash, at: .busAfterJournal) == nil)
    page.disarmAll()
    let fault = page.arm(.stall(milliseconds: 1), at: .busAfterJournal)
    #expect(fault != nil)
    page.disarmAll()
  }

  @Test func `only one injector has the page, and its faults end with it`() throws {
    let path = NSTemporaryDirectory() + "fault-points-\(UUID().uuidString)"
    defer { unlink(path) }
    var first: FaultPointPage? = try FaultPointPage.create(at: path)
    let error = #expect(throws: FaultPointError.self) { try FaultPointPage.create(at: path) }
    #expect(error?.code == EWOULDBLOCK)
    let fault = try #require(first?.arm(.crash, at: .busAfterJournal, times: nil))
    #expect(first?.performed(fault) == 0)
    first = nil
    let second = try FaultPointPage.create(at: path)
    // The fault of the first is no longer armed: all places are free.
    let faults = (0..<FaultPointPage.capacity).compactMap { _ in second.arm(.double) }
    #expect(faults.count == FaultPointPage.capacity)
  }

  @Test func `each point has its own name and a sentence`() {
    let names = FaultPoint.allCases.map(\.name)
    #expect(Set(names).count == names.count)
    for point in FaultPoint.allCases {
      #expect(FaultPoint(name: point.name) == point)
      #expect(point.summary.hasSuffix("."), "\(point.name)")
      #expect(!point.canFail || point.isBefore, "\(point.name)")
    }
    #expect(FaultPoint(name: "host") == nil)
  }
}
