// SPDX-License-Identifier: Apache-2.0

package import Timekeeping

/// The streams that tests have made, so that a second reader continues where the first one stopped.
@DeviceActor private var streams: [ObjectIdentifier: (outputs: AnyObject, stream: Any)] = [:]

extension Outputs {
  /// The outputs of a service that is tested alone, also those that were there before.
  package func stream() -> AsyncStream<Output> {
    if let known = streams[ObjectIdentifier(self)]?.stream as? AsyncStream<Output> { return known }
    let (stream, continuation) = AsyncStream.makeStream(of: Output.self)
    streams[ObjectIdentifier(self)] = (self, stream)
    receive { continuation.yield($0) }
    return stream
  }
}
