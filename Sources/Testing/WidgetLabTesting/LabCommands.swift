// SPDX-License-Identifier: Apache-2.0

import Cluster
public import Foundation
import Glibc

extension LabCluster {
  /// Runs a command of `widgetlab` in this instance.
  ///
  /// - Throws: `LabError` with its error output, when its exit code is not 0.
  @discardableResult
  public func run(_ arguments: String...) async throws -> String {
    let answer = try await attempt(arguments)
    guard answer.status == 0 else {
      throw LabError("widgetlab \(arguments.joined(separator: " ")) exited with \(answer.status):\n\(answer.errors)")
    }
    return answer.output
  }

  /// Runs a command of `widgetlab` in this instance, and returns for any exit code.
  ///
  /// - Parameter instance: `false` for a command without `--instance`.
  public func attempt(_ arguments: [String], instance: Bool = true) async throws -> Answer {
    try await Self.tool(arguments + (instance ? ["--instance", folder] : []), executables: executables, in: folder)
  }

  /// Runs `widgetlab`, with its output in files in a folder.
  public static func tool(_ arguments: [String], executables: String, in folder: String) async throws -> Answer {
    let name = "\(folder)/command-\(UUID().uuidString)"
    let child = try await LabChild.start(
      executables + "/widgetlab", arguments, output: name + ".out", errors: name + ".err")
    let status = await child.ending()
    defer {
      unlink(name + ".out")
      unlink(name + ".err")
    }
    return Answer(
      status: status, output: (try? String(contentsOfFile: name + ".out", encoding: .utf8)) ?? "",
      errors: (try? String(contentsOfFile: name + ".err", encoding: .utf8)) ?? "")
  }

  /// The current pid of a standing process: `message-bus`, `agent-1`, `host`, `provider`. It changes when `up` restarts
  /// the process.
  public func pid(of name: String) -> Int32? {
    struct File: Decodable {
      struct Record: Decodable {
        let name: String
        let pid: Int32?
      }
      let processes: [Record]
    }
    guard let data = FileManager.default.contents(atPath: folder + "/processes.json"),
      let file = try? JSONDecoder().decode(File.self, from: data)
    else { return nil }
    return file.processes.first { $0.name == name }?.pid
  }

  /// Sends a signal to a process.
  ///
  /// - Throws: `LabError` when the process does not exist.
  public func signal(_ number: Int32, pid: Int32) throws { try LabProcess(pid: pid).signal(number) }

  /// What the provider server has served.
  public struct ProviderCounters: Decodable, Sendable {
    /// What was served for one path.
    public struct Count: Decodable, Sendable {
      /// Body bytes that the sockets accepted.
      public let bytes: Int
      /// Requests, whatever their result.
      public let requests: Int
    }
    /// Bytes of all paths.
    public let bytesServed: Int
    /// Requests of all paths.
    public let requests: Int
    /// By path and query, as requested.
    public let byPath: [String: Count]
  }

  /// Requests the provider server's counters.
  ///
  /// - Throws: `LabError` when the configuration has no provider, or the provider does not respond.
  public func providerCounters() async throws -> ProviderCounters {
    try JSONDecoder().decode(ProviderCounters.self, from: try await fetch("/counters"))
  }

  /// Fetches a path of the provider server.
  ///
  /// - Throws: `LabError` for anything but status 200, and when there is no provider or no response.
  public func fetch(_ path: String) async throws -> Data {
    let answer = try await requestProvider(path)
    guard answer.status == 200 else { throw LabError("\(path): status \(answer.status)") }
    return answer.body
  }

  /// Sends JSON to a path of the provider server.
  ///
  /// - Throws: `LabError` for anything but a status of 200 to 299, and when there is no provider or no response.
  @discardableResult
  public func post(_ path: String, json: String) async throws -> Data {
    let answer = try await requestProvider(path, json: Data(json.utf8))
    guard (200..<300).contains(answer.status) else { throw LabError("\(path): status \(answer.status)") }
    return answer.body
  }

  private func requestProvider(_ path: String, json: Data? = nil) async throws(LabError) -> LocalHTTP.Answer {
    guard let provider = ready.provider else { throw LabError("the configuration of this cluster has no provider") }
    do {
      return try await LocalHTTP.request(provider + path, json: json)
    } catch {
      throw LabError("the provider server did not answer \(path): \(error)")
    }
  }

  /// The SHA-256 of bytes, in hexadecimal, from the machine's `sha256sum`.
  ///
  /// - Throws: `LabError` when `sha256sum` is missing.
  public func sha256(of data: Data) async throws -> String {
    let name = "\(folder)/sum-\(UUID().uuidString)"
    try data.write(to: URL(fileURLWithPath: name))
    defer {
      unlink(name)
      unlink(name + ".out")
      unlink(name + ".err")
    }
    let child = try await LabChild.start("/usr/bin/sha256sum", [name], output: name + ".out", errors: name + ".err")
    let status = await child.ending()
    let text = (try? String(contentsOfFile: name + ".out", encoding: .utf8)) ?? ""
    guard status == 0, let sum = text.split(separator: " ").first else {
      throw LabError("sha256sum exited with \(status)")
    }
    return String(sum)
  }
}

extension LabCluster {
  /// Returns when a standing process that was killed is ready again. A command waits 10 s for it, and a busy machine may need
  /// longer.
  public func isBack(_ name: String) async throws {
    try await run("wait", "--for", "\(name)=ready", "--timeout", "300")
  }

  /// Evaluates `isSo` repeatedly until it is true.
  ///
  /// - Parameter what: a description of the condition, for the error.
  /// - Throws: `LabError` with that description after `limit`, or the error of `isSo`.
  public func eventually(
    _ what: String, within limit: Duration = LabTimeout.usual, _ isSo: () async throws -> Bool
  ) async throws {
    let deadline = ContinuousClock.now + limit
    while true {
      let begun = ContinuousClock.now
      if try await isSo() { return }
      let end = ContinuousClock.now
      guard end < deadline else { throw LabError("condition not met within \(limit): \(what)") }
      // An expensive condition is evaluated less often, to leave the processor to other processes.
      try await Task.sleep(for: min(max(begun.duration(to: end) * 2, LabTimeout.pollInterval), .milliseconds(500)))
    }
  }
}
