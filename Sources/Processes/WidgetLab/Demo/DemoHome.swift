// SPDX-License-Identifier: Apache-2.0

import ChildProcesses
import Cluster
import Foundation
import Glibc

/// The demo's cluster: a temporary folder, the sample's configuration with a slow download, and a `widgetlab up` that
/// is killed when this process exits.
final class DemoHome: Sendable {
  /// Bytes of the extension's file. The app's is smaller.
  static let fileBytes: Int64 = 1_572_864
  private static let bytesPerSecond = 409_600

  let instance: String
  private let configurationPath: String
  private let executables: String?
  private let child = ChildOfDemo()

  init(executables: String?) throws {
    self.executables = executables
    let temporary = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
    var template = Array("\(temporary)/widgetlab-demo-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw CommandError(
        Exit.configuration, "cannot create a temporary folder: \(String(cString: strerror(errno)))", at: temporary,
        advice: "set TMPDIR to a writable folder")
    }
    instance = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    configurationPath = instance + "/widgetlab.yaml"
    try Self.configuration.write(toFile: configurationPath, atomically: true, encoding: .utf8)
  }

  /// Starts `widgetlab up` and waits until it is ready.
  func up() async throws -> ClusterFacts {
    let pipe = Pipe()
    var arguments = ["up", "--json", "--instance", instance, "--config", configurationPath]
    arguments += ["--die-with-parent", "\(getpid())"]
    if let executables { arguments += ["--executables", executables] }
    let log = instance + "/up.log"
    let up = try await SpawnedProcess.start(
      ProcessFacts.own, arguments, output: pipe.fileHandleForWriting.fileDescriptor, log: log)
    await child.launched(up)
    try pipe.fileHandleForWriting.close()
    let line = await FirstLine.of(pipe.fileHandleForReading)
    guard let line, (try? JSONDecoder().decode(ClusterLifecycle.Ready.self, from: Data(line.utf8))) != nil else {
      let output = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
      throw CommandError(
        Exit.unavailable, "the demo's cluster did not start\n\(output)", at: instance, advice: "read \(instance)/logs")
    }
    return try ClusterFacts(folder: instance, configurationPath: configurationPath)
  }

  /// Stops the cluster, like Ctrl-C.
  func down() async { await child.stop() }

  func remove() { try? FileManager.default.removeItem(atPath: instance) }

  /// The sample's configuration, but with slower and larger downloads, so that a kill hits the middle.
  static let configuration = """
    device:
      name: iphone
      model: iPhone 16
      platform: iOS
      version: "18.0"
    appGroups:
      - group.com.example.CaffeineTracker
    apps:
      - bundle: com.example.CaffeineTracker
        executable: containing-app
        environment:
          CAFFEINE_FIGURES_URL: ${provider.url}/figures?size=1048576&bytesPerSecond=\(bytesPerSecond)&seed=app
    extensions:
      - bundle: com.example.CaffeineTracker.Widget
        executable: widget-extension
        environment:
          CAFFEINE_FIGURES_URL: ${provider.url}/figures?size=\(fileBytes)&bytesPerSecond=\(bytesPerSecond)&seed=widget
    provider:
      executable: provider-server
      # The figures stay fresh longer than the demo runs, so the reload at its end starts no second download.
      arguments: [--fresh-for, "3600"]
    settings:
      developerMode: true
      suspendAfter: 1
      completionDeadline: 30
    """
}

/// The `widgetlab up` of a demo.
private actor ChildOfDemo {
  private var child: SpawnedProcess?
  private var stopping: Task<Void, Never>?

  func launched(_ child: SpawnedProcess) { self.child = child }

  /// Returns when the child has exited. A second caller waits for the same exit.
  func stop() async {
    guard let child else { return }
    let stopping = stopping ?? Task { _ = await child.stop(within: .seconds(20)) }
    self.stopping = stopping
    await stopping.value
  }
}

/// Reads the first line from a pipe.
enum FirstLine {
  /// Returns `nil` when the other end was closed before a line was complete. Reads on a separate thread.
  static func of(_ handle: FileHandle) async -> String? {
    let descriptor = handle.fileDescriptor
    let line: String? = await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while true {
          let count = read(descriptor, &byte, 1)
          if count < 0 && errno == EINTR { continue }
          if count <= 0 { return continuation.resume(returning: nil) }
          if byte == UInt8(ascii: "\n") {
            return continuation.resume(returning: String(decoding: bytes, as: UTF8.self))
          }
          bytes.append(byte)
        }
      }
    }
    // Keep the pipe open until here: a process that writes to it later must not be killed by SIGPIPE.
    _ = handle
    return line
  }
}
