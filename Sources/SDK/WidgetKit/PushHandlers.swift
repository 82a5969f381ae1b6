// SPDX-License-Identifier: Apache-2.0

import Archive
import AuthorRuntime
import Foundation
import MessageBus
import Messages
import SwiftUI

/// The push handlers of an extension's widgets, each type once.
struct PushHandlers: Sendable {
  private let calls: [PushHandlerCall]

  @MainActor init(_ descriptions: [WidgetDescription]) {
    var met: Set<ObjectIdentifier> = []
    calls = descriptions.compactMap(\.pushHandler).filter { met.insert($0.type).inserted }
  }

  /// Replies after all handlers have returned and the host has acknowledged their requests.
  func serve(_ process: HostedProcess) {
    let calls = calls
    process.connection.onRequest(TellPushHandlers.self) { request, received in
      guard let token = Data(hexadecimal: request.token) else {
        throw BusError(.malformed, "a device token is hexadecimal, not \(request.token)")
      }
      await MainActor.run {
        for handler in calls {
          process.asCurrent(received.context, within: "pushTokenDidChange") { handler.call(token, request.widgets) }
        }
      }
      await process.settled()
      return TellPushHandlers.Reply(handlers: calls.map(\.name))
    }
  }
}
