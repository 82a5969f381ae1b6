// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
import NIOSSL
import Synchronization

@testable import Device
@testable import DeviceRules

/// Runs transfer attempts in a temporary folder and records their events and challenges.
final class AttemptFixture: Sendable {
  let folder = FileManager.default.temporaryDirectory.path + "/attempt-\(UUID().uuidString)"
  let network: TransferNetwork
  private let reported = Mutex<[AttemptEvent]>([])
  private let expansionLimit: Int
  private let knownFacts = Mutex(TransferAttempt.Known())
  private let askedChallenges = Mutex<[Challenge]>([])
  private let content = Mutex<[UInt8]?>(nil)
  /// Returns the reply of the owner to a challenge.
  private let reply: @Sendable (Challenge) -> AnswerChallenge.Reply

  init(
    path: String? = nil, expansionLimit: Int = TransferSettings().expansionLimit,
    trusting roots: NIOSSLTrustRoots? = nil,
    reply: @escaping @Sendable (Challenge) -> AnswerChallenge.Reply = { _ in
      AnswerChallenge.Reply(disposition: .performDefaultHandling)
    }
  ) throws {
    self.reply = reply
    network = TransferNetwork(trusting: roots)
    self.expansionLimit = expansionLimit
    self.path = path ?? folder + "/1.part"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  /// Shuts the network down and removes the folder. Must be the last call.
  func end() async {
    await network.shutdown()
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// The path of the partial file.
  let path: String
  var events: [AttemptEvent] { reported.withLock { $0 } }
  var challenges: [Challenge] { askedChallenges.withLock { $0 } }
  /// The stored response head.
  var head: TransferResponse? { knownFacts.withLock { $0.response } }
  /// The body of the last complete attempt if it was short, otherwise the partial file.
  var bytes: [UInt8] { content.withLock { $0 } ?? part }
  var part: [UInt8] { FileManager.default.contents(atPath: path).map { Array($0) } ?? [] }

  /// Stores what an earlier attempt left: a partial file, its entity tag and the length of the complete file.
  func leave(_ part: String, of length: Int, tag: String?) throws {
    try Data(part.utf8).write(to: URL(fileURLWithPath: path))
    let response = TransferResponse(
      url: "http://127.0.0.1/file", status: 200, headers: [], expectedLength: Int64(length))
    knownFacts.withLock { $0 = TransferAttempt.Known(response: response, validator: tag) }
  }

  /// Performs one attempt with the state that earlier attempts have stored.
  ///
  /// - Parameter idle: `timeoutIntervalForRequest`, seconds.
  @discardableResult
  func attempt(
    _ request: TransferRequest, upload: String? = nil, idle: Double = 3600,
    headers: [[String]] = [], resumableFrom: Int64 = TransferSettings().resumableFrom,
    redirectLimit: Int = TransferSettings().redirectLimit, space: @escaping @Sendable () -> TransferSpace? = { nil }
  ) async throws -> AttemptResult {
    let configuration = SessionConfiguration(timeoutIntervalForRequest: idle, httpAdditionalHeaders: headers)
    let attempt = TransferAttempt(
      request: request, upload: upload, configuration: configuration, path: path, network: network,
      resumableFrom: resumableFrom, redirectLimit: redirectLimit, expansionLimit: expansionLimit, space: space,
      report: { [self] event in reported.withLock { $0.append(event) } },
      setHead: { [self] response, validator in
        knownFacts.withLock { $0 = TransferAttempt.Known(response: response, validator: validator) }
      },
      respond: { [self] challenge in
        askedChallenges.withLock { $0.append(challenge) }
        return reply(challenge)
      })
    let result = try await attempt.perform(knowing: knownFacts.withLock { $0 })
    content.withLock { $0 = result.content }
    return result
  }

  /// Returns the fault of an attempt, or `nil` when it succeeds.
  func fault(
    _ request: TransferRequest, upload: String? = nil, idle: Double = 3600,
    redirectLimit: Int = TransferSettings().redirectLimit, space: @escaping @Sendable () -> TransferSpace? = { nil }
  ) async -> TransferFault? {
    do {
      _ = try await attempt(request, upload: upload, idle: idle, redirectLimit: redirectLimit, space: space)
      return nil
    } catch {
      return error as? TransferFault
    }
  }
}

/// Runs `body` with a fixture and a server, and ends both afterwards.
func withServer(
  certificate: String? = nil,
  reply: AnswerChallenge.Reply = AnswerChallenge.Reply(disposition: .performDefaultHandling),
  _ script: @escaping @Sendable (RawServer.Seen) -> [RawServer.Step],
  _ body: (AttemptFixture, RawServer) async throws -> Void
) async throws {
  let fixture = try AttemptFixture(reply: { _ in reply })
  let server = try await RawServer.start(certificate: certificate, script)
  do {
    try await body(fixture, server)
  } catch {
    await fixture.end()
    await server.stop()
    throw error
  }
  await fixture.end()
  await server.stop()
}

/// Returns a response with a Content-Length.
func response(_ body: String, status: String = "200 OK", _ headers: String...) -> RawServer.Step {
  let lines = ["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)"] + headers + ["", body]
  return .send(lines.joined(separator: "\r\n"))
}

extension TransferFault {
  var code: Int { failure.code }
}
