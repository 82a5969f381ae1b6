// SPDX-License-Identifier: Apache-2.0

package import Archive
import CPlatform
import Foundation
import MessageBus
package import Messages
import Synchronization
import Timekeeping

/// Announces to the host that the author's code is ready: once after launch, and again each time the host returns.
actor HostAnnouncer {
  private enum Phase {
    case idle
    /// `process.ready` is in progress. The connection sends it again when the host appears.
    case asking
    /// The host has acknowledged `process.ready`; the remaining introductions are being sent.
    case introducing
  }

  private let process: HostedProcess
  private let ready: ProcessReady
  private var phase = Phase.idle
  private var rounds = 0
  private var mustRepeat = false
  /// `process.ready` times out after a day and is then sent again.
  private let patience = Duration.seconds(86_400)

  init(_ process: HostedProcess, _ ready: ProcessReady) {
    self.process = process
    self.ready = ready
  }

  /// Whether the host has replied to `process.ready` at least once.
  var isKnown: Bool { rounds > 0 }

  /// The host is present or may be present: the first call, or a presence message.
  func hostAppeared() async {
    switch phase {
    case .asking: break
    case .introducing: mustRepeat = true
    case .idle:
      repeat {
        mustRepeat = false
        await announce()
      } while mustRepeat && !Task.isCancelled
    }
  }

  private func announce() async {
    phase = .asking
    defer { phase = .idle }
    do {
      _ = try await process.connection.request(
        ready, to: process.host, within: patience, whenUnreachable: .wait)
      rounds += 1
      phase = .introducing
      // The host does not wait for it.
      if rounds == 1 { process_prepare_thread_ends() }
      // A host that appeared before this reply may not have what an earlier one received.
      if rounds > 1 || process.hasHostAppeared { await process.introduceAgain() }
    } catch {
      process.log("the host did not acknowledge process.ready: \(error)")
    }
  }
}

extension HostedProcess {
  /// Connects, and announces to the host that the author's code is ready, now and each time the host returns. Register
  /// handlers before. Returns when the bus has registered this process instance; `process.ready` is sent with the first
  /// message to the bus.
  ///
  /// - Parameters:
  ///   - widgets: the extension's widgets; empty for an app.
  ///   - end: called when the bus no longer accepts this process instance.
  /// - Throws: what `BusConnection.start` throws: this process instance is not or no longer accepted.
  package func announce(widgets: [WidgetDeclaration], end: @escaping @Sendable (BusError) -> Void)
    async throws(BusError)
  {
    let pid = ProcessInfo.processInfo.processIdentifier
    var ready = ProcessReady(pid: pid, executable: executablePath(), widgets: widgets)
    let activities = declaredActivities
    if !activities.isEmpty { ready.activities = activities }
    let announcer = HostAnnouncer(self, ready)
    let (host, tasks, executor) = (host, tasks, connection.executor)
    connection.onRequest(Ping.self) { _, _ in
      let isKnown = await announcer.isKnown
      return Ping.Reply(pid: pid, isReady: isKnown, waitingFor: isKnown ? [] : [host.short])
    }
    connection.onPresence { presence in
      guard self.hasHostAppeared(by: presence) else { return }
      // On the connection's thread: before the reply to a `process.ready` that the connection sends again now.
      tasks.start(on: executor) { await announcer.hostAppeared() }
    }
    connection.onTurnedAway(end)
    // On the connection's thread, which encodes it while it connects.
    tasks.start(on: executor) { await announcer.hostAppeared() }
    do throws(BusError) {
      _ = try await connection.start()
    } catch {
      throw error  // back on the caller's executor: see BusConnection
    }
  }
}

/// The declarations that an author's code uses and that have no effect here, each reported once in a process.
private final class UnsimulatedUse: Sendable {
  private let reported = Mutex<Set<String>>([])

  func isFirst(_ declaration: String) -> Bool { reported.withLock { $0.insert(declaration).inserted } }
}

extension HostedProcess {
  /// Records that the author's code depends on something that is not simulated, for the diagnosis `not-simulated`. Any
  /// thread.
  ///
  /// - Parameters:
  ///   - declaration: Apple's name, such as `isLuminanceReduced`.
  ///   - details: what happens here instead.
  package func noticeUnsimulated(_ declaration: String, _ details: String) {
    guard part(UnsimulatedUse.self, { _ in UnsimulatedUse() }).isFirst(declaration) else { return }
    connection.record(FaultNoticed(.notSimulated, subject: declaration, details: "\(declaration): \(details)"))
  }

  /// The author's method while the action of `onAppear` of an archived view runs.
  package static let appearance = "onAppear"

  /// Records that a view of a widget starts work, whose result it cannot show. Once for each declaration. Any thread.
  ///
  /// - Parameters:
  ///   - declaration: where the work starts: `onAppear` or `task`.
  ///   - details: why no view shows the result.
  package func noticeLoader(_ declaration: String, _ details: String) {
    guard part(UnsimulatedUse.self, { _ in UnsimulatedUse() }).isFirst("loader \(declaration)") else { return }
    connection.record(FaultNoticed(.loaderInView, subject: declaration, details: "\(declaration): \(details)"))
  }
}
