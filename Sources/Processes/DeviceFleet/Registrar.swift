// SPDX-License-Identifier: Apache-2.0

import Archive
import AsyncHTTPClient
import Cluster
import Foundation
import Glibc
import Messages
import NIOCore
import NIOHTTP1
import Stores

/// Gives tokens to the user's backend: a request for each by a template, or lines of a file.
final class Registrar: Sendable {
  /// A token with everything that a template can name.
  struct Entry: Sendable {
    let device: String
    let index: UInt32
    let use: PushTokenUse
    let bundle: String
    let token: String
  }

  enum Result: Sendable, Hashable {
    case done
    /// The backend will not take it.
    case refused(String)
    /// Try again later.
    case again(String)
  }

  private let plan: FleetPlan
  private let client: HTTPClient?
  private let file: RegistrationFile?

  /// - Throws: `instance-folder` when the file cannot be opened.
  init(_ plan: FleetPlan) throws(ClusterError) {
    self.plan = plan
    switch plan.profile.registration.target {
    case .none: (client, file) = (nil, nil)
    case .file(let path): (client, file) = (nil, try RegistrationFile(path))
    case .http:
      var configuration = HTTPClient.Configuration()
      configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = plan.profile.registration.concurrency
      configuration.redirectConfiguration = .disallow
      configuration.httpVersion = .http1Only
      configuration.http1_1ConnectionDebugInitializer = { channel in
        channel.eventLoop.makeCompletedFuture { try ResponseGate.insert(in: channel.pipeline.syncOperations) }
      }
      (client, file) = (HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration), nil)
    }
  }

  /// Whether tokens must be registered.
  var isNeeded: Bool { client != nil || file != nil }
  /// Calls of `register` at a time.
  var concurrency: Int { client == nil ? 1 : plan.profile.registration.concurrency }
  /// Tokens of one call.
  var atOnce: Int { client == nil ? 5_000 : 1 }

  func close() async {
    file?.close()
    try? await client?.shutdown()
  }

  func register(_ entries: [Entry]) async -> Result {
    let profile = plan.profile.registration
    switch profile.target {
    case .none: return .done
    case .file:
      do {
        try await file?.append(entries.map { fill(profile.body, $0) })
        return .done
      } catch {
        return .again("\(error)")
      }
    case .http(let url, let method, let headers):
      guard let entry = entries.first, let client else { return .done }
      return await send(
        fill(url, entry), method: method, headers: headers.mapValues { fill($0, entry) },
        body: fill(profile.body, entry), client: client)
    }
  }

  private func send(
    _ url: String, method: String, headers: [String: String], body: String, client: HTTPClient
  ) async -> Result {
    // The library ends the process for some of what it cannot send.
    guard let target = URL(string: url), MessageSyntax.hasUsableHost(target), MessageSyntax.hasUsablePort(target) else {
      return .refused("bad URL: \(url)")
    }
    if let what = MessageSyntax.objection(method, headers.lazy.map { ($0.key, $0.value) }) {
      return .refused("HTTP does not allow \(what)")
    }
    var request = HTTPClientRequest(url: url)
    request.method = HTTPMethod(rawValue: method)
    request.headers.add(name: "user-agent", value: "device-fleet")
    for (name, value) in headers { request.headers.replaceOrAdd(name: name, value: value) }
    if !request.headers.contains(name: "content-type") {
      request.headers.add(name: "content-type", value: "application/json")
    }
    request.body = .bytes(ByteBuffer(string: body))
    do {
      let milliseconds = Int64(saturating: min(plan.profile.registration.timeout, 1e9) * 1_000)
      let response = try await client.execute(request, timeout: .milliseconds(milliseconds))
      // The connection can be used again when the body was read.
      for try await _ in response.body {}
      switch response.status.code {
      case 200..<300: return .done
      case 408, 425, 429, 500...: return .again("status \(response.status.code)")
      default: return .refused("status \(response.status.code)")
      }
    } catch let error as HTTPClientError where error == .deadlineExceeded || error == .readTimeout {
      return .again("no answer within \(plan.profile.registration.timeout) s")
    } catch {
      return .again("\(error)")
    }
  }

  /// Replaces the placeholders of a template.
  func fill(_ template: String, _ entry: Entry) -> String {
    var text = ""
    var rest = Substring(template)
    while let brace = rest.firstIndex(of: "{") {
      text += rest[..<brace]
      rest = rest[brace...]
      guard let end = rest.firstIndex(of: "}"), let value = value(rest[rest.index(after: brace)..<end], entry) else {
        text += "{"
        rest = rest.dropFirst()
        continue
      }
      text += value
      rest = rest[rest.index(after: end)...]
    }
    return text + rest
  }

  private func value(_ name: Substring, _ entry: Entry) -> String? {
    switch name {
    case "device": entry.device
    case "fleet": plan.name
    case "index": "\(entry.index)"
    case "use": entry.use.rawValue
    case "token": entry.token
    case "topic": entry.use.topic(ofBundle: entry.bundle)
    case "bundle": entry.bundle
    case "environment": plan.profile.environment.rawValue
    default: nil
    }
  }
}

/// The file to which tokens are appended, one line each. A token may be in it twice after the process was killed.
private final class RegistrationFile: Sendable {
  private let descriptor: CInt

  init(_ path: String) throws(ClusterError) {
    descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw ClusterError(.folder, "cannot open the file for tokens \(path): \(String(cString: strerror(errno)))")
    }
  }

  /// The lines are on the disk when this returns.
  @concurrent
  func append(_ lines: [String]) async throws {
    var bytes = Array((lines.joined(separator: "\n") + "\n").utf8)[...]
    while !bytes.isEmpty {
      let written = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      guard written > 0 || errno == EINTR else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
      bytes = bytes.dropFirst(max(0, written))
    }
    guard fdatasync(descriptor) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
  }

  func close() { Glibc.close(descriptor) }
}
