// SPDX-License-Identifier: Apache-2.0

import Foundation
import Hummingbird
import Journal
import JournalAnalysis
import Messages
import NIOCore
import ShownText

extension ConsoleResponder {
  private var journal: ConsoleJournal { server.journal }

  func read(_ path: String, _ request: Request, _ context: ConsoleContext) async throws -> Response {
    let query = ConsoleQuery(request.uri.query ?? "")
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst(2).map(String.init)
    switch (parts.first ?? "", parts.count) {
    case ("state", 1): return try Response(json: try await state())
    case ("messages", 1): return try Response(json: try messages(query))
    case ("events", 1): return try events(request, query, context)
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

  private func events(_ request: Request, _ query: ConsoleQuery, _ context: ConsoleContext) throws -> Response {
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
          streams.writing(id, true)
          try await writer.write(bytes)
          streams.writing(id, false)
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
