// SPDX-License-Identifier: Apache-2.0

import ChaosCampaign
import Cluster
import Foundation
import Messages
import Testing
import WidgetLabTesting

/// The trace of one run of a cluster, and what was promised in it.
struct PowerCampaign {
  let cluster: LabCluster
  let start: DiskModel.State
  let trace: DiskTracer.Result
  let run: PowerFailure.Run
  /// A copy of the whole folder when the trace began.
  let copy: String

  static func record(_ fixture: PowerLossFixture, isSynchronized: Bool) async throws -> PowerCampaign {
    let cluster = fixture.cluster
    let served = try await fixture.served()
    let token = try await fixture.begin()
    var pids: [String: Int32] = [:]
    for name in ["message-bus", "host", "push-server"] { pids[name] = cluster.pid(of: name) }
    let traces = cluster.folder + ".traces"
    try FileManager.default.createDirectory(atPath: traces, withIntermediateDirectories: true)
    let tracer = try await DiskTracer.begin(pids, of: cluster, output: traces)
    let pushes = try await fixture.work(token)
    let trace = try await tracer.end(of: cluster)
    await cluster.stop()
    let journal = try await fixture.journal.all()
    let names = [LiveFixture.widgetExtension.text, LiveFixture.session]
    var folder = cluster.instance.device(LiveFixture.device).transfers
    for name in names { folder += try await "/" + cluster.sha256(of: Data(name.utf8)).prefix(16) }
    let parts = folder
    let run = PowerFailure.Run(
      promises: PowerPromises(journal, pushes: pushes), journal: journal, served: served,
      isSynchronized: isSynchronized
    ) {
      "\(parts)/\($0.number).part"
    }
    return PowerCampaign(cluster: cluster, start: tracer.start, trace: trace, run: run, copy: tracer.copy)
  }

  /// Checks that the model, with everything that was written, has the files of the real disk.
  func expectModelIsExact() throws {
    var model = DiskModel(root: cluster.folder, start: start)
    for step in trace.steps { try model.take(step) }
    let owned = ["/host/", "/push-server/", "/journal/", "/device/\(LiveFixture.device)/transfers/", "/bus/numbers"]
    // It is written through a mapping, and needs to survive the process and not the machine.
    let mapped = "/host/under-way"
    func isOwned(_ path: String) -> Bool {
      path != cluster.folder + mapped && owned.contains { path.hasPrefix(cluster.folder + $0) }
    }
    #expect(Set(model.paths.filter(isOwned)) == Set(trace.end.contents.keys.filter(isOwned)))
    for (path, content) in trace.end.contents where isOwned(path) {
      #expect(
        model.content(path) == content, "\(path): \(model.content(path)?.count ?? -1) bytes, not \(content.count)")
    }
  }

  /// Removes what is left beside the folder of the cluster.
  func remove() { try? FileManager.default.removeItem(atPath: cluster.folder + ".traces") }

  // MARK: Failures

  /// The result of many failures.
  struct Found {
    var count = 0
    /// The last three failures. A failure has the size of the disk.
    var last: [PowerFailure] = []
    var losses: [String] = []
    var kinds: Set<PowerFailure.Loss.Kind> = []
  }

  /// Lets the power fail at many writes.
  ///
  /// - Parameters:
  ///   - ignoring: paths whose synchronisation has no effect.
  ///   - missing: a file that the next processes do not find.
  ///   - isEnough: ends the search.
  func fail(
    _ count: Int, seed: UInt64, ignoring: @escaping (String) -> Bool = { _ in false }, missing: String? = nil,
    until isEnough: (Found) -> Bool = { _ in false }
  ) throws -> Found {
    var generator = SplitMix64(seed: seed)
    let chosen = places(count, using: &generator)
    var model = DiskModel(root: cluster.folder, start: start, ignoring: ignoring)
    var foundFailures = Found()
    let target = cluster.folder + ".failure"
    for (index, step) in trace.steps.enumerated() {
      try model.take(step)
      for _ in 0..<(chosen[index] ?? 0) {
        let chance = [DiskChance.any, .any, .any, .nothing, .everything].randomElement(using: &generator) ?? .any
        let state = model.afterFailure(chance, using: &generator)
        // Everything that was acknowledged before the next step; after the last one the processes are not traced.
        let time = trace.steps[min(index + 1, trace.steps.count - 1)].time
        let failure = PowerFailure(state, at: time, of: cluster.folder)
        let losses = try PowerFailure.losses(failure, run, in: target, missing: missing)
        foundFailures.count += 1
        foundFailures.last = foundFailures.last.suffix(2) + [failure]
        foundFailures.losses += losses.map { "after step \(index): \($0)" }
        foundFailures.kinds.formUnion(losses.map(\.kind))
        if isEnough(foundFailures) { return foundFailures }
      }
    }
    return foundFailures
  }

  /// After which steps the power fails, and how often: half of them anywhere, half just after something was promised.
  private func places(_ count: Int, using generator: inout SplitMix64) -> [Int: Int] {
    let steps = trace.steps
    let times = run.promises.times.filter { $0 > (steps.first?.time ?? 0) && $0 < (steps.last?.time ?? 0) }
    var chosen: [Int: Int] = [:]
    for number in 0..<count {
      var place = Int.random(in: steps.indices, using: &generator)
      if number % 2 == 0, let time = times.randomElement(using: &generator) {
        place = (steps.firstIndex { $0.time > time } ?? steps.endIndex) - 1
      }
      chosen[place, default: 0] += 1
    }
    return chosen
  }

  // MARK: Controls

  /// A missing synchronisation, which must lose something.
  struct Control {
    let name: String
    let kind: PowerFailure.Loss.Kind
    let ignores: @Sendable (String) -> Bool

    /// Whether it must lose something: without `journalSync` the end of the journal may be lost anyway.
    func loses(_ isSynchronized: Bool) -> Bool { isSynchronized || kind != .journal }
  }

  static let controls = [
    Control(name: "the host's database does not wait", kind: .task) { $0.contains("/host/") },
    Control(name: "the push server's database does not wait", kind: .push) { $0.contains("/push-server/") },
    Control(name: "the file of a download is not synchronised", kind: .file) { $0.hasSuffix(".part") },
    Control(name: "the name of a download's file is not synchronised", kind: .file) {
      $0.contains("/transfers") && !$0.hasSuffix(".part")
    },
    Control(name: "the journal does not wait", kind: .journal) { $0.hasSuffix(".journal") },
  ]

  // MARK: Restarts

  /// Starts the cluster with what a power failure has left: everything that was accepted is delivered.
  func restart(_ failure: PowerFailure, number: Int) async throws {
    let folder = cluster.folder
    let aside = folder + ".whole"
    try FileManager.default.moveItem(atPath: folder, toPath: aside)
    defer { try? FileManager.default.moveItem(atPath: aside, toPath: folder) }
    try FileManager.default.copyItem(atPath: copy, toPath: folder)
    for path in start.contents.keys where failure.state.contents[path] == nil { unlink(path) }
    try failure.write(to: folder)
    // Otherwise the ready line of the first start would be read.
    unlink(folder + "/up.out")
    // The next start of the machine has another identifier.
    let boot = cluster.instance.device(LiveFixture.device).transfers + "/boot"
    try Data("a start after the power failure".utf8).write(to: URL(fileURLWithPath: boot))
    try PowerFailure.restartMachine(folder + "/bus/numbers")
    try await LabCluster.with("power \(number)", in: folder) { again in
      try await again.eventually("all laws hold, and no work is open, after restart \(number)") {
        // The held download begins again at byte 0.
        try await again.post("/figures/release", json: "{}")
        let answer = try await again.attempt(["check"])
        guard answer.status != 1 else { throw LabError("a law is broken:\n\(answer.output)") }
        // Across the lost end of the journal the laws are unknown.
        if run.isSynchronized { return answer.status == 0 }
        let acknowledged = PowerPromises(try await again.journal.all(), pushes: [:]).acknowledged
        return run.promises.tasks(at: failure.time).allSatisfy { acknowledged[$0] != nil }
      }
      let promises = PowerPromises(try await again.journal.all(), pushes: [:])
      for task in run.promises.tasks(at: failure.time) {
        #expect(promises.acknowledged[task] != nil, "\(task) was not delivered after restart \(number)")
      }
    }
  }
}

extension DiskModel {
  mutating func take(_ step: DiskTrace.Step) throws {
    if let change = step.change { try begin(step.call, change) } else { end(step.call) }
  }
}
