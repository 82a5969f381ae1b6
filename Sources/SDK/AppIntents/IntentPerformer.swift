// SPDX-License-Identifier: Apache-2.0

package import AuthorRuntime
import MessageBus
package import Messages

extension BusError.Code {
  /// This executable has no intent type with that name. Definite.
  package static let unknownIntent = BusError.Code("unknown-intent")
  /// The author's `perform()` threw, or a parameter does not accept the value. Definite.
  package static let intentFailed = BusError.Code("intent-failed")
}

/// Performs intents that the host requests. Register before the process is announced.
package enum IntentPerformer {
  /// Replies to `intent.perform` after the host has acknowledged what the author's code requested during the call.
  package static func serve(_ process: HostedProcess) {
    process.connection.onRequest(PerformIntent.self) { request, received in
      guard let type = intentType(named: request.intent) else {
        throw BusError(.unknownIntent, "this executable has no intent type \(request.intent)")
      }
      let opens: PerformIntent.Opening?
      do {
        opens = try await process.asCurrent(received.context) { try await perform(type, request) }
      } catch let error as BusError {
        throw error
      } catch {
        process.log("\(request.intent) failed: \(error)")
        throw BusError(.intentFailed, "\(request.intent): \(error)")
      }
      await process.settled()
      return PerformIntent.Reply(opens: opens)
    }
  }

  /// Returns what the result of the intent opens.
  @concurrent private static func perform<Intent: AppIntent>(
    _ type: Intent.Type, _ request: PerformIntent
  ) async throws -> PerformIntent.Opening? {
    let result = try await type.restored(request.values).perform()
    return (result as? any OpensIntent)?.opensIntent.map { opening($0) }
  }

  private static func opening<Intent: AppIntent>(_ intent: Intent) -> PerformIntent.Opening {
    if let link = intent as? OpenURLIntent { return .url(link.url.absoluteString) }
    return .intent(
      Intent.archivedName, values: intent.archivedParameters, opensApp: Intent.opensApp, runsInApp: Intent.runsInApp)
  }
}
