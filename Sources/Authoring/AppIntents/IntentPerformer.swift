package import AuthoredProcess
package import Conversations
import MessageBus

extension BusError.Code {
  /// This executable has no intent of that name. Definite.
  package static let unknownIntent = BusError.Code("unknown-intent")
  /// The author's `perform()` threw, or a parameter takes no such value. Definite.
  package static let intentFailed = BusError.Code("intent-failed")
}

/// Has the host's intents performed in a process. Before it is announced.
package enum IntentPerformer {
  /// Answers `intent.perform`, when what the author asked for meanwhile is on record.
  package static func serve(_ process: HostedProcess) {
    process.connection.onRequest(PerformIntent.self) { request, received in
      guard let type = intentType(named: request.intent) else {
        throw BusError(.unknownIntent, "this executable has no intent \(request.intent)")
      }
      do {
        try await process.asCurrent(received.story) { try await perform(type, request) }
      } catch let error as BusError {
        throw error
      } catch {
        process.log("\(request.intent) failed: \(error)")
        throw BusError(.intentFailed, "\(request.intent): \(error)")
      }
      await process.settled()
      return Done()
    }
  }

  @concurrent private static func perform<Intent: AppIntent>(_ type: Intent.Type, _ request: PerformIntent) async throws
  {
    _ = try await type.restored(request.values).perform()
  }
}
