// SPDX-License-Identifier: Apache-2.0

import ChaosCampaign
import FaultPoints
import Glibc
import Messages

/// Arms the faults of a campaign at fault points.
struct ChaosPoints {
  let page: FaultPointPage
  let cluster: ClusterFacts

  /// Arms a fault inside a process.
  ///
  /// - Returns: `nil` when it is of another kind, names nothing that this version has, or too many are armed.
  func arm(_ fault: ChaosFault) -> FaultPointPage.Fault? {
    switch fault {
    case .kill, .stop, .journal, .network, .clock, .recreate, .server, .full, .tail, .store, .limit, .jump: nil
    case .point(let victim, let point, let skipping): arm(.crash, victim, point, skipping: skipping)
    case .stall(let victim, let point, let milliseconds): arm(.stall(milliseconds: milliseconds), victim, point)
    case .disk(let victim, let point, let error, let skipping):
      arm(.fail(errno: error == .full ? ENOSPC : EIO), victim, point, skipping: skipping)
    case .spawn(let times): page.arm(.fail(errno: EAGAIN), at: .agentBeforeSpawn, times: times)
    case .line(let fault, let type, let skipping, let milliseconds):
      page.arm(Self.action(fault, milliseconds), type: type, skipping: skipping)
    }
  }

  private func arm(
    _ action: FaultPointPage.Action, _ victim: ChaosVictim, _ point: String, skipping: Int = 0
  ) -> FaultPointPage.Fault? {
    guard let point = FaultPoint(name: point), let address = cluster.address(of: victim) else { return nil }
    return page.arm(action, at: point, of: address, skipping: skipping)
  }

  private static func action(_ fault: LineFault, _ milliseconds: Int) -> FaultPointPage.LineAction {
    switch fault {
    case .delay: .delay(milliseconds: milliseconds)
    case .cut: .cut
    case .double: .double
    }
  }
}
