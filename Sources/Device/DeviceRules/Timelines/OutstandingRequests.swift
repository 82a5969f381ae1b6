// SPDX-License-Identifier: Apache-2.0

import Archive
import Messages

/// The requests that extensions have not answered, in the order in which they were sent.
struct OutstandingRequests: Sendable {
  typealias ProviderRequest = TimelineStateMachine.ProviderRequest
  private(set) var all: [ProviderRequest] = []

  /// The first request to an extension.
  subscript(_ address: Address) -> ProviderRequest? { all.first { $0.address == address } }

  func count(to address: Address) -> Int { all.count { $0.address == address } }

  /// Whether a placement's placeholder or timeline is being requested.
  func concern(placement: Int) -> Bool { all.contains { $0.purpose != .snapshot && $0.placement.id == placement } }

  func contains(_ request: ProviderRequest) -> Bool { all.contains(request) }

  mutating func append(_ request: ProviderRequest) { all.append(request) }

  mutating func remove(_ request: ProviderRequest) { all.removeAll { $0 == request } }

  /// Removes the requests to an extension.
  ///
  /// - Returns: what was removed.
  mutating func removeAll(to address: Address) -> [ProviderRequest] {
    defer { all.removeAll { $0.address == address } }
    return all.filter { $0.address == address }
  }
}
