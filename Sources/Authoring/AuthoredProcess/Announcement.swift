package import Archive
package import Conversations
import Foundation
import MessageBus
import Synchronization

/// Tells the host that the author's code is in place, once in this life and again each time that the host comes back.
actor Announcement {
  private enum Phase {
    case idle
    /// `process.ready` is under way; the bus sends it again by itself when the host comes.
    case asking
    /// The host knows of the process, and is being told the rest.
    case introducing
  }

  private let process: HostedProcess
  private let ready: ProcessReady
  private var phase = Phase.idle
  private var rounds = 0
  private var mustRepeat = false
  /// A host came while `process.ready` was under way: what an earlier one was told before is lost.
  private var isAnotherHost = false
  /// A process that nobody answers asks anew after a day.
  private let patience = Duration.seconds(86_400)

  init(_ process: HostedProcess, _ ready: ProcessReady) {
    self.process = process
    self.ready = ready
  }

  /// Whether the host has answered `process.ready` at least once.
  var isKnown: Bool { rounds > 0 }

  /// The host is there, or may be: the first call, or a presence.
  func hostAppeared() async {
    switch phase {
    case .asking: isAnotherHost = true
    case .introducing: mustRepeat = true
    case .idle:
      repeat {
        mustRepeat = false
        await tell()
      } while mustRepeat
    }
  }

  private func tell() async {
    phase = .asking
    defer { phase = .idle }
    do {
      _ = try await process.connection.request(
        ready, to: process.host, within: patience, whenUnreachable: .wait)
      rounds += 1
      phase = .introducing
      if rounds > 1 || isAnotherHost { await process.introduceAgain() }
      isAnotherHost = false
    } catch {
      process.log("the host did not take process.ready: \(error)")
    }
  }
}

extension HostedProcess {
  /// Connects, and tells the host that the author's code is in place, now and whenever the host comes back. Handlers are
  /// set before. Returns when the bus knows this life; `process.ready` follows by itself.
  ///
  /// - Parameters:
  ///   - widgets: the extension's widgets; empty for an app.
  ///   - end: called when the bus does not accept this life any longer.
  /// - Throws: what `BusConnection.start` throws: this life is over, or never was.
  package func announce(widgets: [WidgetDeclaration], end: @escaping @Sendable (BusError) -> Void)
    async throws(BusError)
  {
    let pid = ProcessInfo.processInfo.processIdentifier
    let ready = ProcessReady(pid: pid, executable: executablePath(), widgets: widgets)
    let announcement = Announcement(self, ready)
    let host = host
    connection.onRequest(Ping.self) { _, _ in
      let isKnown = await announcement.isKnown
      return Ping.Reply(pid: pid, isReady: isKnown, waitingFor: isKnown ? [] : [host.short])
    }
    connection.onPresence { presence in
      guard presence.address == host, presence.isPresent else { return }
      Task { await announcement.hostAppeared() }
    }
    connection.onTurnedAway(end)
    do throws(BusError) {
      _ = try await connection.start()
    } catch {
      throw error  // on the caller's executor again: see BusConnection
    }
    Task { await announcement.hostAppeared() }
  }
}
