// SPDX-License-Identifier: Apache-2.0

// Host and agent with one deliberate fault each. They prove that `widgetlab demo` can fail, and that it names the
// failing step.
// The executable's name selects the process, WIDGETLAB_FAULT the fault:
//
//   misrouted   host-system    sends the events of the extension's session to the containing app
//   unlaunched  host-system    never launches an owner that is not running
//   false-pid   process-agent  reports a process id other than the child's

import Foundation
import HostSystem
import Messages
import ProcessAgent
import StandingProcesses

let name = CommandLine.arguments.first.map { URL(fileURLWithPath: $0).lastPathComponent } ?? ""
let fault = ProcessInfo.processInfo.environment["WIDGETLAB_FAULT"] ?? ""

/// The app that contains the extension at `address`: its bundle identifier without the last component.
@Sendable func containingApp(of address: Address) -> Address {
  guard address.role == .widgetExtension, let device = address.device, let bundle = address.bundleIdentifier,
    let lastDot = bundle.lastIndex(of: ".")
  else { return address }
  return .app(device, String(bundle[..<lastDot]))
}

switch (name, fault) {
case ("host-system", "misrouted"):
  await HostCommand.start {
    try await $0.serve($1, faults: HostSystem.InjectedFaults(deliverTo: containingApp))
  }
case ("host-system", "unlaunched"):
  await HostCommand.start { try await $0.serve($1, faults: HostSystem.InjectedFaults(relaunches: false)) }
case ("process-agent", "false-pid"):
  await AgentCommand.start { command, logger in
    try await command.serve(logger, reportedPid: { $0 + 1 })
  }
default:
  FileHandle.standardError.write(
    Data(
      """
      \(name): unknown fault "\(fault)". Run it as host-system with WIDGETLAB_FAULT=misrouted or
      WIDGETLAB_FAULT=unlaunched, or as process-agent with WIDGETLAB_FAULT=false-pid; see scripts/test-broken-builds.

      """.utf8))
  exit(64)
}
