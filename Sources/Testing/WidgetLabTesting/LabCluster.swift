// SPDX-License-Identifier: Apache-2.0

package import Cluster
import Foundation
import Glibc

/// A cluster of real processes for one test, with a separate folder, bus and ports, so that tests can run in parallel.
///
/// ```swift
/// try await LabCluster.with("my widget survives a kill", configuration: yaml) { cluster in
///   try await cluster.run("reload", "MyWidget")
///   let started = try await cluster.journal.waitFor("the download began") { $0.kind == "transfer.progress" }
///   try await cluster.run("kill", "extension")
///   …
/// }
/// ```
public final class LabCluster: Sendable {
  /// The instance's folder.
  public let folder: String
  /// The ready line of this cluster's `widgetlab up`.
  public let ready: Ready
  /// All messages on the bus.
  public let journal: LabJournal
  /// The `widgetlab up` of this cluster.
  public let up: LabProcess

  /// The folder of the executables.
  public let executables: String
  private let child: LabChild
  private let ending: Task<Int32, Never>

  /// The ready line of `widgetlab up --json`.
  public struct Ready: Decodable, Sendable {
    /// The instance's folder.
    public let instance: String
    /// The path of the configuration.
    public let configuration: String
    /// The endpoint of the bus.
    public let endpoint: String
    /// The endpoint of the tap.
    public let tap: String
    /// The broker's public key, in Z85.
    public let publicKey: String
    /// The URL of the provider server; `nil` without one.
    public let provider: String?
    /// The endpoints of the push server and the credentials for it; `nil` without one.
    public let pushServer: PushServer?
    /// The process ids by name: `message-bus`, `agent-1`, `host`, `push-server`, `provider`, `up`.
    public let pids: [String: Int32]
  }

  /// What a provider needs to connect to the push server.
  public struct PushServer: Decodable, Sendable {
    /// The URL of the development environment.
    public let development: String
    /// The URL of the production environment.
    public let production: String
    /// The file of the certificate authority to trust.
    public let certificateAuthority: String
    /// The file of the development environment's provider key, a `.p8`.
    public let key: String
    /// The key's id.
    public let keyID: String
    /// The team's id.
    public let teamID: String
  }

  /// The result of a `widgetlab` command.
  public struct Answer: Sendable {
    /// The exit code; 128 plus the number for a signal.
    public let status: Int32
    /// Standard output.
    public let output: String
    /// Standard error.
    public let errors: String

    package init(status: Int32, output: String, errors: String) {
      self.status = status
      self.output = output
      self.errors = errors
    }
  }

  private init(folder: String, ready: Ready, child: LabChild, executables: String, ending: Task<Int32, Never>) {
    self.folder = folder
    self.ready = ready
    self.child = child
    up = LabProcess(pid: child.pid)
    self.executables = executables
    self.ending = ending
    self.journal = LabJournal(folder: folder + "/journal")
  }

  /// Starts a cluster, runs `body`, and always stops the cluster. It leaves no process and no file behind.
  ///
  /// The folder is removed. With `WIDGETLAB_KEEP=1` in the environment it is kept if `body` threw, and its path is
  /// printed.
  ///
  /// - Parameters:
  ///   - name: the test's name, which is part of the folder's name.
  ///   - configuration: the text of a `widgetlab.yaml`.
  ///   - executables: the folder of the executables; by default `WIDGETLAB_EXECUTABLES`, or the test's build folder.
  /// - Throws: `LabError` when the cluster does not start or leaves something behind, or the error of `body`.
  public static func with<R>(
    _ name: String, configuration: String, executables: String? = nil,
    _ body: (LabCluster) async throws -> R
  ) async throws -> R {
    try await with(name, configuration: configuration, executables: executables, prepare: { _ in }, body)
  }

  /// The same, with work between the creation of the instance's folder and the start of the processes.
  package static func with<R>(
    _ name: String, configuration: String, executables: String? = nil, prepare: (InstanceFolder) throws -> Void,
    _ body: (LabCluster) async throws -> R
  ) async throws -> R {
    let folder = try makeFolder(name)
    try configuration.write(toFile: folder + "/widgetlab.yaml", atomically: true, encoding: .utf8)
    try prepare(InstanceFolder(folder))
    return try await with(name, in: folder, executables: executables, body)
  }

  /// Starts a cluster in the folder of an earlier one, with its configuration, and otherwise does the same.
  package static func with<R>(
    _ name: String, in folder: String, executables: String? = nil, _ body: (LabCluster) async throws -> R
  ) async throws -> R {
    let cluster = try await start(name, in: folder, executables: executables)
    let result: R
    do {
      result = try await body(cluster)
    } catch {
      let status = await cluster.stop()
      let keeps = ProcessInfo.processInfo.environment["WIDGETLAB_KEEP"] == "1"
      if !keeps { try? cluster.remove() }
      let place = keeps ? "its folder is \(cluster.folder)" : "set WIDGETLAB_KEEP=1 to keep its folder"
      print("the cluster of '\(name)' was stopped (exit code \(status)) after a failure; \(place)")
      throw error
    }
    let status = await cluster.stop()
    try await cluster.expectNobody(name)
    try cluster.remove()
    guard status == 0 || status == 128 + SIGKILL else {
      throw LabError("`widgetlab up` of '\(name)' exited with \(status)")
    }
    guard !FileManager.default.fileExists(atPath: cluster.folder) else {
      throw LabError("the cluster of '\(name)' left \(cluster.folder) behind: it cannot be removed")
    }
    return result
  }

  private static func makeFolder(_ name: String) throws -> String {
    let letters = name.lowercased().map { $0.isASCII && $0.isLetter || $0.isNumber ? $0 : "-" }.prefix(40)
    let temporary = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
    var template = Array("\(temporary)/widgetlab-\(String(letters))-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw LabError("cannot create a folder in \(temporary): \(String(cString: strerror(errno)))")
    }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  private static func start(_ name: String, in folder: String, executables: String?) async throws -> LabCluster {
    let executables = try executables ?? findExecutables()
    let file = folder + "/widgetlab.yaml"
    let output = folder + "/up.out"
    let child = try await LabChild.start(
      executables + "/widgetlab",
      [
        "up", "--json", "--instance", folder, "--config", file, "--executables", executables,
        "--die-with-parent", "\(getpid())",
      ], output: output, errors: folder + "/up.err")
    let ending = Task { await child.ending() }
    let line = try await firstLine(of: output, from: LabProcess(pid: child.pid))
    guard let line, let ready = try? JSONDecoder().decode(Ready.self, from: Data(line.utf8)) else {
      child.signal(SIGKILL)
      _ = await ending.value
      let output = (try? String(contentsOfFile: folder + "/up.err", encoding: .utf8)) ?? ""
      let kept = LabRemains.current == nil ? "; \(folder) is kept" : ""
      try? LabRemains.current?.take(folder)
      throw LabError("the cluster of '\(name)' did not start\(kept). The output of `widgetlab up`:\n\(output)")
    }
    return LabCluster(folder: folder, ready: ready, child: child, executables: executables, ending: ending)
  }

  private static func firstLine(of file: String, from up: LabProcess) async throws -> String? {
    let deadline = ContinuousClock.now + LabTimeout.usual
    while ContinuousClock.now < deadline {
      let isRunning = up.isAlive
      if let text = try? String(contentsOfFile: file, encoding: .utf8), let end = text.firstIndex(of: "\n") {
        return String(text[..<end])
      }
      if !isRunning { return nil }
      try await Task.sleep(for: .milliseconds(10))
    }
    return nil
  }

  /// The folder of the executables: `WIDGETLAB_EXECUTABLES`, or the nearest folder above the running test that contains
  /// `widgetlab`.
  ///
  /// - Throws: `LabError` that states what to build.
  public static func findExecutables() throws -> String {
    if let folder = ProcessInfo.processInfo.environment["WIDGETLAB_EXECUTABLES"] { return folder }
    let places = [LabProcess(pid: getpid()).executable, CommandLine.arguments.first].compactMap(\.self)
    for place in places {
      var folder = URL(fileURLWithPath: place).deletingLastPathComponent()
      while folder.path != "/" {
        if access(folder.path + "/widgetlab", X_OK) == 0 { return folder.path }
        folder.deleteLastPathComponent()
      }
    }
    throw LabError(
      "no folder above \(places.first ?? "this test") contains the executable widgetlab; build all products, or set "
        + "WIDGETLAB_EXECUTABLES")
  }

  /// Stops the cluster as Ctrl-C does, and waits for its exit.
  ///
  /// - Returns: the exit code of `widgetlab up`; 128 plus the number for a signal.
  @discardableResult
  public func stop() async -> Int32 {
    child.signal(SIGINT)
    let impatience = Task {
      try await Task.sleep(for: LabTimeout.usual)
      child.signal(SIGKILL)
    }
    let status = await ending.value
    impatience.cancel()
    return status
  }

  /// Waits for the exit of all processes of this instance. They were asked to terminate, or their parent has exited.
  private func expectNobody(_ name: String) async throws {
    for process in LabProcess.all(naming: folder) {
      do {
        try await process.ended()
      } catch {
        try? remove()
        throw LabError("the cluster of '\(name)' left a process behind: \(error)")
      }
    }
  }

  /// Deletes the folder; or passes it to the test, which keeps it until its result is known.
  private func remove() throws { try LabRemains.retire(folder) }

  /// The instance's folder, for tests of this package.
  package var instance: InstanceFolder { InstanceFolder(folder) }
}

/// The limits of waits in tests. They guard against endless waits. No test depends on how long something takes.
public enum LabTimeout {
  /// The default limit of a wait. It is far longer than any operation takes on a busy machine.
  public static let usual = Duration.seconds(300)

  /// The time between two evaluations of a condition that must be polled.
  public static let pollInterval = Duration.milliseconds(15)
}

/// A process that a test started. The kernel kills it when the test's process exits in any way.
package struct LabChild: Sendable {
  private let process: SpawnedProcess

  /// The process id.
  package var pid: Int32 { process.pid }

  /// Starts an executable in a separate process group, with its output in files.
  ///
  /// - Throws: `LabError` with the kernel's reason.
  package static func start(
    _ executable: String, _ arguments: [String], environment: [String: String] = [:], output: String, errors: String
  ) async throws -> LabChild {
    let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    let command = ChildCommand(
      executable, arguments, environment: variables, output: .file(output), errors: .file(errors))
    do {
      return LabChild(process: try await SpawnedProcess.start(command))
    } catch {
      throw LabError("\(executable) cannot be started: \(error); build it first")
    }
  }

  /// Sends it a signal. When it has ended, no other process with its pid receives it.
  package func signal(_ number: Int32) { process.signal(number) }

  /// Waits for the exit. A signal counts as 128 plus its number, as in a shell. Cancellation kills the process, so that a
  /// test that reaches its time limit ends.
  package func ending() async -> Int32 {
    await withTaskCancellationHandler {
      await process.ending().shellStatus
    } onCancel: {
      process.signal(SIGKILL)
    }
  }
}

/// An error in a test's cluster.
public struct LabError: Error, CustomStringConvertible {
  /// What happened, where, and what to do.
  public let description: String
  /// Creates an error with a text: what happened, and what to do.
  public init(_ description: String) { self.description = description }
}
