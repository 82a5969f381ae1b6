// SPDX-License-Identifier: Apache-2.0

import Cluster
import Foundation
import Glibc

/// The containers of a compose project, through the command `docker`.
actor DockerProject {
  let project: String
  let services: [String]
  /// The path of the command.
  let docker: String
  private var ids: [String: String] = [:]
  private var addresses: [String: String] = [:]
  private var publicKey = ""

  /// Finds the containers.
  ///
  /// - Throws: a command error when a service has none.
  init(_ project: String, services: [String]) async throws {
    self.project = project
    self.services = services
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
    let places = folders.map { folder -> String in "\(folder)/docker" }
    guard let docker = places.first(where: { access($0, X_OK) == 0 }) else {
      throw CommandError(Exit.configuration, "--compose needs the command docker", advice: "install it")
    }
    self.docker = docker
    for service in services { ids[service] = await find(service) }
    let missing = services.filter { ids[$0] == nil }
    guard missing.isEmpty else {
      throw CommandError(
        Exit.unavailable, "the compose project \(project) has no container of \(missing.joined(separator: ", "))",
        advice: "start it with `docker compose up -d`; `docker compose ls` lists the projects")
    }
  }

  private func find(_ service: String) async -> String? {
    let labels = ["label=com.docker.compose.project=\(project)", "label=com.docker.compose.service=\(service)"]
    return await output(["ps", "-aq", "--no-trunc"] + labels.flatMap { ["--filter", $0] }).flatMap {
      $0.split(separator: "\n").first.map(String.init)
    }
  }

  /// The containers of services.
  func containers(of services: [String]) -> [String] { services.compactMap { ids[$0] } }

  /// The address of a service in the project's network; `nil` while its container is down.
  func address(of service: String) async -> String? {
    if let known = addresses[service] { return known }
    guard let id = ids[service] else { return nil }
    let format = "{{range .NetworkSettings.Networks}}{{.IPAddress}} {{end}}"
    let found = await output(["inspect", "-f", format, id])?.split(whereSeparator: \.isWhitespace).first.map(
      String.init)
    addresses[service] = found
    return found
  }

  /// The folder of a volume on this machine.
  func folder(ofVolume name: String) async throws -> String {
    let path = await output(["volume", "inspect", "-f", "{{.Mountpoint}}", "\(project)_\(name)"])?
      .trimmingCharacters(in: .whitespacesAndNewlines)
    guard let path, access(path, R_OK | X_OK) == 0 else {
      throw CommandError(
        Exit.configuration, "the volume \(project)_\(name) cannot be read", at: path,
        advice: "run this command as root on the machine of the containers")
    }
    return path
  }

  /// Gives a local folder what an operator of the cluster needs: configuration, key and announcement.
  func prepare(_ home: ChaosHome) async throws {
    let format = "{{range .Mounts}}{{if eq .Destination \"/cluster/widgetlab.yaml\"}}{{.Source}}{{end}}{{end}}"
    let source = await output(["inspect", "-f", format] + containers(of: ["host-system"]))?
      .trimmingCharacters(in: .whitespacesAndNewlines)
    let instance = InstanceFolder(home.folder)
    let files = FileManager.default
    do {
      try files.copyItem(atPath: source ?? "", toPath: home.configurationPath)
      let keys = try await folder(ofVolume: "key-operator")
      try? files.removeItem(atPath: instance.keys + "/operator")
      try files.copyItem(atPath: keys, toPath: instance.keys + "/operator")
      let announced = try await folder(ofVolume: "bus") + "/bus.json"
      let data = try Data(contentsOf: URL(fileURLWithPath: announced))
      publicKey = try JSONDecoder().decode(BusAnnouncement.self, from: data).publicKey
      guard let address = await address(of: "message-bus") else {
        throw CommandError(Exit.unavailable, "the container message-bus has no address", advice: "start it")
      }
      try announce(address, in: instance)
    } catch let error as CommandError {
      throw error
    } catch {
      throw CommandError(
        Exit.configuration, "the files of the compose project \(project) cannot be used: \(error)", at: home.folder,
        advice: "run this command as root on the machine of the containers")
    }
  }

  /// Writes where the broker listens, as seen from this machine.
  func announce(_ address: String, in instance: InstanceFolder) throws {
    try BusAnnouncement(
      endpoint: "tcp://\(address):7701", tap: "tcp://\(address):7702", publicKey: publicKey, pid: 0
    ).write(in: instance)
  }

  /// Removes a container and creates it again, from the project's own files.
  func recreate(_ service: String) async -> Bool {
    guard let id = ids[service],
      let labels = await output([
        "inspect", "-f",
        "{{index .Config.Labels \"com.docker.compose.project.working_dir\"}}\n"
          + "{{index .Config.Labels \"com.docker.compose.project.config_files\"}}\n{{.Config.Image}}", id,
      ])
    else { return false }
    let lines = labels.split(separator: "\n").map(String.init)
    guard lines.count == 3 else { return false }
    let files = lines[1].split(separator: ",").flatMap {
      ["-f", $0.hasPrefix("/") ? String($0) : "\(lines[0])/\($0)"]
    }
    _ = await run(["rm", "-f", id])
    let environment = ProcessInfo.processInfo.environment.merging(["WIDGETLAB_IMAGE": lines[2]]) { $1 }
    let arguments =
      ["-p", project, "--project-directory", lines[0]] + files + ["up", "-d", "--no-deps", "--no-build", service]
    let isCreated = await create(arguments, environment)
    ids[service] = await find(service)
    addresses[service] = nil
    return isCreated
  }

  /// With the plugin, or with the command of version 1.
  private func create(_ arguments: [String], _ environment: [String: String]) async -> Bool {
    if await run(["compose"] + arguments, environment) { return true }
    let old = URL(fileURLWithPath: docker).deletingLastPathComponent().path
    for path in ["\(old)/docker-compose", "/usr/bin/docker-compose"] where access(path, X_OK) == 0 {
      if await Self.output(of: path, arguments, environment) != nil { return true }
    }
    return false
  }

  /// Runs a command of docker.
  ///
  /// - Returns: whether it succeeded.
  func run(_ arguments: [String], _ environment: [String: String]? = nil) async -> Bool {
    // Its containers may have new addresses afterwards.
    if arguments.first == "start" { addresses = [:] }
    return await Self.output(of: docker, arguments, environment) != nil
  }

  private func output(_ arguments: [String]) async -> String? { await Self.output(of: docker, arguments, nil) }

  /// The output of a command; `nil` when it fails.
  private static func output(
    of executable: String, _ arguments: [String], _ environment: [String: String]?
  ) async -> String? {
    // A file, and not a pipe: nothing must block a thread while the command runs.
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("widgetlab-docker-\(UUID().uuidString)")
      .path
    defer { unlink(file) }
    var command = ChildCommand(executable, arguments, output: .file(file), errors: .file("/dev/null"))
    if let environment { command.environment = environment }
    guard let child = try? await SpawnedProcess.start(command), await child.ending() == .exited(code: 0) else {
      return nil
    }
    return try? String(contentsOfFile: file, encoding: .utf8)
  }
}

/// A process that waits for the end of this one, and then continues and starts all containers.
final class DockerGuard: Sendable {
  private let child: SpawnedProcess
  private let pipe: Pipe

  init(_ docker: DockerProject) async throws {
    pipe = Pipe()
    // `cat` ends when the pipe has no writer any more: at `end()`, or with this process. Containers that were created
    // again have other ids, so they are found by their labels.
    let script = """
      cat >/dev/null
      docker=$0 project=$1
      shift
      for service in "$@"; do
        for id in $("$docker" ps -aq --filter "label=com.docker.compose.project=$project" \\
          --filter "label=com.docker.compose.service=$service"); do
          "$docker" unpause "$id"
          "$docker" start "$id"
        done
      done
      """
    var command = ChildCommand(
      "/bin/sh", ["-c", script, docker.docker, docker.project] + docker.services,
      input: pipe.fileHandleForReading.fileDescriptor, output: .file("/dev/null"), errors: .file("/dev/null"))
    command.leadsSession = true
    do {
      child = try await SpawnedProcess.start(command)
    } catch {
      throw CommandError(Exit.broken, "the guard of the containers cannot be started: \(error)")
    }
    try? pipe.fileHandleForReading.close()
  }

  /// Continues and starts all containers.
  func end() async {
    try? pipe.fileHandleForWriting.close()
    _ = await child.ending()
  }
}
