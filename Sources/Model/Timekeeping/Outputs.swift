// SPDX-License-Identifier: Apache-2.0

/// What a service asks of the rest of the device, and reports to it, in order. The clock does not advance before the
/// receiver has handled it.
@DeviceActor package final class Outputs<Output: Sendable> {
  private let clock: any ControllableClock
  private var receiver: (@DeviceActor (Output) -> Void)?
  /// Outputs before there is a receiver.
  private var early: [(Output, ClockWork)] = []

  package nonisolated init(_ clock: any ControllableClock) { self.clock = clock }

  /// Adds an output, which the receiver gets after the call that runs now.
  package func yield(_ output: Output) {
    let work = clock.beginWork()
    DeviceActor.follow { self.pass(output, work) }
  }

  private func pass(_ output: Output, _ work: ClockWork) {
    guard let receiver else { return early.append((output, work)) }
    receiver(output)
    clock.endWork(work)
  }

  /// Sets the receiver, which gets the earlier outputs at once.
  package func receive(_ receiver: @escaping @DeviceActor (Output) -> Void) {
    self.receiver = receiver
    let earlier = early
    early = []
    for (output, work) in earlier { pass(output, work) }
  }
}
