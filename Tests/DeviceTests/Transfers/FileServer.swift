// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

@testable import Device
@testable import DeviceRules

/// A small HTTP server for one file. The test sets its behaviour.
final class FileServer: Sendable {
  /// The behaviour for the next requests.
  struct Behaviour: Sendable {
    var bytes: [UInt8] = []
    var status = 200
    var entityTag: String? = "\"a\""
    var honoursRanges = true
    /// Closes the connection after this number of bytes of the next body, once.
    var cutAfter: Int?
    /// Sends this number of bytes of each body and then waits for `release()`.
    var pauseAfter: Int?
    var redirectTo: String?
  }

  /// A received request.
  struct Seen: Sendable, Equatable {
    let range: String?
    let ifRange: String?
  }

  private struct State {
    var behaviour = Behaviour()
    var seen: [Seen] = []
    var served = 0
    var paused: [@Sendable () -> Void] = []
  }

  private let state = Mutex(State())
  private let channel: any Channel
  let url: String

  private init(_ channel: any Channel) {
    self.channel = channel
    url = "http://127.0.0.1:\(channel.localAddress?.port ?? 0)/file"
  }

  /// Starts a server on a free port.
  static func start(_ behaviour: Behaviour) async throws -> FileServer {
    let box = Mutex<FileServer?>(nil)
    let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.configureHTTPServerPipeline()
          try channel.pipeline.syncOperations.addHandler(Handler { box.withLock { $0 } })
        }
      }
    let server = FileServer(try await bootstrap.bind(host: "127.0.0.1", port: 0).get())
    server.behave { $0 = behaviour }
    box.withLock { $0 = server }
    return server
  }

  var seen: [Seen] { state.withLock { $0.seen } }
  /// The number of body bytes sent.
  var served: Int { state.withLock { $0.served } }
  func behave(_ change: (inout Behaviour) -> Void) { state.withLock { change(&$0.behaviour) } }

  /// Continues paused bodies.
  func release() {
    let paused = state.withLock { state in
      state.behaviour.pauseAfter = nil
      defer { state.paused = [] }
      return state.paused
    }
    for resume in paused { resume() }
  }

  fileprivate func took(_ head: HTTPRequestHead) -> Behaviour {
    state.withLock { state in
      state.seen.append(
        Seen(range: head.headers.first(name: "Range"), ifRange: head.headers.first(name: "If-Range")))
      defer { state.behaviour.cutAfter = nil }
      return state.behaviour
    }
  }

  fileprivate func sent(_ count: Int) { state.withLock { $0.served += count } }
  /// Keeps the rest of a body until `release()`, or sends it at once if that was called since the request arrived.
  fileprivate func pause(_ resume: @escaping @Sendable () -> Void) {
    let isReleased = state.withLock { state in
      if state.behaviour.pauseAfter != nil { state.paused.append(resume) }
      return state.behaviour.pauseAfter == nil
    }
    if isReleased { resume() }
  }
}

private final class Handler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart
  private let server: () -> FileServer?

  init(_ server: @escaping () -> FileServer?) { self.server = server }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard case .head(let head) = unwrapInboundIn(data), let server = server() else { return }
    respond(context, head: head, server: server, behaviour: server.took(head))
  }

  private func respond(
    _ context: ChannelHandlerContext, head: HTTPRequestHead, server: FileServer, behaviour: FileServer.Behaviour
  ) {
    var headers = HTTPHeaders()
    var status = HTTPResponseStatus(statusCode: behaviour.status)
    var body = behaviour.bytes[...]
    if let tag = behaviour.entityTag { headers.add(name: "ETag", value: tag) }
    if let target = behaviour.redirectTo, head.uri == "/file" {
      headers.add(name: "Location", value: target)
      status = .found
      body = []
    } else if let first = start(head, behaviour) {
      if first >= behaviour.bytes.count {
        status = .rangeNotSatisfiable
        body = []
      } else {
        status = .partialContent
        body = body.dropFirst(first)
        let total = behaviour.bytes.count
        headers.add(name: "Content-Range", value: "bytes \(first)-\(total - 1)/\(total)")
      }
    }
    headers.add(name: "Content-Length", value: "\(body.count)")
    context.write(
      wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: status, headers: headers))), promise: nil)
    send(context, body: body, server: server, behaviour: behaviour)
  }

  /// The first byte of the requested range, or `nil` when the range is ignored.
  private func start(_ head: HTTPRequestHead, _ behaviour: FileServer.Behaviour) -> Int? {
    guard behaviour.honoursRanges, behaviour.status == 200, let range = head.headers.first(name: "Range"),
      head.headers.first(name: "If-Range") == behaviour.entityTag
    else { return nil }
    return Int(range.dropFirst("bytes=".count).prefix { $0 != "-" })
  }

  private func send(
    _ context: ChannelHandlerContext, body: ArraySlice<UInt8>, server: FileServer,
    behaviour: FileServer.Behaviour
  ) {
    let count = min(body.count, behaviour.cutAfter ?? behaviour.pauseAfter ?? body.count)
    server.sent(count)
    let buffer = context.channel.allocator.buffer(bytes: body.prefix(count))
    context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(buffer))), promise: nil)
    if behaviour.cutAfter != nil, count < body.count {
      context.close(promise: nil)
    } else if behaviour.pauseAfter != nil, count < body.count {
      let rest = body.dropFirst(count)
      let channel = context.channel
      server.pause {
        server.sent(rest.count)
        channel.write(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(bytes: rest))), promise: nil)
        channel.writeAndFlush(HTTPServerResponsePart.end(nil), promise: nil)
      }
    } else {
      context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
  }
}
