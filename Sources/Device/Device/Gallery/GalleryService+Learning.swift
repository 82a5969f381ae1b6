// SPDX-License-Identifier: Apache-2.0

import DeviceRules
import Foundation
package import Messages
import OwnedTasks
import Timekeeping

// iOS reads the widgets of an installed app without running it. Here they are declared in the extension's code, so an
// extension that never ran is launched once.

extension GalleryService {
  private static var assertion: Assertion { "gallery" }

  /// Launches each extension whose widgets are not known, and waits until it has reported them, cannot be launched or
  /// has ended, for at most ten seconds.
  ///
  /// - Returns: the extensions whose widgets are still unknown.
  package func learn(_ extensions: [Address]) async -> [Address] {
    for address in extensions where !isKnown(address) {
      core.handle(.asked(.process(.want(address, because: Self.assertion))))
      await awaitWidgets(of: address)
      core.handle(.asked(.process(.release(address, because: Self.assertion))))
    }
    return extensions.filter { !isKnown($0) }
  }

  /// These extensions were replaced: they may have other widgets.
  package func outdate(_ extensions: [Address]) { outdated.formUnion(extensions) }

  /// The extension has reported its widgets and they are placed, or it has ended.
  package func stopLearning(_ address: Address) {
    for continuation in learning.removeValue(forKey: address)?.values.map(\.self) ?? [] { continuation.resume() }
  }

  private func awaitWidgets(of address: Address) async {
    // In machine time, because author's code runs: the gallery must not wait for ever.
    let limit = Duration.seconds(10)
    let id = UUID()
    let timeLimit = tasks.start { [weak self] in
      guard (try? await Task.sleep(for: limit)) != nil else { return }
      await self?.stopWaiting(for: address, id)
    }
    // Without the task the service has left.
    guard let timeLimit else { return }
    await withCheckedContinuation { continuation in
      // It may have reported them since.
      if isKnown(address) { return continuation.resume() }
      learning[address, default: [:]][id] = continuation
      tasks.start { [self] in
        if await launchOutcome(address, limit) != nil { await stopLearning(address) }
      }
    }
    timeLimit.cancel()
  }

  private func stopWaiting(for address: Address, _ id: UUID) { learning[address]?.removeValue(forKey: id)?.resume() }

  /// Whether the extension has reported its widgets.
  private func isKnown(_ address: Address) -> Bool {
    stateMachine.state.declarations[address.bundleIdentifier ?? ""] != nil && !outdated.contains(address)
  }
}
