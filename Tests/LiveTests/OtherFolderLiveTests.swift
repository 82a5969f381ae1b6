// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import WidgetLabTesting

/// Commands in a folder that has no cluster, while one runs in another folder.
@Suite(.live, .timeLimit(.live)) struct `Commands in a folder without a cluster` {
  private static let configuration = """
    device: { name: phone, model: iPhone 16, platform: iOS, version: "18.0" }
    """
  /// The commands that change something, with what they need.
  private static let changing = [
    ["kill", "host"], ["suspend", "host"], ["resume", "host"], ["reload", "Trial"], ["reload", "--all"],
    ["add", "Trial"],
    ["edit", "1"], ["remove", "1"], ["turn", "1"], ["tap", "1"], ["app", "open"], ["app", "background"],
    ["look", "off"], ["lock"], ["unlock"], ["setting"], ["network", "off"], ["device"],
    ["clock", "advance", "1h"], ["update"], ["force-quit"], ["defaults", "delete", "com.example.App"],
    ["push", "Trial"],
    ["token", "rotate"], ["keys", "rotate"], ["keys", "provider"], ["snapshot", "Trial"],
    ["fleet", "status"],
    ["journal", "verify", "--repair"], ["console"], ["demo", "--attach"],
  ]
  private static let reading = [
    ["ps"], ["ping", "host"], ["sessions"], ["tail", "--no-follow"], ["check"], ["diagnose"], ["gallery"],
    ["keys", "list"], ["wait", "--for", "host=ready"],
  ]

  @Test func `commands that change something act on no cluster of another folder, and name those that run`()
    async throws
  {
    try await OtherFolder.with(Self.configuration) { place in
      let before = try place.pids()
      for command in Self.changing {
        let answer = try await place.run(command)
        #expect(answer.status != 0, "\(command) changed the cluster of another folder: \(answer.output)")
        #expect(answer.errors.contains("--instance \(place.instance)"), "\(command): \(answer.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.empty).isEmpty, "\(command) left a file")
      }
      let down = try await place.run(["down"])
      #expect(down.status == 0 && down.output.contains("no cluster is running in \(place.empty)"), "\(down)")
      #expect(down.output.contains("--instance \(place.instance)"), "\(down)")
      #expect(try place.pids() == before, "no process was ended")
    }
  }

  @Test func `commands that only read use the only running cluster, and say which`() async throws {
    try await OtherFolder.with(Self.configuration) { place in
      for command in Self.reading {
        let answer = try await place.run(command)
        #expect(
          answer.errors.contains("this folder has no cluster; reading the one of \(place.instance)"), "\(command)")
        #expect(answer.status == 0, "\(command): \(answer.errors)")
      }
    }
  }

  @Test func `a command acts on the cluster that --instance names, in any folder`() async throws {
    try await OtherFolder.with(Self.configuration) { place in
      let before = try place.pids()
      for name in ["default", place.instance] {
        let answer = try await place.run(["kill", "host", "--instance", name])
        #expect(answer.status == 0 && !answer.errors.contains("this folder has no cluster"), "\(answer)")
        let wait = try await place.run(["wait", "--for", "host=ready", "--instance", name])
        #expect(wait.status == 0, "\(wait.errors)")
      }
      #expect(try place.pids() != before)
    }
  }
}

/// A cluster in one folder and an empty folder beside it, and a separate instance registry.
private struct OtherFolder: Sendable {
  let folder: String
  let executables: String
  var empty: String { folder + "/empty" }
  var instance: String { folder + "/project/.widgetlab/default" }

  static func with(_ configuration: String, _ body: @Sendable (OtherFolder) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
      .appending(path: "widgetlab-other-\(UUID().uuidString)").path
    let place = OtherFolder(folder: folder, executables: try LabCluster.findExecutables())
    defer { try? FileManager.default.removeItem(atPath: folder) }
    for name in ["project", "empty", "registry"] {
      try FileManager.default.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
    }
    try configuration.write(toFile: folder + "/project/widgetlab.yaml", atomically: true, encoding: .utf8)
    let up = try await place.start(
      ["up", "--executables", place.executables, "--die-with-parent", "\(getpid())"], in: folder + "/project", "up")
    let ending = Task { await up.ending() }
    let wait = try await place.run([
      "wait", "--for", "host=ready", "--instance", place.instance, "--config", folder + "/project/widgetlab.yaml",
    ])
    #expect(wait.status == 0, "\(wait.errors)")
    do {
      try await body(place)
    } catch {
      up.signal(SIGTERM)
      _ = await ending.value
      throw error
    }
    up.signal(SIGTERM)
    #expect(await ending.value == 0)
  }

  /// Runs a command in the empty folder.
  func run(_ arguments: [String]) async throws -> LabCluster.Answer {
    let name = "command-\(UUID().uuidString)"
    let status = try await start(arguments, in: empty, name).ending()
    func text(_ suffix: String) -> String {
      (try? String(contentsOfFile: "\(folder)/\(name).\(suffix)", encoding: .utf8)) ?? ""
    }
    return LabCluster.Answer(status: status, output: text("out"), errors: text("err"))
  }

  private func start(_ arguments: [String], in place: String, _ name: String) async throws -> LabChild {
    try await LabChild.start(
      "/bin/sh", ["-c", "cd \"$0\" && exec \"$@\"", place, executables + "/widgetlab"] + arguments,
      environment: ["XDG_RUNTIME_DIR": folder + "/registry"], output: "\(folder)/\(name).out",
      errors: "\(folder)/\(name).err")
  }

  /// The processes of the cluster.
  func pids() throws -> [Int32] {
    struct File: Decodable {
      struct Record: Decodable { let pid: Int32? }
      let processes: [Record]
    }
    let data = try Data(contentsOf: URL(filePath: instance + "/processes.json"))
    return try JSONDecoder().decode(File.self, from: data).processes.compactMap(\.pid)
  }
}
