// SPDX-License-Identifier: Apache-2.0

package import Foundation
package import Messages

/// The delivery of pushes and the tokens, from the journal, for a console without a push server.
package struct PushHistory: Sendable {
  /// One push.
  package struct Push: Sendable {
    package let id: UUID
    package let type: String?
    package let subject: PushSubject?
    package var steps: [PushStep]
  }

  private static let limit = 1000

  private var pushes: [UUID: Push] = [:]
  private var order: [UUID] = []
  private var tokensByText: [String: DeviceToken] = [:]

  init() {}

  /// The newest pushes, newest first.
  package func newest(_ limit: Int) -> [Push] { order.suffix(limit).reversed().compactMap { pushes[$0] } }

  /// The tokens, newest state first.
  package var tokens: [DeviceToken] { tokensByText.values.sorted { $0.since > $1.since } }

  mutating func handle(_ envelope: Envelope) {
    if let logged = envelope.reading(PushLogged.self) {
      if pushes[logged.uniqueID] == nil {
        pushes[logged.uniqueID] = Push(id: logged.uniqueID, type: logged.type, subject: logged.subject, steps: [])
        order.append(logged.uniqueID)
        if order.count > Self.limit { pushes[order.removeFirst()] = nil }
      }
      pushes[logged.uniqueID]?.steps.append(logged.step)
    } else if let changed = envelope.reading(TokenChanged.self) {
      tokensByText[changed.token.token] = changed.token
      if tokensByText.count > Self.limit, let oldest = tokens.last { tokensByText[oldest.token] = nil }
    }
  }
}
