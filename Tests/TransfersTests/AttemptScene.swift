import Conversations
import Foundation
import Synchronization

@testable import Transfers

/// A folder and a network in which attempts are made, and what they reported.
final class AttemptScene: Sendable {
  let folder = FileManager.default.temporaryDirectory.path + "/attempt-\(UUID().uuidString)"
  let network = TransferNetwork()
  private let reported = Mutex<[AttemptEvent]>([])
  private let known = Mutex(TransferAttempt.Known())
  private let asked = Mutex<[Challenge]>([])
  /// What the owner says to each challenge.
  private let answer: @Sendable (Challenge) -> AnswerChallenge.Reply

  init(
    path: String? = nil,
    answer: @escaping @Sendable (Challenge) -> AnswerChallenge.Reply = { _ in
      AnswerChallenge.Reply(disposition: .performDefaultHandling)
    }
  ) throws {
    self.answer = answer
    self.path = path ?? folder + "/1.part"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  /// The last call.
  func end() async {
    await network.shutdown()
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// Of the part file.
  let path: String
  var events: [AttemptEvent] { reported.withLock { $0 } }
  var challenges: [Challenge] { asked.withLock { $0 } }
  /// What is stored of a response.
  var head: TransferResponse? { known.withLock { $0.response } }
  var bytes: [UInt8] { FileManager.default.contents(atPath: path).map { Array($0) } ?? [] }

  /// What an earlier attempt left: a part of a response with this entity tag, and the length of the whole.
  func leave(_ part: String, of length: Int, tag: String?) throws {
    try Data(part.utf8).write(to: URL(fileURLWithPath: path))
    let response = TransferResponse(
      url: "http://127.0.0.1/file", status: 200, headers: [], expectedLength: Int64(length))
    known.withLock { $0 = TransferAttempt.Known(response: response, validator: tag) }
  }

  /// One attempt, that knows what those before have stored.
  ///
  /// - Parameters:
  ///   - idle: `timeoutIntervalForRequest`, seconds.
  ///   - limit: of the whole attempt, seconds.
  @discardableResult
  func attempt(
    _ request: TransferRequest, upload: String? = nil, idle: Double = 3600, within limit: Double = 3600,
    headers: [[String]] = [], resumableFrom: Int64 = TransferSettings().resumableFrom,
    redirectLimit: Int = TransferSettings().redirectLimit
  ) async throws -> AttemptResult {
    let configuration = SessionConfiguration(timeoutIntervalForRequest: idle, httpAdditionalHeaders: headers)
    let attempt = TransferAttempt(
      request: request, upload: upload, configuration: configuration, path: path, network: network,
      resumableFrom: resumableFrom, redirectLimit: redirectLimit,
      report: { [self] event in reported.withLock { $0.append(event) } },
      setHead: { [self] response, validator in
        known.withLock { $0 = TransferAttempt.Known(response: response, validator: validator) }
      },
      answer: { [self] challenge in
        asked.withLock { $0.append(challenge) }
        return answer(challenge)
      })
    return try await attempt.perform(knowing: known.withLock { $0 }, within: limit)
  }

  /// How an attempt fails; `nil` when it does not.
  func fault(
    _ request: TransferRequest, upload: String? = nil, idle: Double = 3600, within limit: Double = 3600,
    redirectLimit: Int = TransferSettings().redirectLimit
  ) async -> TransferFault? {
    do {
      _ = try await attempt(request, upload: upload, idle: idle, within: limit, redirectLimit: redirectLimit)
      return nil
    } catch {
      return error as? TransferFault
    }
  }
}

/// A scene with a server, that end when the body has.
func withServer(
  certificate: String? = nil,
  answer: AnswerChallenge.Reply = AnswerChallenge.Reply(disposition: .performDefaultHandling),
  _ script: @escaping @Sendable (RawServer.Seen) -> [RawServer.Step],
  _ body: (AttemptScene, RawServer) async throws -> Void
) async throws {
  let scene = try AttemptScene(answer: { _ in answer })
  let server = try await RawServer.start(certificate: certificate, script)
  do {
    try await body(scene, server)
  } catch {
    await scene.end()
    await server.stop()
    throw error
  }
  await scene.end()
  await server.stop()
}

/// A response with its length.
func response(_ body: String, status: String = "200 OK", _ headers: String...) -> RawServer.Step {
  let lines = ["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)"] + headers + ["", body]
  return .send(lines.joined(separator: "\r\n"))
}

extension TransferFault {
  var code: Int { failure.code }
}
