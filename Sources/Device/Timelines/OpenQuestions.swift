// SPDX-License-Identifier: Apache-2.0

import Archive
import Messages

/// The requests that extensions have not answered, in the order in which they were sent.
struct OpenQuestions: Sendable {
  typealias Question = TimelineStateMachine.Question
  private(set) var all: [Question] = []

  /// The first request to an extension.
  subscript(_ address: Address) -> Question? { all.first { $0.address == address } }

  func count(to address: Address) -> Int { all.count { $0.address == address } }

  /// Whether a placement's placeholder or timeline is being requested.
  func concern(placement: Int) -> Bool { all.contains { $0.purpose != .snapshot && $0.placement.id == placement } }

  func contains(_ question: Question) -> Bool { all.contains(question) }

  mutating func append(_ question: Question) { all.append(question) }

  mutating func remove(_ question: Question) { all.removeAll { $0 == question } }

  /// Removes the requests to an extension.
  ///
  /// - Returns: what was removed.
  mutating func removeAll(to address: Address) -> [Question] {
    defer { all.removeAll { $0.address == address } }
    return all.filter { $0.address == address }
  }
}
