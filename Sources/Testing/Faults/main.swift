// SPDX-License-Identifier: Apache-2.0

// The standing processes, each with one deliberate mistake. They prove that `widgetlab demo` can fail and names the
// failing step, and that a campaign finds each mistake by a law or a check.
// The executable's name selects the process, WIDGETLAB_FAULT the mistake (`PlantedFault`). `Faults --list` prints all,
// one in a line with tabs: name, executable, law, sentence.

import BusTesting
import Device
import DeviceRules
import Foundation
import HostSystem
import MessageBusBroker
import ProcessAgent
import PushServer
import StandingProcesses
import Timekeeping

func refuse(_ text: String) -> Never {
  FileHandle.standardError.write(Data("\(text)\n".utf8))
  exit(64)
}

/// Runs the process of a fault with the part that makes the mistake.
func run(_ fault: PlantedFault) async {
  // A task of it ends with the process.
  let tasks = TaskOwner()
  switch fault.executable {
  case "message-bus":
    await MessageBusCommand.start { command, logger in
      try await command.serve(logger) { settings in
        try Broker(
          settings, prepare: { FaultyBroker.plant(fault, in: $0) },
          receiver: { FaultyBroker.receiver(of: $0, fault) })
      }
    }
  case "host-system":
    await HostCommand.start { command, logger in
      var parts = HostParts()
      parts.bus = { FaultyConnection($0, fault) }
      parts.database = { try FaultyDatabase.plant(fault, in: $0, tasks) }
      parts.launchesForEvents = fault != .unlaunched
      if fault == .overdrawn {
        parts.reloads = { settings, policy in
          settings.developerMode = false
          policy.credit = .infinity
          policy.minimumSpacing = 0
          policy.freeCauses = []
          policy.isFreeInForeground = false
          policy.isFreeAtWork = false
        }
      }
      try await command.serve(logger, parts: parts)
    }
  case "process-agent":
    await AgentCommand.start { command, logger in
      try await command.serve(
        logger, bus: { FaultyConnection($0, fault) }, reportedPid: { fault == .falsePid ? $0 + 1 : $0 })
    }
  default:
    await PushServerCommand.start { command, logger in
      var parts = PushServerParts()
      parts.bus = { FaultyConnection($0, fault) }
      parts.database = { try FaultyDatabase.plant(fault, in: $0, tasks) }
      try await command.serve(logger, parts: parts)
    }
  }
}

let name = CommandLine.arguments.first.map { URL(fileURLWithPath: $0).lastPathComponent } ?? ""
if CommandLine.arguments.dropFirst() == ["--list"] {
  for fault in PlantedFault.allCases {
    print(fault.name, fault.executable, fault.law ?? "-", fault.summary, separator: "\t")
  }
  exit(0)
}

let wanted = ProcessInfo.processInfo.environment["WIDGETLAB_FAULT"] ?? ""
guard let fault = PlantedFault(rawValue: wanted) else {
  refuse("\(name): unknown fault \"\(wanted)\" in WIDGETLAB_FAULT; `Faults --list` prints all")
}
guard fault.executable == name else {
  refuse("\(name): the fault \(wanted) is one of \(fault.executable); run this executable under that name")
}
await run(fault)
