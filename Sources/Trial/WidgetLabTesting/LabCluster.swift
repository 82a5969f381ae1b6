package import Cluster
import Foundation
import Glibc

/// A cluster of real processes of one test: with a folder, a bus and ports of its own, so that tests run side by side.
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
  /// What `widgetlab up` said when it was ready.
  public let ready: Ready
  /// All that went over the bus.
  public let journal: LabJournal
  /// The `widgetlab up` of this cluster.
  public let up: LabProcess

  /// The folder of the processes.
  public let executables: String
  private let ending: Task<Int32, Never>

  /// The ready line of `widgetlab up --json`.
  public struct Ready: Decodable, Sendable {
    /// The instance's folder.
    public let instance: String
    /// The path of the configuration.
    public let configuration: String
    /// Where the bus listens.
    public let endpoint: String
    /// Where its tap is.
    public let tap: String
    /// The broker's key, z85.
    public let publicKey: String
    /// Where the provider server listens, if there is one.
    public let provider: String?
    /// Where the push server listens, and what a provider needs for it, if there is one.
    public let pushServer: PushServer?
    /// By name: `message-bus`, `agent-1`, `host`, `push-server`, `provider`, `up`.
    public let pids: [String: Int32]
  }

  /// What a provider needs to speak to the push server.
  public struct PushServer: Decodable, Sendable {
    /// The URL of the development environment.
    public let development: String
    /// The URL of the production environment.
    public let production: String
    /// The file of the certificate to trust.
    public let certificateAuthority: String
    /// The file of the development environment's provider key, a `.p8`.
    public let key: String
    /// Its key id.
    public let keyID: String
    /// The id of its team.
    public let teamID: String
  }

  /// What a command of `widgetlab` left.
  public struct Answer: Sendable {
    /// The exit code; 128 and the number for a signal.
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

  private init(folder: String, ready: Ready, up: LabProcess, executables: String, ending: Task<Int32, Never>) {
    self.folder = folder
    self.ready = ready
    self.up = up
    self.executables = executables
    self.ending = ending
    self.journal = LabJournal(folder: folder + "/journal")
  }

  /// Starts a cluster, runs `body`, and stops the cluster, whatever happened. Nothing of it is left: neither a process nor
  /// a file.
  ///
  /// The folder is removed; with `WIDGETLAB_KEEP=1` in the environment it stays when `body` threw, and its path is printed.
  ///
  /// - Parameters:
  ///   - name: the test's name; it stands in the folder's name.
  ///   - configuration: the text of a `widgetlab.yaml`.
  ///   - executables: the folder of the processes; by default `WIDGETLAB_EXECUTABLES`, or where the test was built.
  /// - Throws: `LabError` when the cluster does not start or leaves something behind, or what `body` throws.
  public static func with<R>(
    _ name: String, configuration: String, executables: String? = nil,
    _ body: (LabCluster) async throws -> R
  ) async throws -> R {
    let cluster = try await start(name, configuration: configuration, executables: executables)
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
      throw LabError("`widgetlab up` of '\(name)' ended with \(status)")
    }
    guard !FileManager.default.fileExists(atPath: cluster.folder) else {
      throw LabError("the cluster of '\(name)' left \(cluster.folder) behind, which cannot be removed")
    }
    return result
  }

  private static func start(_ name: String, configuration: String, executables: String?) async throws -> LabCluster {
    let executables = try executables ?? findExecutables()
    let letters = name.lowercased().map { $0.isASCII && $0.isLetter || $0.isNumber ? $0 : "-" }.prefix(40)
    let temporary = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
    var template = Array("\(temporary)/widgetlab-\(String(letters))-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw LabError("no folder could be made in \(temporary): \(String(cString: strerror(errno)))")
    }
    let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let file = folder + "/widgetlab.yaml"
    try configuration.write(toFile: file, atomically: true, encoding: .utf8)
    let output = folder + "/up.out"
    let child = try await LabChild.start(
      executables + "/widgetlab",
      [
        "up", "--json", "--instance", folder, "--config", file, "--executables", executables,
        "--die-with-parent", "\(getpid())",
      ], output: output, errors: folder + "/up.err")
    let ending = Task { await child.ending() }
    let up = LabProcess(pid: child.pid)
    let line = try await firstLine(of: output, from: up)
    guard let line, let ready = try? JSONDecoder().decode(Ready.self, from: Data(line.utf8)) else {
      kill(child.pid, SIGKILL)
      _ = await ending.value
      let said = (try? String(contentsOfFile: folder + "/up.err", encoding: .utf8)) ?? ""
      let kept = LabRemains.current == nil ? "; \(folder) is kept" : ""
      try? LabRemains.current?.take(folder)
      throw LabError("the cluster of '\(name)' did not start\(kept). `widgetlab up` said:\n\(said)")
    }
    return LabCluster(folder: folder, ready: ready, up: up, executables: executables, ending: ending)
  }

  private static func firstLine(of file: String, from up: LabProcess) async throws -> String? {
    let deadline = ContinuousClock.now + LabTimeout.usual
    while ContinuousClock.now < deadline {
      let lives = up.isAlive
      if let text = try? String(contentsOfFile: file, encoding: .utf8), let end = text.firstIndex(of: "\n") {
        return String(text[..<end])
      }
      if !lives { return nil }
      try await Task.sleep(for: .milliseconds(10))
    }
    return nil
  }

  /// Where the processes are: `WIDGETLAB_EXECUTABLES`, or the nearest folder above the running test that holds `widgetlab`.
  ///
  /// - Throws: `LabError` that says what to build.
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
      "no folder above \(places.first ?? "this test") holds the executable widgetlab; build all products, or set "
        + "WIDGETLAB_EXECUTABLES")
  }

  /// Stops the cluster as Ctrl-C would, and waits for its end.
  ///
  /// - Returns: the exit code of `widgetlab up`; 128 and the number when a signal ended it.
  @discardableResult
  public func stop() async -> Int32 {
    if up.isAlive { kill(up.pid, SIGINT) }
    let impatience = Task {
      try await Task.sleep(for: LabTimeout.usual)
      kill(up.pid, SIGKILL)
    }
    let status = await ending.value
    impatience.cancel()
    return status
  }

  /// Waits for the end of what was started for this instance: by then they are told to end, or their parent is dead.
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

  /// Deletes the folder; or gives it to the test, which keeps it until it is known whether the test passes.
  private func remove() throws { try LabRemains.retire(folder) }

  /// The instance's folder, for tests of this package.
  package var instance: InstanceFolder { InstanceFolder(folder) }
}
