import Foundation

// Waiting until everything that was sent has been handed to the transport.

extension Connection {
  package func caughtUp() async {
    guard isBehind else { return }
    let id = UUID()
    await withTaskCancellationHandler {
      await withCheckedContinuation { catchingUp[id] = $0 }
    } onCancel: {
      // It runs on the thread of the connection, so after the continuation was stored.
      perform { $0.catchingUp.removeValue(forKey: id)?.resume() }
    }
  }

  /// Resumes those that wait, unless something was not handed to the transport.
  func sendCaughtUp() {
    guard !catchingUp.isEmpty, !isBehind else { return }
    for id in Array(catchingUp.keys) { catchingUp.removeValue(forKey: id)?.resume() }
  }
}
