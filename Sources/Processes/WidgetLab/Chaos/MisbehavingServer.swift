// SPDX-License-Identifier: Apache-2.0

import ChaosCampaign
import Crypto
import Dispatch
import Foundation
import Glibc
import Messages
import Synchronization

/// The server of a campaign's downloads. It misbehaves as often as a fault asks for, and is good otherwise. It listens on
/// 127.0.0.1 at free ports, with a thread for each connection, and ends with this process.
final class MisbehavingServer: Sendable {
  /// The files, by the process that loads them.
  static let files: [ChaosVictim: ServedFile] = [
    .widgetExtension: ServedFile("extension", size: 98_304), .app: ServedFile("app", size: 65_536 + 4096),
  ]
  private static let others = files.mapValues { ServedFile($0.name + "-2", size: $0.bytes.count) }

  /// A fault that waits for requests.
  private struct Armed {
    let id: Int
    let behaviour: ServerBehaviour
    let owner: ChaosVictim
    var times: Int
    var performed = 0
  }

  private struct State {
    var armed: [Armed] = []
    var lastID = 0
    var served: [DownloadJudge.Served] = []
    var connections: Set<Int32> = []
    var isOver = false
  }

  private let listeners: [ListeningSocket]
  private let ports: ServerPorts
  private let state = Mutex(State())

  /// - Throws: a command error when no port is free.
  init() throws {
    let main = try ListeningSocket()
    let other = try ListeningSocket()
    let secure = try SecurePort.all.map { ($0, try ListeningSocket()) }
    ports = ServerPorts(
      main: main.port, other: other.port, secure: Dictionary(uniqueKeysWithValues: secure.map { ($0.name, $1.port) }))
    listeners = [main, other] + secure.map(\.1)
    for listener in [main, other] { accept(listener) { self.serve($0) } }
    for (port, listener) in secure {
      accept(listener) { connection in
        var hello = [UInt8](repeating: 0, count: 4096)
        guard recv(connection.descriptor, &hello, hello.count, 0) > 0 else { return }
        _ = connection.perform(port.actions)
      }
    }
  }

  /// The URL of the file that a process loads.
  func url(for owner: ChaosVictim) -> String { "http://127.0.0.1:\(ports.main)/figures/\(owner)" }

  /// The next requests of a download of this owner meet the behaviour.
  ///
  /// - Returns: a number for `performed` and `disarm`; `nil` when this version has no such behaviour.
  func arm(_ behaviour: String, _ owner: ChaosVictim, times: Int) -> Int? {
    guard let behaviour = ServerBehaviour.named(behaviour) else { return nil }
    return state.withLock { state in
      state.lastID += 1
      state.armed.append(Armed(id: state.lastID, behaviour: behaviour, owner: owner, times: times))
      return state.lastID
    }
  }

  /// How often it took effect, and how often it still may.
  func progress(of id: Int) -> (performed: Int, left: Int) {
    state.withLock { state in
      state.armed.first { $0.id == id }.map { ($0.performed, $0.times) } ?? (0, 0)
    }
  }

  func disarm(_ id: Int) { state.withLock { $0.armed.removeAll { $0.id == id } } }

  /// The requests that were answered, in order.
  var served: [DownloadJudge.Served] { state.withLock(\.served) }

  /// How a download of a session may end that met a behaviour.
  static func permitted(_ session: String, _ behaviour: String?) -> DownloadJudge.Permitted {
    guard let owner = ChaosHome.owners[session], let file = files[owner], let other = others[owner] else {
      return DownloadJudge.Permitted(hashes: [], codes: [])
    }
    var permitted = DownloadJudge.Permitted(hashes: [], codes: [])
    for end in behaviour.map({ ServerBehaviour.named($0)?.ends ?? [] }) ?? [.file] {
      switch end {
      case .file: permitted.hashes.insert(hash(file.bytes))
      case .otherFile: permitted.hashes.insert(hash(other.bytes))
      case .body(let bytes): permitted.hashes.insert(hash(bytes))
      case .failure(let code): permitted.codes.insert(code)
      }
    }
    return permitted
  }

  static func hash(_ bytes: [UInt8]) -> String { SHA256.hash(data: bytes).map { String(format: "%02x", $0) }.joined() }

  /// Ends all connections, and accepts no more.
  func stop() {
    let connections = state.withLock { state in
      state.isOver = true
      return state.connections
    }
    for connection in connections { shutdown(connection, Int32(SHUT_RDWR)) }
    for listener in listeners { shutdown(listener.descriptor, Int32(SHUT_RDWR)) }
  }

  private func accept(_ listener: ListeningSocket, _ serve: @escaping @Sendable (ServerConnection) -> Void) {
    Thread.detachNewThread {
      while true {
        let descriptor = Glibc.accept(listener.descriptor, nil, nil)
        if descriptor < 0, errno == EINTR || errno == ECONNABORTED { continue }
        guard descriptor >= 0 else { break }
        let isOver = self.state.withLock { state in
          state.connections.insert(descriptor)
          return state.isOver
        }
        if isOver { shutdown(descriptor, Int32(SHUT_RDWR)) }
        Thread.detachNewThread {
          serve(ServerConnection(descriptor))
          self.state.withLock { _ = $0.connections.remove(descriptor) }
          close(descriptor)
        }
      }
      close(listener.descriptor)
    }
  }

  private func serve(_ connection: ServerConnection) {
    var rest: [UInt8] = []
    while let head = connection.readHead(&rest), let request = ServerRequest(head: head) {
      guard connection.perform(answer(request)) else { return }
    }
  }

  private func answer(_ request: ServerRequest) -> [ServerAction] {
    let parts = request.path.split(separator: "/")
    let owner = ChaosVictim(rawValue: parts.last.map(String.init) ?? "")
    guard let file = Self.files[owner] ?? Self.files[.app], let other = Self.others[owner] ?? Self.others[.app] else {
      return []
    }
    let turn = ServerTurn(request: request, file: file, otherFile: other, ports: ports)
    guard Self.files[owner] != nil, let place = parts.first, ["figures", "plain"].contains(place) else {
      return turn.good()
    }
    let behaviour = state.withLock { state -> ServerBehaviour? in
      var behaviour: ServerBehaviour?
      if place == "figures", let index = state.armed.firstIndex(where: { $0.owner == owner && $0.times > 0 }) {
        state.armed[index].times -= 1
        state.armed[index].performed += 1
        behaviour = state.armed[index].behaviour
      }
      if let session = ChaosHome.sessions[owner] {
        state.served.append(DownloadJudge.Served(session: session, behaviour: behaviour?.name, time: .now))
      }
      return behaviour
    }
    return behaviour?.answer(turn) ?? turn.good()
  }
}

/// A socket that listens on a free port of 127.0.0.1.
private struct ListeningSocket {
  let descriptor: Int32
  let port: UInt16

  init() throws {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw -> Int32 in
        guard bind(descriptor, raw, size) == 0, listen(descriptor, 256) == 0 else { return -1 }
        return getsockname(descriptor, raw, &size)
      }
    }
    guard result == 0 else {
      throw CommandError(
        Exit.broken, "the server of the downloads has no port: \(String(cString: strerror(errno)))", at: "127.0.0.1")
    }
    self.descriptor = descriptor
    port = UInt16(bigEndian: address.sin_port)
  }
}

/// One connection of a client, on its own thread.
private struct ServerConnection {
  let descriptor: Int32

  /// Bytes of a head at most.
  private static let longestHead = 128 << 10
  /// A file takes about half a second, so that something may happen in between.
  private static let piece = 8192
  private static let pause: Int32 = 25

  init(_ descriptor: Int32) {
    self.descriptor = descriptor
    // A client that reads nothing must not block the thread.
    var time = timeval(tv_sec: 20, tv_usec: 0)
    for option in [SO_SNDTIMEO, SO_RCVTIMEO] {
      setsockopt(descriptor, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
    }
    var isOn: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
  }

  /// The head of the next request; `nil` when the client has closed.
  func readHead(_ rest: inout [UInt8]) -> String? {
    let end = Array("\r\n\r\n".utf8)
    while rest.count < Self.longestHead {
      if let index = rest.indices.dropLast(3).first(where: { Array(rest[$0..<$0 + 4]) == end }) {
        defer { rest.removeFirst(index + 4) }
        return String(decoding: rest[..<index], as: UTF8.self)
      }
      var piece = [UInt8](repeating: 0, count: 65_536)
      let count = recv(descriptor, &piece, piece.count, 0)
      guard count > 0 else { return nil }
      rest += piece[..<count]
    }
    return nil
  }

  /// Performs the actions.
  ///
  /// - Returns: whether another request may follow.
  func perform(_ actions: [ServerAction]) -> Bool {
    for action in actions {
      switch action {
      case .send(let bytes): guard send(bytes[...]) else { return false }
      case .sendSlowly(let bytes):
        var rest = bytes[...]
        while !rest.isEmpty {
          guard send(rest.prefix(Self.piece)) else { return false }
          rest = rest.dropFirst(Self.piece)
          if !rest.isEmpty { wait(Self.pause) }
        }
      case .wait(let milliseconds): wait(Int32(milliseconds))
      case .reset:
        var linger = Glibc.linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
        return false
      case .finish:
        shutdown(descriptor, Int32(SHUT_WR))
        wait(1000)
      case .keep: return true
      }
    }
    return false
  }

  private func send(_ bytes: ArraySlice<UInt8>) -> Bool {
    var rest = bytes
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }

  /// Waits so many milliseconds, or until the client has reset the connection.
  private func wait(_ milliseconds: Int32) {
    var poll = pollfd(fd: descriptor, events: 0, revents: 0)
    _ = Glibc.poll(&poll, 1, milliseconds)
  }
}

/// An HTTP request to the provider of a campaign's cluster, over a plain socket. It is enough for a server on this
/// machine that sends the length of its response.
enum LocalRequest {
  /// Why there is no response.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// Sends a request, and returns the body of a response with a status of 200 to 299.
  ///
  /// - Parameter json: the body of a POST; `nil` for a GET.
  static func send(_ url: String, json: String? = nil, within limit: Duration = .seconds(2)) async throws -> Data {
    guard let parts = URLComponents(string: url), let host = parts.host, let port = parts.port else {
      throw Failure(description: "\(url) has no host and port")
    }
    let path = parts.percentEncodedPath + (parts.percentEncodedQuery.map { "?\($0)" } ?? "")
    let content = json.map { "Content-Type: application/json\r\nContent-Length: \($0.utf8.count)\r\n" } ?? ""
    let head =
      "\(json == nil ? "GET" : "POST") \(path) HTTP/1.1\r\nHost: \(host):\(port)\r\n\(content)Connection: close\r\n\r\n"
    let bytes: Data = try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global().async {
        continuation.resume(
          with: Result { try exchange(Array((head + (json ?? "")).utf8), host, UInt16(port), within: limit) })
      }
    }
    guard let end = bytes.range(of: Data("\r\n\r\n".utf8)),
      let status = String(decoding: bytes.prefix(32), as: UTF8.self).split(separator: " ").dropFirst().first,
      status.hasPrefix("2")
    else { throw Failure(description: "\(url): \(String(decoding: bytes.prefix(60), as: UTF8.self))") }
    return Data(bytes[end.upperBound...])
  }

  private static func exchange(_ request: [UInt8], _ host: String, _ port: UInt16, within limit: Duration) throws
    -> Data
  {
    func failure() -> Failure { Failure(description: "\(host):\(port): \(String(cString: strerror(errno)))") }
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw failure() }
    defer { close(descriptor) }
    var time = timeval(tv_sec: Int(limit.components.seconds), tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    guard inet_pton(AF_INET, host, &address.sin_addr) == 1 else { throw failure() }
    let connected = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard connected == 0, Glibc.send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else {
      throw failure()
    }
    var bytes = Data()
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { throw failure() }
      if count == 0 { return bytes }
      bytes += buffer[..<count]
    }
  }
}
