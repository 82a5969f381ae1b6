// SPDX-License-Identifier: Apache-2.0

import Foundation
import Hummingbird
import Journal
import JournalAnalysis
import Messages
import NIOCore
import ShownText

// The answers from the analysis of the journal.
extension ConsoleResponder {
  private var journal: ConsoleJournal { server.journal }

  private struct History: Encodable {
    struct Lane: Encodable {
      let address: String
      let name: String
      let runs: [ProcessHistory.Run]
    }
    let from: Double
    let to: Double
    let lanes: [Lane]
  }

  func history() async throws -> Response {
    let summary = await journal.summary()
    let lanes = summary.processes.order.map { address in
      History.Lane(address: address.text, name: address.short, runs: summary.processes.lanes[address] ?? [])
    }
    return try Response(json: History(from: summary.begin ?? 0, to: summary.time ?? 0, lanes: lanes))
  }

  private struct Traces: Encodable { let traces: [TraceList.Entry] }

  func traces(_ query: ConsoleQuery) async throws -> Response {
    let limit = min(max(try query.number("limit").map { Int(clamping: $0) } ?? 200, 1), 2000)
    return try Response(json: Traces(traces: await journal.summary().traces.newest(limit)))
  }

  func trace(_ id: String) async throws -> Response {
    let summary = await journal.summary()
    guard let entry = summary.traces[id] else {
      throw ConsoleError(
        404, "the journal has no trace \(id.start(bytes: 80))", advice: "the page of traces lists those that are known")
    }
    let owner = summary.addresses.first { $0.short == entry.owner }
    return try Response(
      json: try TraceReader(pages: journal.pages).answer(entry, owner, suffix: server.facts.commandSuffix))
  }

  func message(_ text: String) async throws -> Response {
    guard let sequence = UInt64(text), sequence < UInt64(Int64.max) else {
      throw ConsoleError(404, "\(text.start(bytes: 40)) is not the number of a message")
    }
    let detail = try MessageDetail(sequence, journal.pages, await journal.summary().traces)
    return Response(
      status: .ok, headers: [.contentType: "application/json; charset=utf-8"],
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: try detail.json)))
  }

  private struct Diagnoses: Encodable { let diagnoses: [DiagnosisReport] }

  func diagnoses() async throws -> Response {
    try Response(
      json: Diagnoses(diagnoses: await journal.summary().diagnostician.diagnoses.map(DiagnosisReport.init)))
  }

  // MARK: Budget

  private struct Budget: Encodable {
    let now: Double
    let policy: String?
    let isDeveloperMode: Bool
    let clock: ConsoleBudget.Clock?
    let accounts: [ConsoleBudget.Account]
    let entries: [LedgerHistory.Line]
    let notice: String?
  }

  func budget() async throws -> Response {
    let live = await live { try await $0.budget() }
    let summary = await journal.summary()
    let budget = live.value
    return try Response(
      json: Budget(
        now: budget?.now ?? summary.time ?? 0, policy: budget?.policy,
        isDeveloperMode: budget?.isDeveloperMode ?? false,
        clock: budget?.clock, accounts: budget?.accounts ?? [], entries: summary.ledger.lines, notice: live.notice))
  }

  /// The messages that may show the result of a reload, after its last decision.
  private static let outcomeReach: UInt64 = 20_000

  func reload(_ text: String) async throws -> Response {
    let summary = await journal.summary()
    guard let number = Int(text), let lines = Optional(summary.ledger.lines(ofReload: number)), let last = lines.last,
      let first = lines.first
    else {
      throw ConsoleError(404, "the journal does not contain reload \(text.start(bytes: 40))")
    }
    var envelopes: [Envelope] = []
    if let asked = first.asked, asked < first.sequence { envelopes = try journal.pages.read(asked...asked) }
    let kinds: [StaticString] = [
      "budget.decided", "timeline.request", "timeline.stored", "timeline.failed", "timeline.reload",
    ]
    envelopes += try journal.pages.select(first.sequence...last.sequence + Self.outcomeReach) { head in
      kinds.contains { head.hasKind($0) }
    }
    guard let history = ReloadHistory(number, in: envelopes) else {
      throw ConsoleError(404, "the journal no longer contains reload \(number)")
    }
    return try Response(json: history)
  }

  // MARK: Pushes

  func pushes(_ query: ConsoleQuery) async throws -> Response {
    let limit = min(max(try query.number("limit").map { Int(clamping: $0) } ?? 50, 1), 500)
    let live = await live { try await $0.pushes(limit: limit) }
    let summary = await journal.summary()
    var answer = live.value ?? Self.pushes(summary.pushes, limit)
    answer.pushes = answer.pushes.map { push in
      var push = push
      push.trace = UUID(uuidString: push.id).flatMap { summary.traces.entry(ofCorrelation: $0)?.id }
      return push
    }
    return try Response(json: answer)
  }

  private static func pushes(_ history: PushHistory, _ limit: Int) -> ConsolePushes {
    let pushes = history.newest(limit).map { push in
      ConsolePushes.Push(
        number: nil, id: push.id.text, type: push.type,
        subject: push.subject.map { "\($0.bundle) (\($0.use.rawValue))" },
        status: push.steps.contains { $0.name == .accepted } ? 200 : nil, reason: nil,
        steps: push.steps.map {
          ConsolePushes.Step(name: $0.name.rawValue, at: $0.at.timeIntervalSince1970, detail: $0.detail)
        })
    }
    let tokens = history.tokens.map {
      ConsolePushes.Token(
        token: $0.token, bundle: $0.subject.bundle, use: $0.subject.use.rawValue, environment: $0.environment.rawValue,
        state: $0.state.rawValue)
    }
    return ConsolePushes(isReachable: false, pushes: pushes, tokens: tokens, answers: [], reasons: [])
  }

  // MARK: The running cluster

  private struct Processes: Encodable {
    let time: Double
    let processes: [ConsoleProcess]
  }

  func processes() async throws -> Response {
    let time = Date.now.timeIntervalSince1970
    if let cluster = server.cluster {
      return try Response(json: Processes(time: time, processes: try await cluster.processes(journal)))
    }
    return try Response(json: Processes(time: time, processes: ConsoleProcess.all(in: await journal.summary())))
  }

  func screen(_ query: ConsoleQuery) async throws -> Response {
    if let location = query["location"], WidgetPlaces.names.contains(location) == false {
      throw ConsoleError(
        400, "\(location.start(bytes: 40)) is not a location",
        advice: "one of: \(WidgetPlaces.names.joined(separator: ", "))"
      )
    }
    if let cluster = server.cluster {
      do {
        return try Response(json: try await cluster.screen(query["location"], journal))
      } catch let error as ConsoleError where error.status == 503 {
        var screen = ConsoleScreen(await journal.summary(), query["location"], server.facts.device)
        screen.notice = error.what
        return try Response(json: screen)
      }
    }
    return try Response(json: ConsoleScreen(await journal.summary(), query["location"], server.facts.device))
  }

  func picture(_ name: String) async throws -> Response {
    guard name.hasSuffix(".svg"), let bytes = await server.cluster?.picture(String(name.dropLast(4))) else {
      throw ConsoleError(404, "this picture is no longer kept", advice: "read the screen again")
    }
    return Response(
      status: .ok,
      headers: [
        .contentType: "image/svg+xml", .cacheControl: "private, max-age=31536000, immutable",
        // An author's text can never be script, also when the picture is opened as a page.
        .contentSecurityPolicy: "sandbox; default-src 'none'; style-src 'none'",
      ], body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
  }

  private struct Gallery: Encodable { let widgets: [ConsoleGalleryItem] }

  func gallery() async throws -> Response {
    guard let cluster = server.cluster else { return try Response(json: Gallery(widgets: [])) }
    return try Response(json: Gallery(widgets: try await cluster.gallery()))
  }

  /// What the cluster answers, or why it does not.
  private func live<T: Sendable>(
    _ ask: (any ConsoleOperator) async throws -> T
  ) async -> (value: T?, notice: String?) {
    guard let cluster = server.cluster else { return (nil, nil) }
    do {
      return (try await ask(cluster), nil)
    } catch let error as ConsoleError {
      return (nil, error.what)
    } catch {
      return (nil, "\(error)")
    }
  }
}
