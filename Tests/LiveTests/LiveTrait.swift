// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import WidgetLabTesting

/// The trait of suites whose tests start processes.
///
/// It bounds how many of these tests run at once. A test waits for its turn before its time limit begins, because Swift
/// Testing applies a time limit to each test case, and this trait waits around the whole test function. The cases of
/// one test function run sequentially, in one turn.
struct LiveTrait: SuiteTrait, TestTrait, TestScoping {
  /// How often each test runs, from `WIDGETLAB_REPEAT`; `scripts/test --long` sets it.
  static let rounds = max(1, ProcessInfo.processInfo.environment["WIDGETLAB_REPEAT"].flatMap { Int($0) } ?? 1)

  let isRecursive = true

  func scopeProvider(for test: Test, testCase: Test.Case?) -> LiveTrait? { test.isSuite ? nil : self }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    guard testCase != nil else {
      try await Turns.shared.take {
        try await ParallelizationTrait.serialized.provideScope(for: test, testCase: nil, performing: function)
      }
      return
    }
    let remains = LabRemains(test: Self.name(of: test))
    let observer = IssueHandlingTrait.compactMapIssues { issue in
      if issue.isFailure { remains.fail("\(issue)") }
      return issue
    }
    do {
      try await observer.provideScope(for: test, testCase: testCase) {
        try await LabRemains.$current.withValue(remains, operation: function)
      }
    } catch {
      remains.fail("\(error)")
      try Self.close(remains, test)
      throw error
    }
    try Self.close(remains, test)
  }

  private static func close(_ remains: LabRemains, _ test: Test) throws {
    if let folder = try remains.close() { print("the journal and the outputs of \(test.name): \(folder)") }
  }

  /// The names of the suite and the function.
  private static func name(of test: Test) -> String {
    let suite = test.id.description.split(separator: "/").first.map(String.init) ?? ""
    return "\(suite) \(test.displayName ?? test.name)"
  }
}

extension Trait where Self == LiveTrait {
  /// The tests of this suite start processes.
  static var live: Self { LiveTrait() }
}

extension TimeLimitTrait.Duration {
  /// The time limit of a live test. It is a guard against a test that hangs: no live test takes as long, not even on a
  /// machine that is busy with other work.
  static var live: Self { .minutes(15 * LiveTrait.rounds) }
}

/// Limits how many live tests run at once.
actor Turns {
  static let shared = Turns(free: Turns.count(cores: processors))
  private var free: Int
  private var waitingTests: [CheckedContinuation<Void, Never>] = []

  init(free: Int) { self.free = free }

  /// The number of processors that this process may use, which under `taskset` is lower than the machine's.
  static let processors: Int = {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("Cpus_allowed:") } ?? ""
    let allowed = line.dropFirst("Cpus_allowed:".count).compactMap(\.hexDigitValue).map(\.nonzeroBitCount).reduce(0, +)
    // A virtual machine may list processors that it does not have.
    return max(1, min(allowed, ProcessInfo.processInfo.activeProcessorCount))
  }()

  /// A cluster waits more than it computes, so more clusters than cores run. `WIDGETLAB_CLUSTERS` sets another number.
  static func count(
    cores: Int, wanted: String? = ProcessInfo.processInfo.environment["WIDGETLAB_CLUSTERS"]
  ) -> Int {
    max(1, wanted.flatMap { Int($0) } ?? 2 + 4 * cores)
  }

  /// Waits for a turn, and does the work in it.
  nonisolated func take(_ work: () async throws -> Void) async throws {
    await begin()
    do {
      try await work()
      await end()
    } catch {
      await end()
      throw error
    }
  }

  private func begin() async {
    guard free == 0 else {
      free -= 1
      return
    }
    await withCheckedContinuation { waitingTests.append($0) }
  }

  private func end() {
    if waitingTests.isEmpty { free += 1 } else { waitingTests.removeFirst().resume() }
  }
}
