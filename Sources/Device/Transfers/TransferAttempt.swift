import AsyncHTTPClient
import Conversations
import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL

/// One attempt of one task: a request goes out, with what redirects and challenges make of it, and the body of the
/// answer is written to the task's file. The length of the file is the truth about how far a download is.
///
/// Nothing is synchronised to the disk: what was written survives the death of any process, as the room's database does,
/// and not a power cut of the machine.
struct TransferAttempt: Sendable {
  let request: TransferRequest
  /// Of an upload: the file that is the body.
  var upload: String?
  let configuration: SessionConfiguration
  /// Where the body of the response goes.
  let path: String
  let network: TransferNetwork
  /// A body of at most so many bytes begins anew rather than to be resumed: its head is not stored.
  var resumableFrom: Int64 = 65_536
  /// After so many redirections it fails with -1007.
  var redirectLimit = 16
  /// Told what happens, in order; how much has come or gone with each piece.
  let report: @Sendable (AttemptEvent) -> Void
  /// Puts the head of a response on disk, before the first byte of a body that is worth being resumed.
  let setHead: @Sendable (TransferResponse?, String?) async throws -> Void
  /// Asks whoever owns the task; the attempt waits, and its idle limit with it.
  var answer: @Sendable (Challenge) async throws -> AnswerChallenge.Reply = { _ in
    AnswerChallenge.Reply(disposition: .performDefaultHandling)
  }

  /// What an attempt has before it begins.
  struct Known: Sendable {
    var response: TransferResponse?
    var validator: String?
  }

  /// Asks once, from where the file ends, and writes what comes.
  ///
  /// - Parameter limit: seconds until the whole attempt must be over, by the machine's clock.
  /// - Throws: `TransferFault`: what happened as the author is to see it, and whether another attempt may mend it.
  ///   `HeadNotStored`, which is no fault of the transfer.
  @concurrent func perform(knowing known: Known, within limit: Double) async throws -> AttemptResult {
    let idle = max(0.001, request.timeoutInterval ?? configuration.timeoutIntervalForRequest)
    let watch = network.watch(idle: idle, within: limit)
    do {
      return try await watch.run { try await run(known, watch) }
    } catch let error as HeadNotStored {
      throw error
    } catch {
      throw TransferFault(error)
    }
  }

  private func run(_ known: Known, _ watch: AttemptWatch) async throws -> AttemptResult {
    let file = try PartFile(path)
    var part = StoredPart(
      bytes: try file.size(), validator: known.validator, expectedLength: known.response?.expectedLength ?? -1)
    if let response = known.response, part.expectedLength > 0, part.bytes == part.expectedLength {
      try file.digest(upTo: part.bytes)
      return AttemptResult(response: response, sha256: file.sha256, bytes: part.bytes)
    }
    report(part.resumesAt > 0 ? .resumed(at: part.bytes) : part.bytes > 0 ? .restarted : .started)
    if part.resumesAt == 0 { try file.truncate() }
    // The file was cut off already when there was nothing to resume.
    part = StoredPart(bytes: part.resumesAt, validator: part.validator, expectedLength: part.expectedLength)
    var exchange = try Exchange(request, configuration, rangeHeaders: part.rangeHeaders, isUpload: upload != nil)
    let response = try await converse(&exchange, watch)
    let headers = response.headers.map { [$0.name, $0.value] }
    var head = exchange.head(Int(response.status.code), headers)
    switch ResponseVerdict(status: head.status, headers: headers, part: part) {
    case .append:
      try file.digest(upTo: part.bytes)
      head = known.response ?? head
    case .begin(let discarding):
      try file.truncate()
      let isWorthIt = head.expectedLength < 0 || head.expectedLength > resumableFrom
      if isWorthIt || known.response != nil {
        try await store(head, exchange.isEncoded(headers) ? nil : HeaderList(headers).validator)
      }
      if discarding { report(.restarted) }
    case .again:
      try file.truncate()
      try await store(nil, nil)
      throw TransferFault.rangeRefused
    }
    try await receive(response, into: file, of: head, watch)
    let bytes = try file.size()
    guard head.expectedLength < 0 || exchange.hasNoBody(head.status) || bytes == head.expectedLength else {
      throw TransferFault(.networkConnectionLost, "got \(bytes) bytes of \(head.expectedLength)")
    }
    return AttemptResult(
      response: head, currentRequest: exchange.currentRequest, redirectCount: exchange.redirectCount,
      sha256: file.sha256, bytes: bytes)
  }

  private func store(_ head: TransferResponse?, _ validator: String?) async throws {
    do {
      try await setHead(head, validator)
    } catch {
      throw HeadNotStored(error: error)
    }
  }

  /// Sends the request until the answer is neither a redirection nor a challenge that somebody meets.
  private func converse(_ exchange: inout Exchange, _ watch: AttemptWatch) async throws -> HTTPClientResponse {
    while true {
      let response: HTTPClientResponse
      do {
        response = try await network.client.execute(try outgoing(exchange, watch), deadline: .distantFuture)
      } catch {
        guard TransferFault.isTrustFault(error), !exchange.isTrusted, try await trusts(exchange, watch) else {
          throw error
        }
        exchange.trust()
        continue
      }
      watch.touch()
      let status = Int(response.status.code)
      if try exchange.redirect(status, to: response.headers.first(name: "Location"), limit: redirectLimit) {
        if let current = exchange.currentRequest { report(.redirected(current)) }
      } else {
        guard status == 401, let offer = AuthenticationOffer(response.headers["WWW-Authenticate"]) else {
          return response
        }
        let challenge = exchange.challenge(offer)
        let reply = try await watch.outside { try await answer(challenge) }
        if reply.disposition == .cancelAuthenticationChallenge { throw TransferFault.challengeCancelled }
        guard reply.disposition == .useCredential, let user = reply.user else { return response }
        exchange.authorise(offer, user: user, password: reply.password ?? "")
      }
      // So that the connection can be used again; a long body is not waited for.
      var left = 64 << 10
      for try await piece in response.body where left > 0 { left -= piece.readableBytes }
    }
  }

  private func trusts(_ exchange: Exchange, _ watch: AttemptWatch) async throws -> Bool {
    let challenge = exchange.challenge(nil)
    let reply = try await watch.outside { try await answer(challenge) }
    if reply.disposition == .cancelAuthenticationChallenge { throw TransferFault.challengeCancelled }
    return reply.disposition == .useCredential
  }

  private func outgoing(_ exchange: Exchange, _ watch: AttemptWatch) throws -> HTTPClientRequest {
    var outgoing = HTTPClientRequest(url: exchange.url.absoluteString)
    outgoing.method = HTTPMethod(rawValue: exchange.method)
    for pair in exchange.headers { outgoing.headers.add(name: pair[0], value: pair[1]) }
    if exchange.sendsBody, let upload {
      let body = try UploadBody(upload, network.throttle, watch, report)
      outgoing.body = .stream(body, length: .known(body.length))
    } else if exchange.sendsBody, let body = request.body {
      outgoing.body = .bytes(ByteBuffer(bytes: body))
    }
    if exchange.isTrusted {
      var configuration = TLSConfiguration.makeClientConfiguration()
      configuration.certificateVerification = .none
      outgoing.tlsConfiguration = configuration
    }
    return outgoing
  }

  private func receive(
    _ response: HTTPClientResponse, into file: PartFile, of head: TransferResponse, _ watch: AttemptWatch
  ) async throws {
    let first = try file.size()
    var bytes = first
    for try await var piece in response.body {
      watch.touch()
      while let slice = piece.readSlice(length: min(piece.readableBytes, network.throttle.slice)),
        slice.readableBytes > 0
      {
        try await watch.outside { try await network.throttle.spend(slice.readableBytes) }
        try await file.append(slice)
        bytes += Int64(slice.readableBytes)
        report(.received(bytes, of: head.expectedLength))
      }
    }
    // A body whose reader was cancelled ends as if it were whole.
    try Task.checkCancellation()
    if bytes == first { report(.received(bytes, of: head.expectedLength)) }
  }
}

/// What an attempt reports while it is under way. Bytes.
enum AttemptEvent: Sendable, Hashable {
  /// The request goes out from byte 0.
  case started
  /// With `Range`.
  case resumed(at: Int64)
  /// From byte 0 again: what was there is worth nothing.
  case restarted
  /// `currentRequest`.
  case redirected(TransferRequest)
  case sent(Int64, of: Int64)
  /// `of` is -1 when the server did not say.
  case received(Int64, of: Int64)
}

/// An attempt that ended with a response, whatever its status.
struct AttemptResult: Sendable {
  /// The head of the response that the file belongs to.
  let response: TransferResponse
  /// The last request that went out; `nil` when it is the original.
  var currentRequest: TransferRequest?
  var redirectCount = 0
  /// Of the file, as hexadecimal digits.
  let sha256: String
  let bytes: Int64
}

/// What `setHead` threw.
struct HeadNotStored: Error {
  let error: any Error
}
