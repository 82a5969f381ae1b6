// SPDX-License-Identifier: Apache-2.0

package import Foundation
import Glibc
package import MessageBus
package import Messages
import OwnedTasks

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
