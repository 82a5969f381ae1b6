// SPDX-License-Identifier: Apache-2.0

import APNs
import Archive
import ArgumentParser
import Cluster
import Console
import Foundation
import JournalAnalysis
import MessageBus
import Messages
import Synchronization

/// The commands that the page may perform. They are those of the command line: same parser, same code.
struct ConsoleActions: Sendable {
  let cluster: ClusterFacts
  /// ` --instance second`, or nothing.
  let commandSuffix: String
  let session: SharedOperatorSession

  /// The first words of the permitted commands.
  static let permitted: Set<String> = [
    "add", "edit", "remove", "turn", "tap", "reload", "app", "look", "lock", "unlock", "setting", "network", "device",
    "clock", "update", "push", "apns", "kill", "suspend", "resume", "force-quit",
  ]
  /// Options that name files, or another cluster.
  private static let refusedOptions = ["--instance", "--config", "--payload", "--journal", "--executables"]
  private static let lineLimit = 500

  /// Performs a command.
  ///
  /// - Throws: 400 for a command that the console does not perform, or that the parser rejects.
  func perform(_ arguments: [String]) async throws -> ConsoleActionResult {
    let command = try parse(arguments)
    let sink = CollectedOutput(limit: Self.lineLimit)
    let begun = ContinuousClock.now
    let exit = await run(command, sink)
    let (output, errors) = sink.lines
    return ConsoleActionResult(
      command: "widgetlab " + arguments.map(Self.quoted).joined(separator: " ") + commandSuffix, exit: exit,
      output: output, errors: errors, milliseconds: Int(saturating: (ContinuousClock.now - begun) / .milliseconds(1)))
  }

  private func parse(_ arguments: [String]) throws -> any ParsableCommand {
    guard let first = arguments.first, Self.permitted.contains(first) else {
      throw ConsoleError(
        400, "the console does not perform '\(arguments.first ?? "")'",
        advice: "use one of: \(Self.permitted.sorted().joined(separator: ", "))")
    }
    for argument in arguments {
      let name = argument.prefix { $0 != "=" }
      guard argument != "--", !Self.refusedOptions.contains(String(name)), argument.utf8.allSatisfy({ $0 >= 0x20 })
      else {
        throw ConsoleError(
          400, "the console does not accept \(name)", advice: "use the command line for options that name files")
      }
    }
    let ownOptions = ["--instance", cluster.folder, "--config", cluster.configurationPath]
    let command: any ParsableCommand
    do {
      command = try WidgetLabTool.parseAsRoot(arguments + ownOptions)
    } catch {
      throw ConsoleError(400, WidgetLabTool.message(for: error), advice: "see `widgetlab help \(first)`")
    }
    guard command is any AsyncParsableCommand, !(command is PushLogCommand) else {
      throw ConsoleError(400, "the console does not perform '\(arguments.joined(separator: " "))'")
    }
    return command
  }

  private func run(_ command: any ParsableCommand, _ sink: CollectedOutput) async -> Int32 {
    guard var command = command as? any AsyncParsableCommand else { return Exit.usage.rawValue }
    do {
      try await Output.$sink.withValue(sink) {
        try await SharedOperatorSession.$current.withValue(session) { try await command.run() }
      }
      return 0
    } catch let exit as ExitCode {
      return exit.rawValue
    } catch {
      sink.line(WidgetLabTool.message(for: error), isError: true)
      return WidgetLabTool.exitCode(for: error).rawValue
    }
  }

  /// An argument as a shell reads it.
  static func quoted(_ argument: String) -> String {
    let plain = argument.utf8.allSatisfy { byte in
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        || "-_./=:,+@".utf8.contains(byte)
    }
    guard !plain || argument.isEmpty else { return argument }
    return "'" + argument.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
  }
}

/// The lines that a command prints. Any thread.
final class CollectedOutput: OutputSink {
  private let limit: Int
  private let state = Mutex<(output: [String], errors: [String])>(([], []))

  init(limit: Int) { self.limit = limit }

  func line(_ text: String, isError: Bool) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    state.withLock { state in
      guard state.output.count + state.errors.count < limit else { return }
      if isError { state.errors += lines } else { state.output += lines }
    }
  }

  /// What was printed on standard output and on standard error.
  var lines: (output: [String], errors: [String]) { state.withLock { $0 } }
}

// The replies of host and push server as the page gets them.

extension ConsoleGalleryItem {
  /// The gallery, one item for each widget and control.
  static func all(in reply: ListGallery.Reply) -> [ConsoleGalleryItem] {
    var items: [ConsoleGalleryItem] = []
    for foundItem in reply.items {
      let index: Int
      if let known = items.firstIndex(where: { $0.bundle == foundItem.bundle && $0.kind == foundItem.widgetKind }) {
        index = known
      } else {
        index = items.count
        items.append(
          ConsoleGalleryItem(
            bundle: foundItem.bundle, kind: foundItem.widgetKind, displayName: foundItem.displayName,
            description: foundItem.description, locations: []))
      }
      guard foundItem.section != .leftOut else { continue }
      items[index].locations.append(
        Offer(name: foundItem.location.rawValue, families: foundItem.families.map(\.rawValue)))
    }
    for index in items.indices where items[index].locations.isEmpty {
      items[index].problem =
        reply.items.first { $0.bundle == items[index].bundle && $0.widgetKind == items[index].kind }?.reason
        ?? "no location offers it"
    }
    let failures = (reply.failures ?? []).map { failure in
      ConsoleGalleryItem(
        bundle: failure.address.bundleIdentifier ?? failure.address.text, kind: "", displayName: failure.address.short,
        description: "", locations: [], problem: "\(failure.error)")
    }
    return items + failures
  }
}

extension ConsoleBudget {
  /// The accounts of the host, and its clock.
  init(_ reply: ListBudget.Reply, _ clock: ClockState, capacity: Double?) {
    self.init(
      now: reply.now.timeIntervalSince1970, policy: reply.policy, isDeveloperMode: reply.isDeveloperMode,
      clock: Clock(
        now: clock.now.timeIntervalSince1970, isHeld: clock.isHeld, rate: clock.rate, text: clock.text),
      accounts: reply.accounts.map { account in
        Account(
          placement: account.placement, kind: account.widgetKind, balance: account.balance, perDay: account.perDay,
          spent: account.spent, next: account.next?.timeIntervalSince1970, nextBecause: account.nextBecause?.rawValue,
          withheld: account.withheld?.rawValue, capacity: capacity)
      })
  }
}

/// What the push server says.
struct PushAnswer: Sendable {
  let records: [PushRecord]
  let tokens: [DeviceToken]
  let overrides: [OverrideResponses]

  /// Asks the push server.
  init(_ shared: SharedOperatorSession, _ limit: Int) async throws {
    let session = try await shared.session(within: .seconds(2))
    guard session.cluster.configuration.pushServer != nil else {
      throw ConsoleError(503, "this cluster has no push server", advice: "add `pushServer: {}` to the configuration")
    }
    async let tokens = session.connection.request(ListTokens(), to: .pushServer, within: .seconds(2))
    async let newest = session.connection.request(ListPushes(limit: 1), to: .pushServer, within: .seconds(2))
    records = try await PushLog(session: session).records(nil, limit).reversed()
    self.tokens = try await tokens.tokens
    overrides = try await newest.overrides ?? []
  }
}

extension ConsolePushes {
  /// The answer of the push server.
  init(_ answer: PushAnswer) {
    self.init(
      isReachable: true, pushes: answer.records.map { Push($0) },
      tokens: answer.tokens.map { token in
        Token(
          token: token.token, bundle: token.subject.bundle, use: token.subject.use.rawValue,
          environment: token.environment.rawValue, state: token.state.rawValue)
      },
      answers: answer.overrides.map { Answer(status: $0.status, reason: $0.reason, remaining: $0.times) },
      reasons: APNsReason.allCases.sorted { ($0.status, $0.rawValue) < ($1.status, $1.rawValue) }.map { reason in
        Reason(status: reason.status, reason: reason.rawValue, meaning: reason.meaning, rule: reason.rule)
      })
  }
}

extension ConsolePushes.Push {
  fileprivate init(_ record: PushRecord) {
    self.init(
      number: record.number, id: record.uniqueID.text, type: record.type,
      subject: record.subject.map { "\($0.bundle) (\($0.use.rawValue))" }, status: record.status,
      reason: record.reason,
      steps: record.steps.map {
        ConsolePushes.Step(name: $0.name.rawValue, at: $0.at.timeIntervalSince1970, detail: $0.detail)
      })
    let reason = record.reason.flatMap { APNsReason(rawValue: $0) }
    meaning = reason?.meaning
    rule = reason?.rule
  }
}
