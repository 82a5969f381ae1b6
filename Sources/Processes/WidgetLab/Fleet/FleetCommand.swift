// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ChaosCampaign
import Cluster
import Foundation
import JournalAnalysis
import MessageBus
import Messages

/// `widgetlab fleet`.
struct FleetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fleet",
    abstract: "Runs many light devices for the load test of a push backend, and reports the result of each push.",
    discussion: """
      A light device is a row and not a process: it has device tokens of all push types, goes offline and returns, rotates \
      its tokens, and removes the app, by a seed and a profile. Documentation/fleet.md has the profile and its default day.

      EXAMPLES
        widgetlab fleet up --devices 100000 --profile day.yaml
        widgetlab fleet status --follow         a line for each second
        widgetlab fleet devices --limit 5       tokens, for a first push
        widgetlab fleet network off             nothing is delivered …
        widgetlab fleet network on              … until all devices return at once
        widgetlab fleet report fleet.html       and fleet.json, fleet.md
      """,
    subcommands: [
      FleetUpCommand.self, FleetStatusCommand.self, FleetDevicesCommand.self, FleetNetworkCommand.self,
      FleetReportCommand.self,
    ])
}

/// Which fleet of an instance a command is about.
struct FleetOptions: ParsableArguments {
  @OptionGroup var options: InstanceOptions

  @Option(help: "The fleet (default: the only one of the instance).")
  var name: String?

  /// Connects to the instance, and runs the work with the name of the fleet.
  func with<T>(_ work: (OperatorSession, String) async throws -> T) async throws -> T {
    try await OperatorSession.with(options) { session in try await work(session, try fleet(session.cluster)) }
  }

  private func fleet(_ cluster: ClusterFacts) throws -> String {
    let names = try FleetAnnouncement.all(in: cluster.instance).map(\.name)
    if let name {
      guard names.contains(name) else {
        throw CommandError(
          Exit.no, "this instance has no fleet named '\(name)'", at: cluster.folder,
          advice: names.isEmpty ? "start one with `widgetlab fleet up`" : "use one of: \(names.joined(separator: ", "))"
        )
      }
      return name
    }
    guard let only = names.first else {
      throw CommandError(
        Exit.no, "this instance has no fleet", at: cluster.folder, advice: "start one with `widgetlab fleet up`")
    }
    guard names.count == 1 else {
      throw CommandError(
        Exit.usage, "this instance has \(names.count) fleets", at: cluster.folder,
        advice: "use --name with one of: \(names.joined(separator: ", "))")
    }
    return only
  }
}

extension OperatorSession {
  /// Asks a fleet. Waits while it is being restarted.
  func ask<R: Request>(_ request: R, ofFleet name: String, within limit: Duration = .seconds(10)) async throws
    -> R.Reply
  {
    try await connection.request(request, to: .fleet(name), within: limit, whenUnreachable: .wait)
  }
}

/// `widgetlab fleet status`.
struct FleetStatusCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Shows a fleet: devices, tokens, registration, deliveries with percentiles, reasons.")

  @OptionGroup var fleet: FleetOptions

  @Flag(help: "Then print a line for each second, until Ctrl-C.")
  var follow = false

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() async throws {
    try await reporting {
      try await fleet.with { session, name in
        let state = try await session.ask(FleetStatus(), ofFleet: name)
        if json { return Output.json(data: try BodyCoding.data(state)) }
        for line in FleetText.lines(state) { Output.print(line) }
        guard follow else { return }
        var last = state.seconds.last?.at ?? 0
        while true {
          try await Task.sleep(for: .seconds(1))
          let state = try await session.ask(FleetStatus(), ofFleet: name)
          // The present second has not passed.
          for second in state.seconds.dropLast() where second.at >= last { Output.print(FleetText.line(second)) }
          last = state.seconds.last?.at ?? last
        }
      }
    }
  }
}

/// `widgetlab fleet devices`.
struct FleetDevicesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "devices", abstract: "Lists devices of a fleet with their state and their tokens.")

  @OptionGroup var fleet: FleetOptions

  @Option(help: "The number of the first device.")
  var first: UInt32 = 0

  @Option(help: "How many devices; 0 for all.")
  var limit = 20

  @Flag(help: "Print a JSON object for each device, one on a line.")
  var json = false

  func run() async throws {
    try await reporting {
      try await fleet.with { session, name in
        var next: UInt32? = first
        var left = limit == 0 ? Int.max : limit
        while let first = next, left > 0 {
          let page = try await session.ask(ListFleetDevices(first: first, limit: min(left, 200)), ofFleet: name)
          for device in page.devices {
            if json {
              Output.json(data: try BodyCoding.data(device))
            } else {
              for line in device.lines { Output.print(line) }
            }
          }
          left -= page.devices.count
          next = page.next
        }
      }
    }
  }
}

extension ListFleetDevices.Device {
  fileprivate var lines: [String] {
    let states = [
      isInstalled ? nil : "without the app", isOnline ? "online" : "offline", isAwake ? "awake" : "asleep",
      "\(received) received",
      activities.isEmpty ? nil : "Live Activities \(activities.map(String.init).joined(separator: ", "))",
    ]
    return ["\(id): \(states.compactMap(\.self).joined(separator: ", "))"]
      + tokens.map { "  \($0.use.rawValue) of \($0.bundle)\($0.isRegistered ? "" : ", not registered"): \($0.token)" }
  }
}

/// `widgetlab fleet network`.
struct FleetNetworkCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "network",
    abstract: "Takes the network from all devices of a fleet, or lets all return at once.",
    discussion: "The devices' days go on: those that are offline by their day stay offline.")

  @OptionGroup var fleet: FleetOptions

  enum State: String, ExpressibleByArgument, CaseIterable { case on, off }

  @Argument(help: "on or off.")
  var state: State

  func run() async throws {
    try await reporting {
      try await fleet.with { session, name in
        _ = try await session.ask(SetFleetNetwork(isOn: state == .on), ofFleet: name)
        Output.print("\(name): the network is \(state.rawValue)")
      }
    }
  }
}

/// `widgetlab fleet report`.
struct FleetReportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "report",
    abstract: "Reports the result of each push to a fleet, and whether each 200 has an end.",
    discussion: """
      Exit code 0: all laws hold. 1: one is broken. 2: one cannot be judged yet, such as while pushes are stored for \
      devices that are offline.
      """)

  @OptionGroup var fleet: FleetOptions

  @Argument(
    help: "Files for the report: .json, .md or .html (a page with plots). Without a file: lines on the terminal.")
  var files: [ReportFile] = []

  @Flag(help: "Print the report as one JSON object.")
  var json = false

  @Option(help: ArgumentHelp("Wait so long until each 200 has an end, such as 30s.", valueName: "duration"))
  var wait: SecondsArgument?

  func run() async throws {
    try await reporting {
      let report = try await fleet.with { session, name in
        let deadline = ContinuousClock.now + .seconds(wait?.seconds ?? 0)
        while true {
          let report = try await FleetReport.read(session, name)
          guard report.answer == .unknown, ContinuousClock.now < deadline else { return report }
          try await Task.sleep(for: .milliseconds(200))
        }
      }
      for file in files { try file.write(report) }
      if json {
        try Output.json(report)
      } else if files.isEmpty {
        for line in report.lines { Output.print(line) }
      } else {
        for verdict in report.verdicts { Output.print("\(verdict.answer.rawValue): \(verdict.law): \(verdict.text)") }
      }
      switch report.answer {
      case .holds: break
      case .broken: throw Exit.no
      case .unknown: throw Exit.unknown
      }
    }
  }
}

/// A duration such as `30s`.
struct SecondsArgument: ExpressibleByArgument, Sendable {
  let seconds: Double
  init?(argument: String) {
    guard let seconds = Amount.seconds(argument) ?? Double(argument), seconds >= 0 else { return nil }
    self.seconds = seconds
  }
}

extension FleetReport {
  /// Asks the push server and then the fleet, so that the fleet has at least what the push server has.
  static func read(_ session: OperatorSession, _ name: String) async throws -> FleetReport {
    let before = try await session.ask(FleetStatus(), ofFleet: name)
    let counts = try await session.askPushServer(CountFleetPushes(fleet: name), within: .seconds(60))
    let state = try await session.ask(FleetStatus(), ofFleet: name)
    return FleetReport(
      version: WidgetLabTool.version, command: CommandLine.arguments.map(\.self).joined(separator: " "),
      date: Date().formatted(.iso8601), machine: .current, memory: ProcessFacts.anonymousMemory(of: state.pid),
      before: before, counts: counts, fleet: state)
  }
}

extension ProcessFacts {
  /// `RssAnon` of a process in MiB; `nil` when it cannot be read.
  static func anonymousMemory(of pid: Int32) -> Double? {
    guard let status = try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8) else { return nil }
    let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
    return line?.split(separator: " ").dropFirst().first.flatMap { Double($0) }.map { $0 / 1_024 }
  }
}
