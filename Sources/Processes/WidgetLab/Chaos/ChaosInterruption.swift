// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// What Ctrl-C does to a campaign: the first one ends the faults, the second one everything.
actor ChaosInterruption {
  private var home: ChaosHome?
  private var run: ChaosRun?
  /// Whether no further campaign is begun.
  private(set) var isSet = false

  /// A campaign has created its folder.
  func began(_ home: ChaosHome) {
    self.home = home
    run = nil
  }

  /// A campaign performs its steps.
  func runs(_ run: ChaosRun) { self.run = run }

  /// Waits for signals until its task is cancelled.
  func watch(_ signals: Signals) async {
    await signals.next()
    guard !Task.isCancelled else { return }
    isSet = true
    if let run {
      Output.printError("widgetlab: the faults end, and the report follows; press Ctrl-C again to end at once")
      await run.interrupt()
      await signals.next()
      guard !Task.isCancelled else { return }
    }
    // The kernel kills the processes of the cluster with this process.
    if let home, home.isTemporary { home.remove() }
    ChaosCommand.exit(withError: Exit.interrupted)
  }
}
