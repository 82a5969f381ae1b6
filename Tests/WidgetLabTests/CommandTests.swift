// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Cluster
import Foundation
import JournalAnalysis
import Messages
import Testing

@testable import WidgetLab

@Suite struct `The commands` {
  private let yaml = """
    device:
      name: iphone
    apps:
      - bundle: com.example.A
        executable: a
    extensions:
      - bundle: com.example.A.One
        executable: one
      - bundle: com.example.A.Two
        executable: two
        agent: 2
    provider:
      executable: provider-server
    """

  private func cluster() throws -> ClusterFacts {
    let folder = FileManager.default.temporaryDirectory.appending(path: "widgetlab-commands-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "widgetlab.yaml")
    try yaml.write(to: file, atomically: true, encoding: .utf8)
    return try ClusterFacts(folder: folder.path, configurationPath: file.path)
  }

  @Test(arguments: [
    ("host", "device/iphone/host"), ("bus", "message-bus"), ("message-bus", "message-bus"), ("provider", "provider"),
    ("agent/2", "device/iphone/agent/2"), ("app", "device/iphone/app/com.example.A"),
    ("com.example.A.Two", "device/iphone/extension/com.example.A.Two"),
    ("extension/com.example.A.One", "device/iphone/extension/com.example.A.One"),
    ("device/other/host", "device/other/host"),
  ])
  func `a short process name resolves to its address`(name: String, address: String) throws {
    #expect(try cluster().address(name).text == address)
  }

  @Test(arguments: ["extension", "agent", "absent"])
  func `an ambiguous or unknown process name is refused with the names that exist`(name: String) throws {
    let cluster = try cluster()
    let commandError = #expect(throws: CommandError.self) { try cluster.address(name) }
    #expect(commandError?.exit == Exit.usage)
    #expect(commandError?.advice?.isEmpty == false)
  }

  @Test func `a misspelled process name is answered with the one that was probably meant`() throws {
    let cluster = try cluster()
    let error = #expect(throws: CommandError.self) { try cluster.address("hostt") }
    #expect(error?.advice?.hasPrefix("did you mean host? Use one of: message-bus, ") == true)
  }

  @Test func `an app that the cluster does not have is refused with those that it has`() throws {
    let cluster = try cluster()
    #expect(try cluster.bundle(ofKnownApp: nil) == "com.example.A")
    let error = #expect(throws: CommandError.self) { try cluster.bundle(ofKnownApp: "com.example.B") }
    #expect(error?.advice == "did you mean com.example.A? Use one of: com.example.A")
  }

  @Test(arguments: [
    ("staus", "ps"), ("start", "up"), ("stop", "down"), ("status", "ps"), ("logs", "tail"), ("version", "--version"),
    ("Tail", "tail"), ("relaod", "reload"), ("help snapshto", "snapshot"), ("zzzzzz", nil),
  ])
  func `an unknown command is answered with the one that was probably meant`(line: String, meant: String?) throws {
    let error = try #require(WidgetLabTool.unknown(line.split(separator: " ").map(String.init)))
    #expect(error.exit == Exit.usage)
    #expect(error.advice == meant.map { "did you mean `widgetlab \($0)`?" } ?? "`widgetlab --help` lists the commands")
  }

  @Test(arguments: ["", "--help", "help", "help up", "up --json", "push log", "--version"])
  func `a known command is left to the parser`(line: String) {
    #expect(WidgetLabTool.unknown(line.split(separator: " ").map(String.init)) == nil)
  }

  @Test func `standing processes start in order and have the names of their keys`() throws {
    let names = try cluster().standing.map(ClusterFacts.standingName)
    #expect(names == ["message-bus", "agent-1", "agent-2", "host", "provider"])
  }

  @Test(arguments: [("KILL", 9), ("sigterm", 15), ("9", 9), ("STOP", 19), ("USR1", 10)])
  func `a signal is a name or a number`(text: String, number: Int32) {
    #expect(ProcessFacts.signal(named: text) == number)
  }

  @Test func `an invalid signal is rejected`() {
    #expect(ProcessFacts.signal(named: "0") == nil)
    #expect(ProcessFacts.signal(named: "65") == nil)
    #expect(ProcessFacts.signal(named: "NONSENSE") == nil)
  }

  @Test func `an instance is a name next to the configuration, or a path`() throws {
    let named = try InstanceOptions.parse(["--instance", "second", "--config", "/somewhere/widgetlab.yaml"])
    #expect(try named.folder() == "/somewhere/.widgetlab/second")
    let path = try InstanceOptions.parse(["--instance", "/elsewhere/i/"])
    #expect(try path.folder() == "/elsewhere/i")
  }

  @Test func `a process that exits early restarts after growing pauses, and one that ran long restarts at once`() {
    var backOff = RestartDelay()
    let pauses = (0..<7).map { _ in backOff.pause(afterRunOf: .milliseconds(100)) }
    #expect(pauses.map { Int($0 / .milliseconds(1)) } == [200, 400, 800, 1600, 3200, 5000, 5000])
    #expect(backOff.pause(afterRunOf: .seconds(3)) == .zero)
    #expect(backOff.pause(afterRunOf: .milliseconds(100)) == .milliseconds(200))
  }

  @Test func `an instance has one lock holder, and a second one gets the holder's pid`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "widgetlab-lock-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    #expect(InstanceLock.holder(in: folder) == nil)
    let lock = try InstanceLock(instance: folder)
    #expect(InstanceLock.holder(in: folder) == getpid())
    let commandError = #expect(throws: CommandError.self) { try InstanceLock(instance: folder) }
    #expect(commandError?.exit == Exit.held)
    #expect(commandError?.what.contains("\(getpid())") == true)
    lock.release()
    #expect(InstanceLock.holder(in: folder) == nil)
  }

  @Test func `the protocol page lists every message type with its style, summary and failure`() {
    let page = ProtocolPage.text
    for entry in MessageTable.all {
      #expect(page.contains("`\(entry.kind.name)` | \(entry.style.rawValue)"))
      #expect(page.contains(entry.summary))
      #expect(page.contains(entry.failure))
    }
    #expect(page.hasSuffix("\n") && !page.hasSuffix("\n\n"))
  }

  @Test func `every command is in exactly one group, and --version has a version`() {
    let names = WidgetLabTool.configuration.subcommands.map { $0._commandName }
    #expect(Set(names).count == names.count && names.count == 52)
    #expect(WidgetLabTool.configuration.ungroupedSubcommands.isEmpty)
    #expect(WidgetLabTool.configuration.version.contains("."))
  }

  @Test func `the help text fits a terminal of 80 columns`() {
    for command in [WidgetLabTool.configuration] + WidgetLabTool.configuration.subcommands.map({ $0.configuration }) {
      for line in command.discussion.split(separator: "\n") where line.hasPrefix("  ") {
        #expect(line.count <= 80, "\(line)")
      }
    }
  }

  @Test(arguments: [KillCommand.self, SuspendCommand.self, ResumeCommand.self] as [any ParsableCommand.Type])
  func `the help of kill, suspend and resume names every process`(command: any ParsableCommand.Type) {
    let help = WidgetLabTool.helpMessage(for: command)
    for name in ["extension", "app", "host", "bus", "agent", "push-server", "provider"] {
      #expect(help.contains("\(name),"), "\(name)")
    }
  }

  @Test func `the demo's built-in configuration is valid`() throws {
    let configuration = try ClusterConfiguration(yaml: DemoHome.configuration)
    #expect(configuration.provider != nil)
    #expect(configuration.apps.count == 1 && configuration.extensions.count == 1)
  }
}
