// Host and agent, broken on purpose in one way each: the proof that `widgetlab demo` can fail, and that it names the step.
// Which process it is follows from the name it is started under, what is broken from WIDGETLAB_FAULT:
//
//   misrouted   host-system    sends the events of the extension's session to the containing app
//   unlaunched  host-system    never launches an owner that is not running
//   false-pid   process-agent  reports another process id than the child's own

import Conversations
import Foundation
import HostSystem
import ProcessAgent

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
  await HostProgram.main(faults: HostSystem.Faults(deliverTo: containingApp))
case ("host-system", "unlaunched"):
  await HostProgram.main(faults: HostSystem.Faults(relaunches: false))
case ("process-agent", "false-pid"):
  await AgentCommand.main(reportedPid: { $0 + 1 })
default:
  FileHandle.standardError.write(
    Data(
      """
      \(name): no fault "\(fault)" for this name. Start it under the name host-system with WIDGETLAB_FAULT=misrouted or
      unlaunched, or under the name process-agent with WIDGETLAB_FAULT=false-pid; scripts/test-broken-builds does.

      """.utf8))
  exit(64)
}
