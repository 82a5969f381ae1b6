import Archive
import Conversations
import Foundation
import MessageBus
import Timekeeping

// What the keeper says: to the push server, to the authors' handlers, to the apps.

extension PushKeeper {
  // MARK: Tokens

  /// Asks for what is wanted, and gives back what is not, while there is a network.
  func askForTokens() {
    let open = tokens.state.tokens.filter { $0.value.phase != .held }
    for (key, task) in asking where !isOnline || open[key] == nil {
      task.cancel()
      asking[key] = nil
    }
    guard isOnline else { return }
    for (key, kept) in open where asking[key] == nil {
      asking[key] = Task { [weak self] in await self?.ask(key, kept) }
    }
  }

  /// Until the push server answers.
  private func ask(_ key: TokenKey, _ kept: TokenDecision.Kept) async {
    var pause = 1.0
    while !Task.isCancelled {
      do throws(BusError) {
        let event = try await answer(key, kept)
        guard !Task.isCancelled else { return }
        asking[key] = nil
        take(event)
        return askForTokens()
      } catch {
        guard error.code != .closed else { return }
        guard (try? await machine.sleep(until: machine.now.addingTimeInterval(pause))) != nil else { return }
        pause = min(pause * 2, 60)
      }
    }
  }

  private func answer(_ key: TokenKey, _ kept: TokenDecision.Kept) async throws(BusError) -> TokenDecision.Event {
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
      throw error  // on this actor again: see BusConnection
    }
  }

  // MARK: Authors

  func tell(_ address: Address, _ call: TokenDecision.Telling) {
    begin(address) { [bus, deadline] keeper in
      let request = TellPushHandlers(token: call.token, widgets: call.widgets)
      do throws(BusError) {
        _ = try await bus.request(request, to: address, within: deadline, whenUnreachable: .wait)
        await keeper.ended(.told(address, call))
      } catch {
        guard error.code != .closed else { return }
        await keeper.ended(.notTold(address, call))
      }
    }
  }

  func tell(_ address: Address, _ app: String, _ token: String) {
    begin(address) { [bus] keeper in
      do throws(BusError) {
        try await bus.deliver(AppTokenChanged(token: token), to: address)
        await keeper.ended(.appTold(app: app, token))
      } catch {
        // The app is gone, or does not want to hear it: it asks when it is launched next.
      }
    }
  }

  func tell(_ app: Address, _ notification: PushedNotification) {
    let id = notification.uniqueID
    begin(app) { [bus, deadline] keeper in
      let request = ReceiveNotification(uniqueID: id, payload: notification.payload)
      do throws(BusError) {
        let reply = try await bus.request(
          request, to: app, id: id, story: Story(correlation: id), within: deadline, whenUnreachable: .wait)
        await keeper.ended(.answered(id, reply.result))
      } catch {
        guard error.code != .closed else { return }
        await keeper.ended(error.code == .deadline ? .overran(id) : .failed(id, "\(error)"))
      }
    }
  }

  /// Begins a call to a process, which ends with its life.
  private func begin(_ address: Address, _ call: @escaping @Sendable (PushKeeper) async -> Void) {
    let number = UUID()
    telling[address, default: [:]][number] = Task {
      await call(self)
      telling[address]?[number] = nil
    }
  }

  private func ended(_ event: TokenDecision.Event) {
    if !Task.isCancelled { take(event) }
  }

  private func ended(_ event: NotificationDecision.Event) {
    if !Task.isCancelled { take(event) }
  }

  // MARK: Stations

  /// So many are under way at once.
  private static let window = 100

  /// Tells the push server what became of its notifications, in order.
  func report() {
    while sent < reports.count, sent < Self.window {
      let report = reports[sent]
      sent += 1
      bus.submit(
        report.progress, to: .pushServer, id: report.envelope, story: Story(correlation: report.progress.uniqueID)
      ) { [weak self] result in
        if case .failure(let error) = result, error.code == .closed { return }
        Task { await self?.acknowledge(report.number) }
      }
    }
  }

  private func acknowledge(_ number: Int64) {
    guard let index = reports.firstIndex(where: { $0.number == number }) else { return }
    reports.remove(at: index)
    sent -= 1
    acknowledged.append(number)
    // Those that are acknowledged meanwhile are forgotten in the same transaction.
    if acknowledged.count == 1 { Task { forget() } }
    report()
  }

  private func forget() {
    let numbers = acknowledged
    acknowledged = []
    do {
      try store.remove(numbers)
    } catch {
      _ = fail(error)
    }
  }
}
