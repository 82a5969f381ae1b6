// SPDX-License-Identifier: Apache-2.0

import Cluster
import Foundation
import Messages
import WidgetLabTesting

/// A cluster of an app and an extension that follow scripts.
struct ScriptFixture: Sendable {
  enum Form: String, CaseIterable {
    case app, widget

    var address: Address { self == .app ? LiveFixture.app : LiveFixture.widgetExtension }
  }

  let cluster: LabCluster
  var journal: LabJournal { cluster.journal }

  /// - Parameters:
  ///   - list: the keys of the app's own `Info.plist`; `nil`: it has none.
  ///   - app: further keys of the app in `widgetlab.yaml`, between commas.
  ///   - widget: those of the extension.
  ///   - device: those of the device.
  static func run(
    _ name: String, list: [String: Any]? = nil, app: String = "", widget: String = "", device: String = "",
    _ body: @Sendable (ScriptFixture) async throws -> Void
  ) async throws {
    let path = FileManager.default.temporaryDirectory.path + "/info-\(UUID().uuidString).plist"
    var appKeys = [app]
    if let list {
      let data = try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
      try data.write(to: URL(fileURLWithPath: path))
      appKeys.append("infoPlist: \(path)")
    }
    defer { unlink(path) }
    func product(_ bundle: String, form: Form, keys: [String]) -> String {
      let environment = "TRIAL_FIXTURE: script, TRIAL_FORM: \(form.rawValue), TRIAL_GROUP: \(LiveFixture.group)"
      let ownKeys = ["bundle: \(bundle)", "executable: FixtureHandlers", "environment: {\(environment)}"]
      let all = ownKeys + keys.filter { !$0.isEmpty }
      return "[{\(all.joined(separator: ", "))}]"
    }
    let configuration = """
      device: {\((["name: \(LiveFixture.device)"] + [device].filter { !$0.isEmpty }).joined(separator: ", "))}
      appGroups: [\(LiveFixture.group)]
      apps: \(product("com.example.Trial", form: .app, keys: appKeys))
      extensions: \(product("com.example.Trial.Widget", form: .widget, keys: [widget]))
      settings:
        developerMode: true
        suspendAfter: 0.5
        callDeadline: 60
      """
    for _ in 1...LiveTrait.rounds {
      try await LabCluster.with(name, configuration: configuration) { try await body(ScriptFixture(cluster: $0)) }
    }
  }

  var groupFolder: String { cluster.instance.device(LiveFixture.device).group(LiveFixture.group) }

  /// Sets what a process does when the app becomes active, or when the extension is asked for a timeline.
  func script(_ form: Form, _ lines: [String]) throws {
    let file = URL(fileURLWithPath: "\(groupFolder)/script-\(form.rawValue)")
    try Data(lines.joined(separator: "\n").utf8).write(to: file)
  }

  @discardableResult
  func prints(_ line: String) async throws -> LabEnvelope {
    try await journal.waitFor("a process prints: \(line)") { $0.reading(ProcessOutput.self)?.line == line }
  }

  /// What a process has printed.
  func lines(of address: Address) async throws -> [String] {
    try await journal.all().compactMap { $0.reading(ProcessOutput.self) }.filter { $0.address == address }.map(\.line)
  }

  func shows(_ text: String) async throws {
    try await journal.waitFor("the widget shows \(text)") { $0.reading(EntryShown.self)?.text == [text] }
  }

  /// Runs the script in both processes, or in one, and returns what they printed.
  func both(_ script: [String], only form: Form? = nil) async throws -> (app: [String], widget: [String]) {
    var lines: [Form: [String]] = [:]
    for form in [form].compactMap(\.self).isEmpty ? [.app, .widget] : [form].compactMap(\.self) {
      lines[form] = try await run(script, in: form)
    }
    return (lines[.app] ?? [], lines[.widget] ?? [])
  }

  private func run(_ script: [String], in form: Form) async throws -> [String] {
    try self.script(form, script)
    let last = try await journal.all().last?.sequence ?? 0
    switch form {
    case .app: try await cluster.run("app", "open")
    case .widget: try await cluster.run("reload", LiveFixture.kind)
    }
    try await journal.waitFor("\(form) has finished", after: last) {
      $0.reading(ProcessOutput.self)?.line == "finished \(form.rawValue)"
    }
    return try await journal.all().filter { $0.sequence > last }.compactMap { $0.reading(ProcessOutput.self) }
      .filter { $0.address == form.address && $0.stream == "stdout" }.map(\.line)
  }
}
