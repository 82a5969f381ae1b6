// SPDX-License-Identifier: Apache-2.0

import Messages

/// How the last envelopes were forwarded, so that the next ones of the same connection, kind and addresses need not be
/// judged again.
///
/// Each envelope is still checked: its bytes are compared with those of the one that was judged. A judgement is valid
/// until the routing calls `forgetAll`, which it does for any change to its connections. The memory is bounded, and a
/// new route replaces another one with the same place.
struct RouteCache<Line: Hashable & Sendable> {
  struct Route: Equatable, Sendable {
    let line: Line
    let sourceGeneration: UInt32
    /// Nil for what is only recorded.
    let destination: Line?
    /// 0 for what is only recorded.
    let destinationGeneration: UInt32
  }

  private struct Place: Sendable {
    let bytes: RouteBytes
    let route: Route
    let age: UInt64
  }

  /// A power of two. The cache has about 300 bytes for each.
  static var capacity: Int { 1024 }

  private var places: [Place?] = []
  /// Routes of another age are forgotten.
  private var age: UInt64 = 0

  /// Forgets all routes.
  mutating func forgetAll() { age += 1 }

  /// The route of a frame from a connection; nil when it must be judged.
  func route(of frame: UnsafeRawBufferPointer, on line: Line) -> Route? {
    guard !places.isEmpty, let hash = RouteBytes.hash(of: frame), let place = places[Self.index(hash)],
      place.age == age, place.route.line == line, place.bytes.matches(frame)
    else { return nil }
    return place.route
  }

  /// Adds the route of a frame that was judged.
  mutating func insert(_ route: Route, of frame: UnsafeRawBufferPointer) {
    guard let hash = RouteBytes.hash(of: frame) else { return }
    if places.isEmpty { places = Array(repeating: nil, count: Self.capacity) }
    places[Self.index(hash)] = Place(bytes: RouteBytes(of: frame), route: route, age: age)
  }

  /// The high bits, which depend on all bytes.
  private static func index(_ hash: UInt64) -> Int { Int(hash >> 32) & (capacity - 1) }
}
