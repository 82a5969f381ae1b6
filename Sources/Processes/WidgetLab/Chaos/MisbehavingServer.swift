// SPDX-License-Identifier: Apache-2.0

import Archive
import ChaosCampaign
import Cluster
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
  }

  private let listeners: [LocalListener]
  private let ports: ServerPorts
  private let state = Mutex(State())

  /// - Throws: a command error when no port is free.
  init() throws {
    let main = try Self.listener()
    let other = try Self.listener()
    let secure = try SecurePort.all.map { ($0, try Self.listener()) }
    ports = ServerPorts(
      main: main.port, other: other.port, secure: Dictionary(uniqueKeysWithValues: secure.map { ($0.name, $1.port) }))
    listeners = [main, other] + secure.map(\.1)
    for listener in [main, other] { listener.accept { self.serve(ServerConnection($0)) } }
    for (port, listener) in secure {
      listener.accept { descriptor in
        let connection = ServerConnection(descriptor)
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

  static func hash(_ bytes: [UInt8]) -> String { ContentDigest.hexadecimal(of: Data(bytes)) }

  /// Ends all connections, and accepts no more.
  func stop() { for listener in listeners { listener.stop() } }

  private static func listener() throws -> LocalListener {
    do {
      return try LocalListener()
    } catch {
      throw CommandError(Exit.broken, "the server of the downloads has no port: \(error)", at: "127.0.0.1")
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

/// A request to the provider of a campaign's cluster.
enum LocalRequest {
  /// Sends a request, and returns the body of a response with a status of 200 to 299.
  ///
  /// - Parameter json: the body of a POST; `nil` for a GET.
  static func send(_ url: String, json: String? = nil, within limit: Duration = .seconds(2)) async throws -> Data {
    let answer = try await LocalHTTP.request(url, json: json.map { Data($0.utf8) }, within: limit)
    guard (200..<300).contains(answer.status) else {
      throw LocalHTTP.Failure(description: "\(url): \(answer.head.prefix(60))")
    }
    return answer.body
  }
}
