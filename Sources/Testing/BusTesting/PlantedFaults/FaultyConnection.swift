// SPDX-License-Identifier: Apache-2.0

import Dispatch
package import Foundation
package import GRDB
import Glibc
package import Journal
package import MessageBus
package import Messages
package import Timekeeping

/// A connection to the bus that makes the mistake of a fault with some messages, and passes on all others.
package struct FaultyConnection: BusConnection {
  private let base: any BusConnection
  private let fault: PlantedFault
  private let tasks = TaskOwner()

  package init(_ base: any BusConnection, _ fault: PlantedFault) {
    self.base = base
    self.fault = fault
  }

  package var address: Address { base.address }
  package var requestDeadline: Duration { base.requestDeadline }
  package var executor: any TaskExecutor { base.executor }

  // MARK: Sending

  package func deliver<E: Event>(
    _ event: E, to destination: Address, id: UUID, context: MessageContext
  ) async throws(BusError) {
    var receiver = destination
    switch (fault, event) {
    case (.misrouted, is SessionEvents): receiver = destination.containingApp
    case (.deletedWhenSent, is SessionEvents):
      return base.submit(event, to: destination, id: id, context: context) { _ in }
    case (.truncatedCopy, let events as SessionEvents): Self.truncateFiles(of: events)
    case (.exitReportedTwice, is ProcessExited):
      base.submit(event, to: destination, id: UUID(), context: context) { _ in }
    case (.exitOfAnother, let exit as ProcessExited):
      base.submit(exit.ofNextGeneration, to: destination, id: UUID(), context: context) { _ in }
    default: break
    }
    // A rethrow keeps the caller's executor: see `BusConnection`.
    do throws(BusError) {
      try await base.deliver(event, to: receiver, id: id, context: context)
    } catch {
      throw error
    }
    if fault == .deliveredTwice, event is SessionEvents {
      submitLater(event, to: destination, id: UUID(), context: context)
    }
  }

  /// Sends an acknowledged event once more, when this process has recorded the acknowledgement.
  private func submitLater(_ event: some Event, to destination: Address, id: UUID, context: MessageContext) {
    tasks.start { [base] in
      try? await Task.sleep(for: .milliseconds(100))
      base.submit(event, to: destination, id: id, context: context) { _ in }
    }
  }

  package func submit<E: Event>(
    _ event: E, to destination: Address, id: UUID, context: MessageContext,
    completion: @escaping @Sendable (Result<Void, BusError>) -> Void
  ) {
    switch (fault, event) {
    case (.pushToAnotherDevice, is DeliverPush):
      let other = Address.host((destination.device ?? "") + "-2")
      base.submit(event, to: other, id: id, context: context, completion: completion)
    case (.deliveredWhenSent, is DeliverPush):
      base.submit(event, to: destination, id: id, context: context) { _ in }
      completion(.success(()))
    case (.sentAgain, is DeliverPush):
      base.submit(event, to: destination, id: id, context: context) { result in
        if case .success = result { submitLater(event, to: destination, id: id, context: context) }
        completion(result)
      }
    default: base.submit(event, to: destination, id: id, context: context, completion: completion)
    }
  }

  package func notify<N: Notice>(_ notice: N, to destination: Address, context: MessageContext) {
    let count =
      switch (fault, notice) {
      case (.endReportedTwice, let progress as TransferProgress) where progress.step.isEnd: 2
      case (.loggedTwice, let logged as PushLogged) where logged.step.name == .delivered: 2
      case (.ledgerGap, let decided as BudgetDecided) where decided.entry.number.isMultiple(of: 7): 0
      default: 1
      }
    for _ in 0..<count { base.notify(notice, to: destination, context: context) }
  }

  package func request<R: Request>(
    _ request: R, to destination: Address, id: UUID, context: MessageContext, within limit: Duration,
    whenUnreachable: WhenUnreachable
  ) async throws(BusError) -> R.Reply {
    do throws(BusError) {
      return try await base.request(
        request, to: destination, id: id, context: context, within: limit, whenUnreachable: whenUnreachable)
    } catch {
      throw error
    }
  }

  package func submit<R: Request>(
    _ request: R, to destination: Address, id: UUID, context: MessageContext, within limit: Duration,
    whenUnreachable: WhenUnreachable, completion: @escaping @Sendable (Result<R.Reply, BusError>) -> Void
  ) {
    base.submit(
      request, to: destination, id: id, context: context, within: limit, whenUnreachable: whenUnreachable,
      completion: completion)
  }

  package func caughtUp() async { await base.caughtUp() }

  // MARK: Receiving

  package func onRequest<R: Request>(
    _ type: R.Type, _ handler: @escaping @Sendable (R, Received) async throws -> R.Reply
  ) {
    guard fault == .acceptedBeforeSaved, R.self == CreateTransfer.self, let done = Done() as? R.Reply else {
      return base.onRequest(type, handler)
    }
    base.onRequest(type) { [tasks] request, received in
      tasks.start {
        try? await Task.sleep(for: .seconds(2))
        _ = try? await handler(request, received)
      }
      return done
    }
  }

  package func onEvent<E: Event>(
    _ type: E.Type, _ handler: @escaping @Sendable (E, Received) async throws -> Void
  ) { base.onEvent(type, handler) }

  package func onNotice<N: Notice>(_ type: N.Type, _ handler: @escaping @Sendable (N, Received) async -> Void) {
    base.onNotice(type, handler)
  }

  package func onPresence(_ handler: @escaping @Sendable (Presence) -> Void) { base.onPresence(handler) }

  package func onReconnection(_ handler: @escaping @Sendable () -> Void) { base.onReconnection(handler) }

  package func onTurnedAway(_ handler: @escaping @Sendable (BusError) -> Void) { base.onTurnedAway(handler) }

  // MARK: Start and end

  package func connect() { base.connect() }

  package func start() async throws(BusError) -> UInt32 {
    do throws(BusError) {
      return try await base.start()
    } catch {
      throw error
    }
  }

  package func leave() async {
    tasks.cancel()
    await base.leave()
  }

  /// Removes the last byte of each file that the owner gets.
  private static func truncateFiles(of events: SessionEvents) {
    for case let file? in events.outcomes.map(\.file) {
      var status = stat()
      if stat(file, &status) == 0, status.st_size > 0 { truncate(file, status.st_size - 1) }
    }
  }
}

extension Address {
  /// The app that contains an extension: its bundle identifier without the last component.
  var containingApp: Address {
    guard role == .widgetExtension, let device, let bundleIdentifier,
      let lastDot = bundleIdentifier.lastIndex(of: ".")
    else { return self }
    return .app(device, String(bundleIdentifier[..<lastDot]))
  }
}

extension ProcessExited {
  fileprivate var ofNextGeneration: ProcessExited {
    ProcessExited(address: address, generation: generation + 1, pid: pid, ending: ending)
  }
}

extension TransferProgress.Step {
  fileprivate var isEnd: Bool {
    switch self {
    case .finished, .failed, .cancelled: true
    case .started, .resumed, .restarted, .retrying, .waiting: false
    }
  }
}

/// The mistakes of a broker: with its journal, and with the receivers of envelopes.
package enum FaultyBroker {
  /// Makes the broker that writes this journal make the mistake.
  package static func plant(_ fault: PlantedFault, in journal: JournalWriter) {
    switch fault {
    case .registrationsForgotten:
      journal.recovered.registrations = journal.recovered.registrations.filter { $0.key.bundleIdentifier == nil }
    case .journalAfterForwarding:
      let queue = DispatchQueue(label: "late journal")
      journal.write = { file, bytes, offset throws(JournalError) in
        // A segment begins at once: readers expect its head.
        guard offset > 0 else { return try file.write(bytes, at: offset) }
        queue.asyncAfter(deadline: .now() + .milliseconds(50)) { try? file.write(bytes, at: offset) }
      }
    default: break
    }
  }

  /// Who receives an envelope.
  package static func receiver(of header: EnvelopeHeader, _ fault: PlantedFault) -> Address {
    switch (fault, header.kind) {
    case (.pushAcknowledgementsLost, DeliverPush.kind.answered(.acknowledged)), (.progressLost, PushProgress.kind):
      .journal
    case (.swappedDestination, SessionEvents.kind): header.destination.containingApp
    default: header.destination
    }
  }
}

/// The mistakes of a process with its SQLite database: temporary triggers change what its connection writes.
package enum FaultyDatabase {
  /// Makes a process whose database this is make the mistake.
  ///
  /// - Parameters:
  ///   - database: with all tables of the process.
  ///   - tasks: the owner of a task that writes later.
  /// - Throws: errors of the database.
  package static func plant(_ fault: PlantedFault, in database: any DatabaseWriter, _ tasks: TaskOwner) throws {
    guard let sql = triggers[fault] else { return }
    try database.writeWithoutTransaction { try $0.execute(sql: sql) }
    if fault == .answeredBeforeSaved { tasks.start { await saveHeld(database) } }
  }

  private static let triggers: [PlantedFault: String] = [
    .loadedAgain: """
    CREATE TEMP TRIGGER forgetEnd AFTER UPDATE OF endedOrder ON tasks WHEN NEW.endedOrder IS NOT NULL BEGIN
      UPDATE tasks SET endedOrder = NULL, ended = NULL WHERE rowid = NEW.rowid;
    END;
    """,
    .acknowledgementForgotten: """
    CREATE TEMP TRIGGER keepDeliveries BEFORE DELETE ON deliveries BEGIN SELECT RAISE(IGNORE); END;
    CREATE TEMP TRIGGER keepTasks BEFORE DELETE ON tasks BEGIN SELECT RAISE(IGNORE); END;
    """,
    // A request goes to a table in memory first. It is then written from there, which this trigger permits.
    .answeredBeforeSaved: """
    CREATE TEMP TABLE held AS SELECT * FROM requests WHERE FALSE;
    CREATE TEMP TRIGGER hold BEFORE INSERT ON requests
    WHEN NOT EXISTS (SELECT 1 FROM held WHERE number = NEW.number) BEGIN
      INSERT INTO held VALUES (NEW.number, NEW.uniqueID, NEW.apnsID, NEW.device, NEW.bundle, NEW.use, NEW.token,
        NEW.type, NEW.status, NEW.reason, NEW.at, NEW.detail, NEW.next, NEW.nextDetail);
      SELECT RAISE(IGNORE);
    END;
    """,
  ]

  private static func saveHeld(_ database: any DatabaseWriter) async {
    while !Task.isCancelled {
      // Longer than a commit, so that a kill can fall between the answer and the commit.
      try? await Task.sleep(for: .milliseconds(200))
      try? await database.write { db in
        try db.execute(sql: "INSERT INTO requests SELECT * FROM held; DELETE FROM held")
      }
    }
  }
}
