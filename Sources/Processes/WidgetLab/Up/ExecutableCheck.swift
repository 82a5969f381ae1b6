// SPDX-License-Identifier: Apache-2.0

import Cluster
import Foundation
import Glibc

/// Checks that every executable of a cluster can be started, before anything is started.
struct ExecutableCheck {
  let cluster: ClusterFacts
  let search: ExecutableSearch

  private struct Problem {
    let what: String
    let advice: String
  }

  /// - Throws: a command error with each executable that cannot be started, where it was searched for, and what to do.
  func run() async throws {
    var problems = missingStandingProcesses
    for product in cluster.configuration.products {
      let owner = "\(product.isExtension ? "the extension" : "the app") \(product.bundle)"
      let loading = product.environment.filter { $0.key.hasPrefix("LD_") }
      if let problem = try await problem(of: product.executable, owner, loading) { problems.append(problem) }
    }
    if let provider = cluster.configuration.provider {
      let environment = ProcessInfo.processInfo.environment
      if let problem = try await problem(of: provider.executable, "the provider", environment) {
        problems.append(problem)
      }
    }
    guard !problems.isEmpty else { return }
    var advice: [String] = []
    for problem in problems where !advice.contains(problem.advice) { advice.append(problem.advice) }
    let head =
      problems.count == 1 ? "an executable cannot be started" : "\(problems.count) executables cannot be started"
    throw CommandError(
      Exit.configuration,
      "\(head); the cluster was not started\n" + problems.map { "  \($0.what)" }.joined(separator: "\n"),
      at: cluster.configurationPath, advice: advice.joined(separator: "\n         "))
  }

  /// A problem for WidgetLab's own executables that the cluster needs and that were not found.
  private var missingStandingProcesses: [Problem] {
    let pushServer = cluster.configuration.pushServer?.executable
    let names = ["message-bus", "process-agent", "host-system"] + (pushServer == "push-server" ? ["push-server"] : [])
    let absent = names.filter { search.standing($0) == nil }
    guard let first = absent.first else {
      guard let pushServer, path(ofPushServer: pushServer) == nil else { return [] }
      return [missing(pushServer, "the push server")]
    }
    let folders = search.places(ofStanding: first).map { URL(fileURLWithPath: $0).deletingLastPathComponent().path }
    return [
      Problem(
        what: "WidgetLab: \(absent.joined(separator: ", ")) not found in \(folders.joined(separator: ", "))",
        advice: """
          run `scripts/build`, or `scripts/install PREFIX`, in your clone of WidgetLab; set WIDGETLAB_HOME to the \
          clone or to PREFIX if `widgetlab` is elsewhere
          """)
    ]
  }

  private func problem(
    of executable: String, _ owner: String, _ environment: [String: String]
  ) async throws -> Problem? {
    guard let path = search.authored(executable) else { return missing(executable, owner) }
    let file = ExecutableFile(path)
    if let problem = file.problem {
      return Problem(what: "\(owner): \(path) \(problem)", advice: advice(for: executable, owner))
    }
    guard let problem = try await loadingProblem(of: file, environment) else { return nil }
    return Problem(
      what: "\(owner): \(path) \(problem)",
      advice: "rebuild it; or install the library, or set LD_LIBRARY_PATH in `environment:` of \(owner)")
  }

  private func missing(_ executable: String, _ owner: String) -> Problem {
    let places = search.places(of: executable).joined(separator: "\n      ")
    return Problem(
      what: "\(owner): executable \(executable) not found; searched for\n      \(places)",
      advice: advice(for: executable, owner))
  }

  private func advice(for executable: String, _ owner: String) -> String {
    if executable.contains("/") { return "build it, or correct `executable:` of \(owner) in widgetlab.yaml" }
    let isPackage = FileManager.default.fileExists(atPath: search.project + "/Package.swift")
    let build = isPackage ? "in \(search.project) run `swift build --product \(executable)`" : "build it"
    return "\(build), or give its folder with --executables"
  }

  /// Runs the program's dynamic loader, which lists missing libraries without running the program.
  private func loadingProblem(of file: ExecutableFile, _ environment: [String: String]) async throws -> String? {
    guard let loader = file.loader else { return nil }
    var template = Array("\(NSTemporaryDirectory())/widgetlab-loader-XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    // Without a file for the output the check is skipped. The launch will report the problem.
    guard descriptor >= 0 else { return nil }
    close(descriptor)
    let output = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    defer { unlink(output) }
    let child = try await SpawnedProcess.start(
      loader, ["--list", file.path], environment: environment.merging(["LC_ALL": "C"]) { $1 }, log: output)
    let ending = await child.ending()
    let listing = (try? String(contentsOfFile: output, encoding: .utf8)) ?? ""
    return file.problem(inListing: listing, failed: ending != .exited(code: 0))
  }

  // MARK: Paths

  /// The path of the push server: WidgetLab's own unless `widgetlab.yaml` names another.
  func path(ofPushServer executable: String) -> String? {
    executable.contains("/")
      ? search.authored(executable) : search.standing(executable) ?? search.authored(executable)
  }
}
