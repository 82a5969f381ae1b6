// SPDX-License-Identifier: Apache-2.0

import Cluster
import FidelityRules
import Foundation
import Messages
import Testing
import WidgetLabTesting

/// The story of the demo in a cluster with two features: a reload, a download, a kill of the extension, its relaunch,
/// the delivery and the acknowledgement; then a push. The tool and an independent script judge it.
struct PairStory {
  static let size = 196_608
  static let path = "/figures?size=\(size)&seed=trial&holdAt=\(size / 3)"

  let pair: FeaturePair
  let fixture: LiveFixture
  var cluster: LabCluster { fixture.cluster }
  var journal: LabJournal { fixture.journal }

  init(_ pair: FeaturePair, _ cluster: LabCluster) {
    self.pair = pair
    fixture = LiveFixture(cluster, path: Self.path)
  }

  /// Runs the story in its own cluster.
  ///
  /// - Parameter database: the URI of a separate database.
  static func run(_ pair: FeaturePair, database: String?) async throws {
    let configuration = pair.configuration(path: path, database: database)
    guard pair.features.contains(where: \.hasSpaces) else {
      return try await LabCluster.with("pair", configuration: configuration) { try await PairStory(pair, $0).run() }
    }
    let folder = FileManager.default.temporaryDirectory.appending(path: "the pair \(UUID().uuidString.prefix(8))").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try configuration.write(toFile: folder + "/widgetlab.yaml", atomically: true, encoding: .utf8)
    try await LabCluster.with("pair", in: folder) { try await PairStory(pair, $0).run() }
  }

  private func run() async throws {
    let beside = try await begin()
    do {
      try await download()
      try await push()
      for feature in pair.features.reversed() { try await perform(feature.last) }
      try await judge()
    } catch {
      _ = try? await end(beside)
      throw error
    }
    try await end(beside)
  }

  // MARK: Commands beside the story

  /// Starts the commands that run beside the story; returns when each has printed a line.
  private func begin() async throws -> [LabChild] {
    var children: [LabChild] = []
    for command in pair.features.flatMap(\.beside) {
      let output = "\(cluster.folder)/beside-\(children.count).out"
      children.append(
        try await LabChild.start(
          cluster.executables + "/widgetlab",
          command.split(separator: " ").map(String.init) + ["--instance", cluster.folder], output: output,
          errors: "\(cluster.folder)/beside-\(children.count).err"))
      try await cluster.eventually("widgetlab \(command) prints a line") {
        (try? String(contentsOfFile: output, encoding: .utf8))?.contains("\n") == true
      }
    }
    return children
  }

  /// Interrupts them, as Ctrl-C does.
  private func end(_ children: [LabChild]) async throws {
    for (index, child) in children.enumerated() {
      child.signal(SIGINT)
      let status = await child.ending()
      guard [0, 130].contains(status) else {
        let errors = try? String(contentsOfFile: "\(cluster.folder)/beside-\(index).err", encoding: .utf8)
        throw LabError("a command beside the story exited with \(status): \(errors ?? "")")
      }
    }
  }

  // MARK: Commands

  private func perform(_ commands: [String]) async throws {
    for command in commands {
      var words = command.split(separator: " ").map(String.init)
      words = words.map { several[$0] ?? $0 }
      let before = words[0] == "kill" ? standing(words[1]).flatMap(cluster.pid) : nil
      let answer = try await cluster.attempt(words)
      guard answer.status == 0 else {
        throw LabError("widgetlab \(command) exited with \(answer.status):\n\(answer.output)\(answer.errors)")
      }
      guard let before, let name = standing(words[1]) else { continue }
      try await cluster.eventually("\(name) is replaced") {
        let pid = cluster.pid(of: name)
        return pid != nil && pid != before
      }
      try await ready(words[1])
    }
  }

  private func ready(_ process: String) async throws {
    let address = ["bus": "message-bus", "agent": Self.firstAgent][process] ?? process
    try await cluster.eventually("\(address) is ready") { try await cluster.attempt(["ping", address]).status == 0 }
  }

  /// The name of a standing process in the list of `up`; `nil` for an app or an extension.
  private func standing(_ process: String) -> String? {
    let names = ["bus": "message-bus", "agent": "agent-1", Self.firstAgent: "agent-1", Self.replica: "push-server-1"]
    return names[process] ?? (["host", "push-server"].contains(process) ? process : nil)
  }

  private static let replica = "push-server/1"
  private static let firstAgent = "agent/1"

  /// The process that a command means, if the cluster has several of its kind.
  private var several: [String: String] {
    var names: [String: String] = [:]
    for feature in pair.features {
      if feature.keys["pushServer.replicas"] != nil { names["push-server"] = Self.replica }
      if feature.keys["extension.agent"] != nil { names["agent"] = Self.firstAgent }
    }
    return names
  }

  // MARK: The story

  /// A background download whose owner is killed: it is relaunched, receives the events and acknowledges them.
  private func download() async throws {
    try await cluster.run("app", "open")
    for feature in pair.features { try await perform(feature.before) }
    try await cluster.run("reload", LiveFixture.kind)
    try await fixture.progress(of: LiveFixture.widgetExtension, .started)
    try await fixture.whileHeld {
      for feature in pair.features { try await perform(feature.during) }
      try await killExtension()
      for feature in pair.features.reversed() { try await perform(feature.after) }
    }
    _ = try await fixture.acknowledged(by: LiveFixture.widgetExtension)
    let entries = try await journal.all()
    let acknowledgements = entries.filter {
      $0.kind == "session.events/ack" && $0.envelope.header.source == LiveFixture.widgetExtension
    }
    guard let last = acknowledgements.last, last.sourceGeneration > 1 else {
      throw LabError("the events were not acknowledged by a later process instance: \(acknowledgements)")
    }
    let moved = try Data(contentsOf: URL(fileURLWithPath: fixture.groupFolder + "/trial-result"))
    let served = try await cluster.fetch("/figures?size=\(Self.size)&seed=trial")
    guard moved == served else { throw LabError("the extension has \(moved.count) bytes, not the \(served.count)") }
  }

  /// Kills the extension, unless a feature has ended it.
  private func killExtension() async throws {
    // Agent or host may connect again at this moment.
    try await cluster.eventually("the extension has ended") {
      if try await cluster.attempt(["kill", "com.example.Trial.Widget"]).status == 0 { return true }
      let started = try await journal.all().compactMap { $0.reading(ProcessStarted.self) }
      let last = started.last { $0.address == LiveFixture.widgetExtension }
      return last.map { !LabProcess(pid: $0.pid).isAlive } ?? false
    }
  }

  /// A push to the app, which is delivered.
  private func push() async throws {
    let last = try await journal.all().last?.sequence ?? 0
    // Until the app has its token, and the push server is connected.
    try await cluster.eventually("a push is accepted") {
      try await cluster.attempt(["push", "com.example.Trial", "--type", "alert"]).status == 0
    }
    let accepted = try await journal.waitFor("a push is accepted", after: last) {
      $0.reading(PushLogged.self)?.step.name == .accepted
    }
    let id = accepted.reading(PushLogged.self)?.uniqueID
    try await journal.waitFor("the push \(id?.uuidString ?? "") is delivered", after: last) {
      $0.reading(PushLogged.self)?.uniqueID == id && $0.reading(PushLogged.self)?.step.name == .delivered
    }
  }

  // MARK: The verdict

  private func judge() async throws {
    var check: LabCluster.Answer?
    // The laws are unknown while work is in progress.
    try await cluster.eventually("no law is unknown") {
      check = try await cluster.attempt(["check"])
      return check?.status != 2
    }
    guard check?.status == 0 else { throw LabError("widgetlab check:\n\(check?.output ?? "")") }
    let diagnoses = try await cluster.attempt(["diagnose"])
    guard diagnoses.status == 0 else { throw LabError("widgetlab diagnose:\n\(diagnoses.output)\(diagnoses.errors)") }
    try await judgeIndependently()
  }

  /// `scripts/judge` reads the journal and the databases without the code of WidgetLab.
  private func judgeIndependently() async throws {
    let script = Repository.root.appending(path: "scripts/judge").path
    let output = cluster.folder + "/judge.out"
    let child = try await LabChild.start(script, [cluster.folder], output: output, errors: output + ".err")
    let status = await child.ending()
    guard status == 0 else {
      let text = [output, output + ".err"].compactMap { try? String(contentsOfFile: $0, encoding: .utf8) }
      throw LabError("scripts/judge exited with \(status):\n\(text.joined())")
    }
  }
}
