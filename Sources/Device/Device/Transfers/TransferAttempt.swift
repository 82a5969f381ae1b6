// SPDX-License-Identifier: Apache-2.0

import Archive
import AsyncHTTPClient
import DefaultsLog
import DeviceRules
import Foundation
import Messages
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Synchronization
import Timekeeping

/// One attempt of one task: sends the request, follows redirects and challenges, and writes the body of the response to
/// the task's file, or into memory if it is short. The length of the file determines the progress of a download.
struct TransferAttempt: Sendable {
  let request: TransferRequest
  /// The file that is the body of an upload.
  var upload: String?
  let configuration: SessionConfiguration
  /// The file for the body of the response, if it is long or incomplete.
  let path: String
  let network: TransferNetwork
  /// A body of at most this many bytes is not resumed, so its head is not stored.
  var resumableFrom: Int64 = 65_536
  /// `nil`: requests send and keep no cookies.
  var cookies: AttemptCookies?
  /// The attempt fails with -1007 after this many redirects.
  var redirectLimit = 16
  /// An encoded body may become at most this many times as long; 0 for no limit.
  var expansionLimit = 200
  /// The disk's space for the file and for its copy; `nil` for no limit.
  var space: @Sendable () -> TransferSpace? = { nil }
  /// Receives the events in order, with the byte count after each piece.
  let report: @Sendable (AttemptEvent) -> Void
  /// Stores the head of a response before the first byte of a body that can be resumed.
  let setHead: @Sendable (TransferResponse?, String?) async throws -> Void
  /// Asks the owner of the task. The idle limit does not run while the attempt waits for the reply.
  var respond: @Sendable (Challenge) async throws -> AnswerChallenge.Reply = { _ in
    AnswerChallenge.Reply(disposition: .performDefaultHandling)
  }
  /// Runs the attempt, except for a long body; `nil` for the shared threads of Swift concurrency.
  var executor: (any TaskExecutor)?

  /// The stored state before the attempt begins.
  struct Known: Sendable {
    var response: TransferResponse?
    var validator: String?
  }

  /// Sends the request from where the file ends, and writes the body.
  ///
  /// - Throws: `TransferFault`: the error for the author, and whether another attempt may succeed. `HeadNotStored`,
  ///   which is not an error of the transfer.
  @concurrent func perform(knowing knownFacts: Known) async throws -> AttemptResult {
    let idle = max(0.001, request.timeoutInterval ?? configuration.timeoutIntervalForRequest)
    let watch = network.watch(idle: idle)
    do {
      return try await watch.run(on: upload == nil ? executor : nil) { try await run(knownFacts, watch) }
    } catch let error as HeadNotStored {
      throw error
    } catch {
      throw TransferFault(error)
    }
  }

  private func run(_ knownFacts: Known, _ watch: AttemptWatch) async throws -> AttemptResult {
    let file = try PartFile(path)
    do {
      return try await load(into: file, knownFacts, watch)
    } catch {
      if TransferFault(error).failure.code == URLError.cannotWriteToFile.rawValue {
        // The space is needed by the databases and by other tasks.
        try? file.truncate()
      } else {
        // Otherwise the next attempt begins at byte 0.
        try? file.keep()
      }
      throw error
    }
  }

  private func load(into file: PartFile, _ knownFacts: Known, _ watch: AttemptWatch) async throws -> AttemptResult {
    // One task after another uses it.
    nonisolated(unsafe) let file = file
    var part = StoredPart(
      bytes: try file.size(), validator: knownFacts.validator, expectedLength: knownFacts.response?.expectedLength ?? -1
    )
    if let response = knownFacts.response, part.expectedLength > 0, part.bytes == part.expectedLength {
      let bytes = part.bytes
      try await perform(isLong: true) {
        try file.digest(upTo: bytes)
        try file.synchronize()
      }
      return AttemptResult(response: response, sha256: file.sha256, bytes: bytes)
    }
    report(part.resumesAt > 0 ? .resumed(at: part.bytes) : part.bytes > 0 ? .restarted : .started)
    if part.resumesAt == 0 { try file.truncate() }
    // The file was already truncated if there was nothing to resume.
    part = StoredPart(bytes: part.resumesAt, validator: part.validator, expectedLength: part.expectedLength)
    var exchange = try HTTPExchange(request, configuration, rangeHeaders: part.rangeHeaders, isUpload: upload != nil)
    let response = try await converse(&exchange, watch)
    let headers = response.headers
    var head = exchange.head(Int(response.status.code), headers)
    switch ResponseVerdict(status: head.status, headers: headers, part: part) {
    case .append: head = knownFacts.response ?? head
    case .begin(let discarding):
      try file.truncate()
      let isWorthIt = head.expectedLength < 0 || head.expectedLength > resumableFrom
      if isWorthIt || knownFacts.response != nil {
        try await store(head, ContentCodings(headers).layers > 0 ? nil : headers.validator)
      }
      // Nothing of it is lost with this process. What is known to be short, or of no known length, begins in memory.
      if head.expectedLength > resumableFrom { try file.create() }
      if discarding { report(.restarted) }
    case .again:
      try file.truncate()
      try await store(nil, nil)
      throw TransferFault.rangeRefused
    }
    let length = exchange.hasNoBody(head.status) ? nil : head.expectedLength < 0 ? nil : head.expectedLength
    if let length { try space()?.require(bodyOf: length, stored: try file.size()) }
    let isLong = !(0...Int64(PartFile.memoryLimit)).contains(head.expectedLength)
    try await perform(isLong: isLong) { [head] in
      try await receive(response, codings: ContentCodings(headers), into: file, of: head, length: length, watch: watch)
    }
    return AttemptResult(
      response: head, currentRequest: exchange.currentRequest, redirectCount: exchange.redirectCount,
      sha256: file.sha256, bytes: try file.size(), content: file.content)
  }

  private func store(_ head: TransferResponse?, _ validator: String?) async throws {
    do {
      try await setHead(head, validator)
    } catch {
      throw HeadNotStored(error: error)
    }
  }

  /// Sends the request until the response is neither a redirect nor a challenge that the owner answers.
  private func converse(_ exchange: inout HTTPExchange, _ watch: AttemptWatch) async throws -> HTTPClientResponse {
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
      cookies?.store(response.headers["Set-Cookie"], from: exchange.url)
      let status = Int(response.status.code)
      if try exchange.redirect(status, to: response.headers.first(name: "Location"), limit: redirectLimit) {
        // The body of the redirect is read below.
      } else {
        guard status == 401, let offer = AuthenticationOffer(response.headers["WWW-Authenticate"]) else {
          return response
        }
        let challenge = exchange.challenge(offer)
        let reply = try await watch.outside { try await respond(challenge) }
        if reply.disposition == .cancelAuthenticationChallenge { throw TransferFault.challengeCancelled }
        guard reply.disposition == .useCredential, let user = reply.user else { return response }
        exchange.authorise(offer, user: user, password: reply.password ?? "")
      }
      // Read the body so that the connection can be reused, but not a long one.
      var left = 64 << 10
      for try await piece in response.body {
        left -= piece.readableBytes
        if left < 0 { break }
      }
    }
  }

  private func trusts(_ exchange: HTTPExchange, _ watch: AttemptWatch) async throws -> Bool {
    let challenge = exchange.challenge(nil)
    let reply = try await watch.outside { try await respond(challenge) }
    if reply.disposition == .cancelAuthenticationChallenge { throw TransferFault.challengeCancelled }
    return reply.disposition == .useCredential
  }

  private func outgoing(_ exchange: HTTPExchange, _ watch: AttemptWatch) throws -> HTTPClientRequest {
    var outgoing = try exchange.outgoing(cookie: cookies?.header(for: exchange.url))
    if exchange.sendsBody, let upload {
      let body = try UploadBody(upload, throttle: network.throttle, watch: watch, report: report)
      outgoing.body = .stream(body, length: .known(body.length))
    } else if exchange.sendsBody, let body = request.body {
      outgoing.body = .bytes(ByteBuffer(bytes: body))
    }
    return outgoing
  }

  /// Works on the file. The executor does short work only: long work is done on the shared threads.
  private func perform(isLong: Bool, _ work: @escaping @Sendable () async throws -> Void) async throws {
    guard executor != nil, isLong else { return try await work() }
    let task = Task { try await work() }
    try await withTaskCancellationHandler(operation: { try await task.value }, onCancel: { task.cancel() })
  }

  /// Checks that a body does not grow without bounds. The first MiB may.
  ///
  /// - Throws: -1016.
  private func require(_ bytes: Int64, decodedFrom encoded: Int64) throws(TransferFault) {
    guard expansionLimit > 0, bytes > max(1 << 20, encoded * Int64(expansionLimit)) else { return }
    throw TransferFault(
      .cannotDecodeContentData, "the decoded body is more than \(expansionLimit) times as long as the encoded one",
      next: .never)
  }

  /// Appends the body to the file, and waits until the disk has it.
  ///
  /// - Parameter length: what the file must have in the end, in bytes; `nil` when that is not known.
  private func receive(
    _ response: HTTPClientResponse, codings: ContentCodings, into file: PartFile, of head: TransferResponse,
    length: Int64?, watch: AttemptWatch
  ) async throws {
    let first = try file.size()
    try file.digest(upTo: first)
    var bytes = first
    var encoded: Int64 = 0
    var decoder = try ContentDecoder(codings)
    for try await var piece in response.body {
      watch.touch()
      while let slice = piece.readSlice(length: min(piece.readableBytes, network.throttle.slice)),
        slice.readableBytes > 0
      {
        try await watch.outside { try await network.throttle.spend(slice.readableBytes) }
        encoded += Int64(slice.readableBytes)
        decoder.add(slice)
        while let decoded = try decoder.next() {
          let next = bytes + Int64(decoded.readableBytes)
          try require(next - first, decodedFrom: encoded)
          try space()?.require(bodyOf: next, stored: bytes)
          try await file.append(decoded)
          bytes = next
          report(.received(bytes, of: head.expectedLength))
        }
      }
    }
    // After a cancellation the body ends as if it were complete.
    try Task.checkCancellation()
    try decoder.finish()
    if bytes == first { report(.received(bytes, of: head.expectedLength)) }
    guard length == nil || bytes == length else {
      throw TransferFault(.networkConnectionLost, "received \(bytes) bytes of \(head.expectedLength)")
    }
    try file.synchronize()
  }
}

/// Progress of an attempt. Counts are in bytes.
enum AttemptEvent: Sendable, Hashable {
  /// The request is sent from byte 0.
  case started
  /// The request is sent with `Range`.
  case resumed(at: Int64)
  /// The request begins again at byte 0: the stored bytes are void.
  case restarted
  case sent(Int64, of: Int64)
  /// `of` is -1 when the server did not report a length.
  case received(Int64, of: Int64)
}

/// An attempt that ended with a response, whatever its status.
struct AttemptResult: Sendable {
  /// The head of the response that the file belongs to.
  let response: TransferResponse
  /// The last request that was sent; `nil` when it is the original.
  var currentRequest: TransferRequest?
  var redirectCount = 0
  /// The digest of the body, as hexadecimal digits.
  let sha256: String
  let bytes: Int64
  /// The body, if it is short enough for the database; `nil` when it is in the part file.
  var content: [UInt8]?
}

/// Wraps the error that `setHead` threw.
struct HeadNotStored: Error {
  let error: any Error
}

/// The time that an attempt may pass without data: `timeoutIntervalForRequest`.
///
/// The loading state machine has the limit of the whole task, `timeoutIntervalForResource`.
struct IdleLimit: Sendable {
  private let idle: TimeAmount
  private var lastData: NIODeadline
  /// The attempt waits for something other than the server. The limit does not run then.
  private var isOutside = false
  private(set) var isOver = false

  /// - Parameter idle: seconds.
  init(_ idle: Double, now: NIODeadline) {
    self.idle = .milliseconds(Int64(saturating: min(max(idle, 0), 1e8) * 1000))
    lastData = now
  }

  /// Data was sent or received.
  mutating func touch(_ now: NIODeadline) { lastData = now }

  mutating func goOutside(_ isOutside: Bool, now: NIODeadline) {
    self.isOutside = isOutside
    lastData = now
  }

  /// Returns when to check again; `nil` when the limit has passed. Data that comes later does not change that.
  mutating func nextLook(_ now: NIODeadline) -> NIODeadline? {
    let due = isOutside ? now + max(idle, .milliseconds(1)) : lastData + idle
    isOver = isOver || due <= now
    return isOver ? nil : due
  }
}

/// Cancels an attempt when its idle limit has passed.
final class AttemptWatch: Sendable {
  private let limit: Mutex<IdleLimit>
  private let watches: AttemptWatches

  init(_ limit: IdleLimit, among watches: AttemptWatches) {
    self.limit = Mutex(limit)
    self.watches = watches
  }

  /// Data was sent or received.
  func touch() { limit.withLock { $0.touch(.now()) } }

  /// Runs `body` without the idle limit, for waits that the server does not cause.
  func outside<T: Sendable>(_ body: () async throws -> T) async throws -> T {
    limit.withLock { $0.goOutside(true, now: .now()) }
    defer { limit.withLock { $0.goOutside(false, now: .now()) } }
    return try await body()
  }

  /// - Parameter executor: runs the body; `nil` for the shared threads of Swift concurrency.
  /// - Throws: `TransferFault` -1001 when the limit has passed. The body was cancelled and has returned then.
  func run<T: Sendable>(
    on executor: (any TaskExecutor)? = nil, _ body: @escaping @Sendable () async throws -> T
  ) async throws -> T {
    let task = Task(executorPreference: executor) { try await body() }
    let number = watches.add { [weak self] in self?.look { task.cancel() } }
    defer { watches.remove(number) }
    do {
      return try await withTaskCancellationHandler(operation: { try await task.value }, onCancel: { task.cancel() })
    } catch {
      guard limit.withLock({ $0.isOver }) else { throw error }
      throw TransferFault(.timedOut, "the request timed out")
    }
  }

  /// Checks the limit.
  ///
  /// - Returns: when to check again; `nil` when the limit has passed.
  private func look(whenOver: () -> Void) -> NIODeadline? {
    let next = limit.withLock { $0.nextLook(.now()) }
    if next == nil { whenOver() }
    return next
  }
}

/// The watches of all attempts, with one timer: an attempt of a small file would set and cancel its own before it fires.
final class AttemptWatches: Sendable {
  /// Checks a limit, and returns when to check again.
  typealias Look = @Sendable () -> NIODeadline?

  private struct State {
    var looks: [UInt64: Look] = [:]
    var last: UInt64 = 0
    /// When the timer fires; `nil` when none is set.
    var next: NIODeadline?
    var timer: Scheduled<Void>?
  }

  private let state = Mutex(State())

  /// Checks a limit now, and later until it is removed or has passed.
  func add(_ look: @escaping Look) -> UInt64 {
    let number = state.withLock { state in
      state.last += 1
      state.looks[state.last] = look
      return state.last
    }
    if let due = look() { fire(at: due) } else { remove(number) }
    return number
  }

  func remove(_ number: UInt64) { state.withLock { _ = $0.looks.removeValue(forKey: number) } }

  private func fire(at due: NIODeadline) {
    state.withLock { state in
      if let next = state.next, next <= due { return }
      state.timer?.cancel()
      state.next = due
      state.timer = MultiThreadedEventLoopGroup.singleton.any().scheduleTask(deadline: due) { [weak self] in
        self?.fired()
      }
    }
  }

  private func fired() {
    let looks = state.withLock { state in
      (state.next, state.timer) = (nil, nil)
      return state.looks
    }
    var earliest: NIODeadline?
    for (number, look) in looks {
      guard let due = look() else {
        remove(number)
        continue
      }
      earliest = min(earliest ?? due, due)
    }
    if let earliest { fire(at: earliest) }
  }
}

/// The cookies of the requests of a background session: those of the product that created it.
struct AttemptCookies: Sendable {
  let storage: CookieStorage
  let use: CookieUse
  let now: @Sendable () -> Date

  /// The value of `Cookie`; `nil` without cookies.
  func header(for url: URL) -> String? { use.sends ? storage.header(for: url, at: now()) : nil }

  /// Stores the values of the `Set-Cookie` fields of a response.
  func store(_ fields: [String], from url: URL) {
    if use.stores { storage.store(fields, from: url, at: now()) }
  }
}

extension TransferScheduler {
  /// The cookies of a task; `nil` if it uses none.
  func cookies(of task: StoredTask, _ configuration: SessionConfiguration) -> AttemptCookies? {
    let request = task.newRequest ?? task.request
    let owner = task.key.session.owner
    guard let use = configuration.cookies, request.handlesCookies ?? true, delivery.container(owner) != nil else {
      return nil
    }
    let storage = cookieStorages[owner] ?? CookieStorage { [container = delivery.container] in container(owner) }
    cookieStorages[owner] = storage
    return AttemptCookies(storage: storage, use: use, now: { [context] in context.clock.now })
  }
}
