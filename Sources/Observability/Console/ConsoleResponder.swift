// SPDX-License-Identifier: Apache-2.0

import Archive
import CConsolePage
import Foundation
import Hummingbird
import HummingbirdCore
import Journal
import JournalAnalysis
import Logging
import Messages
import NIOCore

/// The connection of a request, in addition to what Hummingbird needs.
struct ConsoleContext: InitializableFromSource {
  let channel: any Channel

  init(source: ApplicationRequestContextSource) { channel = source.channel }
}

/// Answers each request: first its right to be answered, then its content.
struct ConsoleResponder: HTTPResponder {
  let server: ConsoleServer
  let streams: StreamRegister
  let hosts: SharedHosts

  /// Of the body of a POST.
  private static let bodyLimit = 64 * 1024

  func respond(to request: Request, context: ConsoleContext) async throws -> Response {
    var response: Response
    do {
      response = try await answer(request, context)
    } catch let error as ConsoleError {
      response = Response(error)
    } catch {
      response = Response(ConsoleError(500, "the console failed: \(error)", advice: "reload the page"))
    }
    for (name, value) in Self.headers where response.headers[name] == nil { response.headers[name] = value }
    // RFC 9110, section 9.3.2
    return request.method == .head ? response.createHeadResponse() : response
  }

  /// The headers of all responses.
  private static let headers: [(HeaderName, String)] = [
    (
      .contentSecurityPolicy,
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
        + "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    ),
    (.referrerPolicy, "no-referrer"), (.xContentTypeOptions, "nosniff"), (.cacheControl, "no-store"),
    (.crossOriginResourcePolicy, "same-origin"), (.crossOriginOpenerPolicy, "same-origin"),
  ]

  private func answer(_ request: Request, _ context: ConsoleContext) async throws -> Response {
    // A second Host header would be among the fields.
    guard let host = request.head.authority, hosts.allows(host), request.headers[.host] == nil else {
      throw ConsoleError(
        421, "this console does not have the name that the request uses",
        advice: "open the link that `widgetlab console` printed; --allow-host NAME permits another name")
    }
    let path = request.uri.path
    switch request.method {
    case .head where !path.hasPrefix("/api/"): return try file(path, request)
    case .get:
      guard path.hasPrefix("/api/") else { return try file(path, request) }
      if path == "/api/health" { return try Response(json: ["status": "ok"]) }
      try checkSession(request)
      return try await read(path, request: request, context: context)
    case .post:
      try checkOrigin(request, host)
      return try await post(path, request)
    default:
      throw ConsoleError(405, "the method \(request.method.rawValue) has no meaning here", advice: "use GET or POST")
    }
  }

  private func checkSession(_ request: Request) throws {
    guard server.settings.token.isSession(request.headers[values: .cookie]) else {
      throw ConsoleError(
        401, "this browser has no session of this console",
        advice: "open the link that `widgetlab console` printed, with its token")
    }
  }

  /// A page of another site can send a POST, but only with its own origin.
  private func checkOrigin(_ request: Request, _ host: String) throws {
    guard let origin = request.headers[.origin]?.lowercased(),
      ["http://\(host.lowercased())", "https://\(host.lowercased())"].contains(origin)
    else {
      throw ConsoleError(403, "the request does not come from a page of this console", advice: "use the page")
    }
    let type = request.headers[.contentType]?.split(separator: ";").first.map {
      $0.trimmingCharacters(in: .whitespaces)
    }
    guard type?.lowercased() == "application/json" else {
      throw ConsoleError(403, "the body of a request must be application/json")
    }
  }

  // MARK: Files

  private static let pages = ["screen", "processes", "traces", "bus", "budget", "pushes"]

  private func file(_ path: String, _ request: Request) throws -> Response {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
    let name: String
    if path == "/" || Self.pages.contains(parts.first ?? ""), parts.count <= 2 {
      name = "index.html"
    } else if parts.count == 2, parts[0] == "assets" {
      name = parts[1]
    } else {
      throw ConsoleError(404, "there is no page \(path.start(bytes: 200))")
    }
    guard let file = ConsoleFile.all[name] else {
      throw ConsoleError(404, "there is no file \(path.start(bytes: 200))")
    }
    let headers: HTTPFields = [.contentType: file.type, .eTag: file.tag, .cacheControl: "no-cache"]
    if request.headers[.ifNoneMatch] == file.tag { return Response(status: .notModified, headers: headers) }
    return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: file.bytes)))
  }

  // MARK: Posts

  private func post(_ path: String, _ request: Request) async throws -> Response {
    switch path {
    case "/api/session":
      struct Sent: Decodable { let token: String }
      let sentBody = try await body(Sent.self, of: request)
      let token = server.settings.token
      guard token.matches(sentBody.token) else {
        throw ConsoleError(
          401, "the token of the link is not that of this console", advice: "open the link that it printed last")
      }
      let cookie = "\(token.cookieName)=\(token.cookie); HttpOnly; SameSite=Strict; Path=/"
      return Response(status: .noContent, headers: [.setCookie: cookie])
    case "/api/actions":
      try checkSession(request)
      struct Sent: Decodable { let arguments: [String] }
      let sentBody = try await body(Sent.self, of: request)
      guard let cluster = server.cluster, server.facts.readOnlyReason == nil else {
        let reason = server.facts.readOnlyReason ?? "no cluster is connected"
        throw ConsoleError(409, "this console performs no actions: \(reason)", advice: "start one with `widgetlab up`")
      }
      return try Response(json: try await cluster.perform(sentBody.arguments))
    default: throw ConsoleError(404, "there is nothing at \(path.start(bytes: 200))")
    }
  }

  private func body<T: Decodable & Sendable>(_ type: T.Type, of request: Request) async throws -> T {
    if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > Self.bodyLimit {
      throw ConsoleError(413, "the body has more than \(Self.bodyLimit) bytes")
    }
    let limit = server.settings.bodyLimit
    let bytes = try await withThrowingTaskGroup(of: ByteBuffer.self) { group in
      group.addTask {
        do {
          return try await request.body.collect(upTo: Self.bodyLimit)
        } catch is NIOTooManyBytesError {
          throw ConsoleError(413, "the body has more than \(Self.bodyLimit) bytes")
        }
      }
      group.addTask {
        try await Task.sleep(for: limit)
        throw ConsoleError(408, "the body did not arrive within \(limit)")
      }
      defer { group.cancelAll() }
      guard let bytes = try await group.next() else { throw CancellationError() }
      return bytes
    }
    do {
      return try JSONDecoder().decode(type, from: Data(bytes.readableBytesView))
    } catch {
      throw ConsoleError(400, "the body is not the JSON that this address takes")
    }
  }
}

/// The name of a header.
typealias HeaderName = HTTPFields.Element.Name

extension HeaderName {
  fileprivate static let host = HeaderName("Host") ?? .connection
  fileprivate static let referrerPolicy = HeaderName("Referrer-Policy") ?? .connection
  fileprivate static let crossOriginOpenerPolicy = HeaderName("Cross-Origin-Opener-Policy") ?? .connection
  /// Where a stream of events continues.
  static let lastEventID = HeaderName("Last-Event-ID") ?? .connection
}

extension Response {
  /// A value as JSON.
  init(json value: some Encodable, status: HTTPResponse.Status = .ok) throws {
    self.init(
      status: status, headers: [.contentType: "application/json; charset=utf-8"],
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: try ConsoleJSON.bytes(value))))
  }

  init(_ error: ConsoleError) {
    let body = (try? ConsoleJSON.bytes(["error": error])) ?? []
    self.init(
      status: HTTPResponse.Status(code: error.status), headers: [.contentType: "application/json; charset=utf-8"],
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
  }
}

/// A file of the page.
struct ConsoleFile {
  let bytes: [UInt8]
  let type: String
  /// Its hash.
  let tag: String

  /// By name.
  static let all: [String: ConsoleFile] = {
    var all: [String: ConsoleFile] = [:]
    while let pointer = console_file_at(all.count) {
      let (name, file) = file(pointer.pointee)
      all[name] = file
    }
    return all
  }()

  private static func file(_ file: console_file) -> (String, ConsoleFile) {
    let name = String(cString: file.name)
    let bytes = Array(UnsafeBufferPointer(start: file.bytes, count: file.length))
    let types = [
      "html": "text/html; charset=utf-8", "js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8",
      "svg": "image/svg+xml",
    ]
    let type = types[name.split(separator: ".").last.map(String.init) ?? ""] ?? "application/octet-stream"
    let hash = String(ContentDigest.hexadecimal(of: Data(bytes)).prefix(32))
    return (name, ConsoleFile(bytes: bytes, type: type, tag: "\"\(hash)\""))
  }
}

extension ConsoleResponder {
  private var journal: ConsoleJournal { server.journal }

  func read(_ path: String, request: Request, context: ConsoleContext) async throws -> Response {
    let query = ConsoleQuery(request.uri.query ?? "")
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst(2).map(String.init)
    switch (parts.first ?? "", parts.count) {
    case ("state", 1): return try Response(json: try await state())
    case ("messages", 1): return try Response(json: try messages(query))
    case ("events", 1): return try events(request, query: query, context: context)
    case ("messages", 2): return try await message(parts[1])
    case ("processes", 1): return try await processes()
    case ("history", 1): return try await history()
    case ("traces", 1): return try await traces(query)
    case ("traces", 2): return try await trace(parts[1])
    case ("screen", 1): return try await screen(query)
    case ("pictures", 2): return try await picture(parts[1])
    case ("gallery", 1): return try await gallery()
    case ("budget", 1): return try await budget()
    case ("reloads", 2): return try await reload(parts[1])
    case ("pushes", 1): return try await pushes(query)
    case ("diagnoses", 1): return try await diagnoses()
    default: throw ConsoleError(404, "there is nothing at \(path.start(bytes: 200))")
    }
  }

  // MARK: State

  private struct State: Encodable {
    struct Journal: Encodable {
      let folder: String
      let generation: Int
      let first: UInt64
      let last: UInt64
    }
    struct Analysis: Encodable {
      let sequence: UInt64
      let isComplete: Bool
    }
    struct Field: Encodable {
      let name: String
      let shape: String
      let meaning: String
    }
    let version: String
    let instance: String
    let configuration: String?
    let isReadOnly: Bool
    let readOnlyReason: String?
    let commandSuffix: String
    let device: ConsoleFacts.Device?
    let journal: Journal
    let analysis: Analysis
    let isBusConnected: Bool
    let isHostConnected: Bool
    let addresses: [String]
    let kinds: [String]
    let fields: [Field]
    let operators: [String]
  }

  private func state() async throws -> State {
    let contents = journal.contents
    let bounds = try contents.pages.bounds()
    let summary = await journal.summary()
    let isBusConnected = await server.cluster?.isBusConnected() ?? false
    let facts = server.facts
    return State(
      version: facts.version, instance: facts.instance, configuration: facts.configuration,
      isReadOnly: facts.readOnlyReason != nil, readOnlyReason: facts.readOnlyReason, commandSuffix: facts.commandSuffix,
      device: facts.device,
      journal: State.Journal(
        folder: journal.folder.path(percentEncoded: false), generation: contents.generation,
        first: bounds?.lowerBound ?? 0, last: bounds?.upperBound ?? 0),
      analysis: State.Analysis(
        sequence: await contents.analyst.position, isComplete: await contents.analyst.isComplete),
      isBusConnected: isBusConnected, isHostConnected: isBusConnected && summary.isHostConnected,
      addresses: summary.addresses.map(\.short).sorted(), kinds: summary.kinds.sorted(),
      fields: FilterField.allCases.map {
        State.Field(name: $0.rawValue, shape: $0.shape.rawValue, meaning: $0.meaning)
      },
      operators: FilterComparison.Relation.allCases.map(\.rawValue) + ["&&", "||", "!"])
  }

  // MARK: Messages

  private func messages(_ query: ConsoleQuery) throws -> MessageReader.Page {
    let directions: [MessageReader.Direction] = try [
      query.number("before").map(MessageReader.Direction.before), query.number("after").map { .after($0) },
      query.number("around").map { .around($0) },
    ].compactMap(\.self)
    guard directions.count < 2 else { throw ConsoleError(400, "give one of before, after and around") }
    let limit = min(max(try query.number("limit").map { Int(clamping: $0) } ?? 200, 1), 1000)
    return try MessageReader(pages: journal.pages).page(
      directions.first ?? .newest, limit: limit, where: try query.filter())
  }

  // MARK: Events

  private func events(_ request: Request, query: ConsoleQuery, context: ConsoleContext) throws -> Response {
    var subscription = EventStream.Subscription()
    subscription.wantsRows = query["rows"] == "1"
    subscription.filter = try query.filter()
    subscription.after = try query.number("after")
    if let last = request.headers[.lastEventID].flatMap({ UInt64($0) }) {
      (subscription.after, subscription.isResumed) = (last, true)
    }
    let contents = journal.contents
    let stream = EventStream(subscription, contents)
    guard let id = streams.enter(context.channel) else {
      var response = Response(
        ConsoleError(503, "too many pages of this console are open", advice: "close some of them"))
      response.headers[.connection] = "close"
      return response
    }
    let (streams, feed) = (streams, contents.feed)
    let body = ResponseBody { writer in
      let (client, signals) = feed.join(isClient: true)
      defer {
        feed.leave(client)
        streams.leave(id)
      }
      var stream = stream
      // The operation below runs before this closure goes on, so only one of them uses it at a time.
      nonisolated(unsafe) var writer = writer
      try await request.body.consumeWithInboundCloseHandler { _ in
        try await stream.run(signals) { bytes in
          streams.writing(id, isWriting: true)
          try await writer.write(bytes)
          streams.writing(id, isWriting: false)
        }
      } onInboundClosed: {
        feed.leave(client)
      }
      try await writer.finish(nil)
    }
    return Response(
      status: .ok, headers: [.contentType: "text/event-stream; charset=utf-8", .connection: "close"], body: body)
  }
}

/// The query of an address.
struct ConsoleQuery {
  private var values: [String: String] = [:]

  init(_ text: some StringProtocol) {
    for part in text.split(separator: "&") {
      let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
        String($0.map { $0 == "+" ? " " : $0 }).removingPercentEncoding ?? ""
      }
      values[pair[0]] = pair.count > 1 ? pair[1] : ""
    }
  }

  /// A value that is not empty.
  subscript(name: String) -> String? { values[name].flatMap { $0.isEmpty ? nil : $0 } }

  /// A number.
  ///
  /// - Throws: 400 for another text.
  func number(_ name: String) throws -> UInt64? {
    guard let text = self[name] else { return nil }
    guard let number = UInt64(text), number < UInt64(Int64.max) else {
      throw ConsoleError(400, "\(name) is not a number: \(text.start(bytes: 40))")
    }
    return number
  }

  /// The filter of `where`.
  ///
  /// - Throws: 400 with the position of a mistake.
  func filter() throws -> FilterExpression? {
    guard let text = self["where"] else { return nil }
    do throws(FilterError) {
      return try FilterExpression(text)
    } catch {
      var failure = ConsoleError(400, error.message, advice: error.allowed)
      failure.place = ConsoleError.Place(from: error.place.lowerBound, to: error.place.upperBound)
      throw failure
    }
  }
}

// The answers from the analysis of the journal.
extension ConsoleResponder {
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
    let detail = try MessageDetail(sequence, pages: journal.pages, traces: await journal.summary().traces)
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

  private func reload(_ text: String) async throws -> Response {
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
        var screen = ConsoleScreen(await journal.summary(), location: query["location"], device: server.facts.device)
        screen.notice = error.what
        return try Response(json: screen)
      }
    }
    return try Response(
      json: ConsoleScreen(await journal.summary(), location: query["location"], device: server.facts.device))
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
