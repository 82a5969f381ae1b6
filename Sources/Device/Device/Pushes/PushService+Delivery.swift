// SPDX-License-Identifier: Apache-2.0

import Archive
import DeviceRules
import Foundation
import MessageBus
import Messages
import OwnedTasks
import Timekeeping

// What the service sends: to the push server, to the authors' push handlers, to the apps.

extension PushService {
  // MARK: Tokens

  /// Requests the tokens that are wanted and releases the others, while the device has a network.
  func askForTokens() {
    guard core.failure == nil else { return }
    let open = tokens.state.tokens.filter { $0.value.phase != .held }
    for (key, task) in asking where !isOnline || open[key] == nil {
      task.cancel()
      asking[key] = nil
    }
    guard isOnline else { return }
    for (key, kept) in open where asking[key] == nil {
      asking[key] = tasks.start { [weak self] in await self?.ask(key, kept) }
    }
  }

  /// Retries until the push server replies.
  private func ask(_ key: TokenKey, _ kept: TokenStateMachine.Kept) async {
    var pause = 1.0
    while !Task.isCancelled {
      do throws(BusError) {
        let event = try await respond(key, kept)
        guard !Task.isCancelled else { return }
        asking[key] = nil
        handle(event)
        return askForTokens()
      } catch {
        guard error.code != .closed else { return }
        guard (try? await machine.sleep(until: machine.now.addingTimeInterval(pause))) != nil else { return }
        pause = min(pause * 2, 60)
      }
    }
  }

  private func respond(_ key: TokenKey, _ kept: TokenStateMachine.Kept) async throws(BusError)
    -> TokenStateMachine.Event
  {
    do throws(BusError) {
      if kept.phase == .releasing {
        _ = try await bus.request(
          ReleaseToken(bundle: key.bundle, use: key.use), to: .pushServer, within: .seconds(86_400),
          whenUnreachable: .wait)
        return .released(key)
      }
      let request = IssueToken(bundle: key.bundle, use: key.use, environment: kept.environment)
      let reply = try await bus.request(
        request, to: .pushServer, within: .seconds(86_400), whenUnreachable: .wait)
      return .issued(key, reply.token)
    } catch {
      throw error  // back on this actor, see BusConnection
    }
  }

  // MARK: Authors

  func notify(_ address: Address, _ call: TokenStateMachine.TokenNotice) {
    begin(address) { [bus, deadline] service in
      do throws(BusError) {
        switch call {
        case .widgets(let request):
          _ = try await bus.request(request, to: address, within: deadline, whenUnreachable: .wait)
        case .controls(let request):
          _ = try await bus.request(request, to: address, within: deadline, whenUnreachable: .wait)
        }
        await service.ended(.notified(address, call))
      } catch {
        guard error.code != .closed else { return }
        await service.ended(.notNotified(address, call))
      }
    }
  }

  func notify(_ address: Address, _ app: String, _ token: String) {
    begin(address) { [bus] service in
      do throws(BusError) {
        try await bus.deliver(AppTokenChanged(token: token), to: address)
        await service.ended(.appNotified(app: app, token))
      } catch {
        // The app has exited or refuses the event: it requests its token at its next launch.
      }
    }
  }

  func notify(_ app: Address, _ notification: PushedNotification) {
    let id = notification.uniqueID
    begin(app) { [bus, deadline] service in
      let request = ReceiveNotification(uniqueID: id, payload: notification.payload)
      do throws(BusError) {
        let reply = try await bus.request(
          request, to: app, id: id, context: MessageContext(correlation: id), within: deadline, whenUnreachable: .wait)
        await service.ended(.answered(id, reply.result))
      } catch {
        guard error.code != .closed else { return }
        await service.ended(error.code == .deadline ? .overran(id) : .failed(id, "\(error)"))
      }
    }
  }

  /// Starts a call to a process instance. The call is cancelled when the instance ends.
  private func begin(_ address: Address, _ call: @escaping @Sendable (PushService) async -> Void) {
    let number = UUID()
    notice[address, default: [:]][number] = tasks.start {
      await call(self)
      await self.endCall(number, of: address)
    }
  }

  private func endCall(_ number: UUID, of address: Address) { notice[address]?[number] = nil }

  private func ended(_ event: TokenStateMachine.Event) {
    if !Task.isCancelled { handle(event) }
  }

  private func ended(_ event: NotificationStateMachine.Event) {
    if !Task.isCancelled { core.handle(.notifications([event])) }
  }

  // MARK: Steps

  /// How many reports may be unacknowledged at once.
  private static let window = 100

  /// Reports the progress of notifications to the push server, in order.
  func report() {
    while sent < reports.count, sent < Self.window {
      let report = reports[sent]
      sent += 1
      bus.submit(
        report.progress, to: .pushServer, id: report.envelope,
        context: MessageContext(correlation: report.progress.uniqueID)
      ) { [weak self] result in
        if case .failure(let error) = result, error.code == .closed { return }
        self?.tasks.start { await self?.acknowledge(report.number) }
      }
    }
  }

  private func acknowledge(_ number: Int64) {
    guard core.failure == nil, let index = reports.firstIndex(where: { $0.number == number }) else { return }
    reports.remove(at: index)
    sent -= 1
    acknowledged.append(number)
    // Reports that are acknowledged until this task runs are deleted in the same transaction.
    if acknowledged.count == 1 { tasks.start { await self.forget() } }
    report()
  }

  private func forget() {
    let numbers = acknowledged
    acknowledged = []
    do {
      try store.remove(numbers)
    } catch {
      core.fail("the pushes cannot be written: \(error)")
    }
  }
}
