// SPDX-License-Identifier: Apache-2.0

import Archive
import AuthorRuntime
public import Foundation
import MessageBus
import Messages
import SwiftUI

/// The push handlers of an extension's widgets and controls, each type once.
struct PushHandlers: Sendable {
  private let ofWidgets: [PushHandlerCall<(token: Data, widgets: [Placement])>]
  private let ofControls: [PushHandlerCall<[(control: Placement, token: Data)]>]

  @MainActor init(_ descriptions: [WidgetDescription]) {
    ofWidgets = Self.unique(descriptions.compactMap(\.pushHandler))
    ofControls = Self.unique(descriptions.compactMap(\.controlPushHandler))
  }

  private static func unique<Arguments>(_ calls: [PushHandlerCall<Arguments>]) -> [PushHandlerCall<Arguments>] {
    var met: Set<ObjectIdentifier> = []
    return calls.filter { met.insert($0.type).inserted }
  }

  /// Replies after all handlers have returned and the host has acknowledged their requests.
  func serve(_ process: HostedProcess) {
    let (ofWidgets, ofControls) = (ofWidgets, ofControls)
    process.connection.onRequest(TellPushHandlers.self) { request, received in
      let arguments = (token: try Data(token: request.token), widgets: request.widgets)
      return await call(ofWidgets, arguments: arguments, method: "pushTokenDidChange", in: process, received: received)
    }
    process.connection.onRequest(TellControlPushHandlers.self) { request, received in
      let arguments = try request.controls.map { (control: $0.placement, token: try Data(token: $0.token)) }
      return await call(
        ofControls, arguments: arguments, method: "pushTokensDidChange", in: process, received: received)
    }
  }
}

private func call<Arguments: Sendable>(
  _ handlers: [PushHandlerCall<Arguments>], arguments: Arguments, method: String, in process: HostedProcess,
  received: Received
) async -> TellPushHandlers.Reply {
  await MainActor.run {
    for handler in handlers {
      process.asCurrent(received.context, within: method) { handler.call(arguments) }
    }
  }
  await process.settled()
  return TellPushHandlers.Reply(handlers: handlers.map(\.name))
}

extension Data {
  /// - Throws: `malformed` when the device token is not hexadecimal.
  fileprivate init(token: String) throws(BusError) {
    guard let data = Data(hexadecimal: token) else {
      throw BusError(.malformed, "a device token is hexadecimal, not \(token)")
    }
    self = data
  }
}

/// The token with which the developer's backend sends pushes to this app's widgets. Source: `WidgetKit.WidgetPushInfo`
/// of the macOS 27 SDK.
public struct WidgetPushInfo: Sendable {
  public let token: Data
}

/// Receives the token for widget pushes. Source: `WidgetKit.WidgetPushHandler` of the macOS 27 SDK.
public protocol WidgetPushHandler {
  /// The system creates the handler.
  init()
  /// The token or the set of widgets that support pushes has changed.
  func pushTokenDidChange(_ pushInfo: WidgetPushInfo, widgets: [WidgetInfo])
}
