// SPDX-License-Identifier: Apache-2.0

import Archive
import Cluster
import Device
import DeviceRules
import Foundation
import MessageBus
import Messages
import Timekeeping

// Reports of failed launches.

extension Device {
  nonisolated func listenForLaunches() {
    onRequest(AwaitLaunch.self) { device, request, _ in
      AwaitLaunch.Reply(failures: await device.outcome(of: request))
    }
  }

  private func outcome(of request: AwaitLaunch) async -> [LaunchFailure] {
    let deadline = ContinuousClock.now + .saturating(seconds: request.limit)
    var failures: [LaunchFailure] = []
    for address in addresses(of: request) {
      let left = max(.zero, deadline - .now)
      if let error = await launcher.launchOutcome(of: address, within: left) {
        failures.append(LaunchFailure(address: address, error: error))
      }
    }
    return failures
  }

  private func addresses(of request: AwaitLaunch) -> [Address] {
    let name = configuration.device.name
    if let bundle = request.bundle { return configuration.product(bundle).map { [$0.address(on: name)] } ?? [] }
    let known = gallery.stateMachine.state.declarations
    let extensions = configuration.extensions.filter { product in
      guard let kind = request.widgetKind, let widgets = known[product.bundle] else { return true }
      return widgets.contains { $0.kind == kind }
    }
    return extensions.map { $0.address(on: name) }.sorted { $0.text < $1.text }
  }

  /// The extensions whose last launch failed.
  var failedExtensions: [LaunchFailure] {
    failures(of: configuration.extensions.map { $0.address(on: configuration.device.name) })
  }

  /// Why the last launch of each of these processes failed. A process that runs or was never launched is left out.
  func failures(of addresses: [Address]) -> [LaunchFailure] {
    addresses.compactMap { address in
      launcher.launchFailure(of: address).map { LaunchFailure(address: address, error: $0) }
    }
  }

  /// Keeps a process running during `work`, which begins after the launch, or when the time for a timeline is over.
  ///
  /// - Throws: why the process cannot be launched, before `work` begins; errors of `work`.
  func withLaunched<T>(
    _ address: Address, because assertion: Assertion, _ work: () async throws(BusError) -> T
  ) async throws(BusError) -> T {
    launcher.want(address, because: assertion)
    let result: Result<T, BusError>
    if let failure = await launcher.launchOutcome(of: address, within: configuration.settings.timelineDeadline) {
      result = .failure(failure)
    } else {
      do throws(BusError) {
        result = .success(try await work())
      } catch {
        result = .failure(error)
      }
    }
    launcher.release(address, because: assertion)
    return try result.get()
  }
}
