// SPDX-License-Identifier: Apache-2.0

// The standing processes, each with one deliberate mistake. They prove that `widgetlab demo` can fail and names the
// failing step, and that a campaign finds each mistake by a law or a check.
// The executable's name selects the process, WIDGETLAB_FAULT the mistake (`PlantedFault`). `Faults --list` prints all,
// one in a line with tabs: name, executable, law, sentence.

@_spi(BrokenBuilds) import FaultPoints
import Foundation
import HostSystem
import MessageBusBroker
import Messages
import ProcessAgent
import PushServer
import StandingProcesses

/// The app that contains the extension at `address`: its bundle identifier without the last component.
@Sendable func containingApp(of address: Address) -> Address {
  guard address.role == .widgetExtension, let device = address.device, let bundle = address.bundleIdentifier,
    let lastDot = bundle.lastIndex(of: ".")
  else { return address }
  return .app(device, String(bundle[..<lastDot]))
}

func refuse(_ text: String) -> Never {
  FileHandle.standardError.write(Data("\(text)\n".utf8))
  exit(64)
}

let name = CommandLine.arguments.first.map { URL(fileURLWithPath: $0).lastPathComponent } ?? ""
if CommandLine.arguments.dropFirst() == ["--list"] {
  for fault in PlantedFault.allCases {
    print(fault.name, fault.executable, fault.law ?? "-", fault.summary, separator: "\t")
  }
  exit(0)
}

let wanted = ProcessInfo.processInfo.environment["WIDGETLAB_FAULT"] ?? ""
guard let fault = PlantedFault(name: wanted) else {
  refuse("\(name): unknown fault \"\(wanted)\" in WIDGETLAB_FAULT; `Faults --list` prints all")
}
guard fault.executable == name else {
  refuse("\(name): the fault \(wanted) is one of \(fault.executable); run this executable under that name")
}
fault.plant()

switch fault {
case .misrouted:
  await HostCommand.start { try await $0.serve($1, faults: InjectedFaults(deliverTo: containingApp)) }
case .unlaunched:
  await HostCommand.start { try await $0.serve($1, faults: InjectedFaults(relaunches: false)) }
case .falsePid:
  await AgentCommand.start { command, logger in try await command.serve(logger, reportedPid: { $0 + 1 }) }
default:
  switch name {
  case "message-bus": await MessageBusCommand.start()
  case "host-system": await HostCommand.start()
  case "process-agent": await AgentCommand.start()
  default: await PushServerCommand.start()
  }
}
