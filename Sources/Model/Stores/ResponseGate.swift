// SPDX-License-Identifier: Apache-2.0

package import NIOCore
package import NIOHTTP1

/// A response that no client can use.
package struct UnusableResponse: Error, CustomStringConvertible {
  package let description: String
}

/// Bytes that are no response, on a connection that had an earlier one. The server sent them before it had the request, so
/// the request may be sent again.
package struct StaleConnection: Error, CustomStringConvertible {
  package var description: String { "the server sent something else after an earlier response" }
}

/// Checks each response of a connection before async-http-client sees it. That library ignores a head whose status is below 200, and
/// its preconditions then end the process at the body or at the end of the message.
package final class ResponseGate: ChannelInboundHandler {
  package typealias InboundIn = HTTPClientResponsePart
  package typealias InboundOut = HTTPClientResponsePart

  /// Interim responses to one request. More of them only keep the device busy.
  package static let interimLimit = 10_000

  private var interims = 0
  private var isClosed = false
  /// Whether the connection had a complete response, and no byte of another one since then was understood.
  private var isBetweenResponses = false

  /// Adds a gate between the parser of a connection and what reads its messages, on the thread of its event loop.
  ///
  /// - Throws: `ChannelPipelineError` when there is no parser.
  package static func insert(in pipeline: ChannelPipeline.SynchronousOperations) throws {
    let parser = try pipeline.context(handlerType: ByteToMessageHandler<HTTPResponseDecoder>.self)
    try pipeline.addHandler(ResponseGate(), position: .after(parser.handler))
  }

  /// Passes a part on, or fails the request and closes the connection.
  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isClosed else { return }
    if case .end = unwrapInboundIn(data) { isBetweenResponses = true } else { isBetweenResponses = false }
    if case .head(let head) = unwrapInboundIn(data), let reason = objection(head) {
      isClosed = true
      context.fireErrorCaught(UnusableResponse(description: reason))
      context.close(promise: nil)
      return
    }
    context.fireChannelRead(data)
  }

  /// Passes an error on. The parser may fail at bytes that belong to no request.
  package func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.fireErrorCaught(isBetweenResponses && error is HTTPParserError ? StaleConnection() : error)
  }

  /// Why a response cannot be used; `nil` when it can.
  private func objection(_ head: HTTPResponseHead) -> String? {
    switch head.status.code {
    case 200...999:
      interims = 0
      return nil
    // No request asks for another protocol, and what follows would not be HTTP.
    case 101: return "the server switches to another protocol"
    case 100..<200:
      interims += 1
      return interims > ResponseGate.interimLimit ? "more than \(ResponseGate.interimLimit) interim responses" : nil
    default: return "the status \(head.status.code) does not exist"
    }
  }
}
