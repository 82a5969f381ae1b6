package import Conversations
import Foundation
import MessageBus

extension PushKeeper {
  /// Hears what devices and operators say. Before the connection is started.
  package nonisolated func listen() {
    listenToDevices()
    bus.onRequest(ListTokens.self) { [tokens] _, _ in ListTokens.Reply(tokens: tokens.all) }
    bus.onRequest(ListPushes.self) { [weak self] request, _ in
      guard let self else { throw BusError(.closed, "the push server is ending") }
      return try await page(request)
    }
    bus.onRequest(ChangeToken.self) { [weak self] request, _ in
      guard let self else { throw BusError(.closed, "the push server is ending") }
      return ChangeToken.Reply(tokens: try await tokens { .change(request.subject, request.change, then: $0) })
    }
  }

  private nonisolated func listenToDevices() {
    bus.onPresence { [weak self] presence in
      guard presence.address.role == .host, let device = presence.address.device else { return }
      self?.put(
        .event(.presence(device: device, isPresent: presence.isPresent, generation: presence.generation)))
    }
    bus.onEvent(DeviceReach.self) { [weak self] event, from in
      guard let self, let device = from.source.device else { return }
      put(
        .event(
          .reach(
            device: device, isOnline: event.isOnline, isAwake: event.isAwake, generation: from.sourceGeneration)))
      await caughtUp()
    }
    bus.onEvent(PushProgress.self) { [weak self] event, _ in
      guard let self else { throw BusError(.closed, "the push server is ending") }
      let error = await withCheckedContinuation { continuation in
        _ = put(.progress(event) { continuation.resume(returning: $0) })
      }
      if let error { throw error }
    }
    bus.onRequest(IssueToken.self) { [weak self] request, from in
      guard let self else { throw BusError(.closed, "the push server is ending") }
      let subject = try Self.subject(request.bundle, request.use, from)
      let issued = try await tokens { .issue(subject, request.environment, then: $0) }
      return IssueToken.Reply(token: issued.first?.token ?? "")
    }
    bus.onRequest(ReleaseToken.self) { [weak self] request, from in
      guard let self else { throw BusError(.closed, "the push server is ending") }
      let subject = try Self.subject(request.bundle, request.use, from)
      _ = try await tokens { .release(subject, then: $0) }
      return Done()
    }
  }

  private static func subject(_ bundle: String, _ use: PushTokenUse, _ from: Received) throws(BusError) -> PushSubject {
    guard let device = from.source.device else { throw BusError(.refused, "\(from.source) is no device") }
    return PushSubject(device: device, bundle: bundle, use: use)
  }

  private nonisolated func tokens(
    _ job: (@escaping @Sendable (Result<[DeviceToken], BusError>) -> Void) -> PushInbox.Job
  ) async throws -> [DeviceToken] {
    let result = await withCheckedContinuation { continuation in
      _ = put(job { continuation.resume(returning: $0) })
    }
    return try result.get()
  }

  /// A page of the delivery log, with all that was answered before this call.
  package nonisolated func page(_ request: ListPushes) async throws -> ListPushes.Reply {
    await caughtUp()
    return try await database.page(request)
  }

  // MARK: To the device

  /// Hands a notification to its device; the bus says it again until it is acknowledged.
  func send(_ notification: PushedNotification) {
    let id = notification.uniqueID
    bus.submit(
      DeliverPush(notification: notification), to: .host(notification.subject.device), id: id,
      story: Story(correlation: id)
    ) { [weak self] result in
      switch result {
      case .success: self?.put(.event(.acknowledged(id)))
      // This process leaves the bus: its next life goes on.
      case .failure(let error) where error.code == .closed: break
      case .failure(let error):
        // A device that says that it is offline says when it no longer is.
        self?.put(.event(.refused(id, why: error.message, again: error.code != .offline)))
      }
    }
  }

  /// Tells a device of its token, until it acknowledges.
  func tell(_ subject: PushSubject, _ token: String?) {
    bus.submit(
      TokenReplaced(bundle: subject.bundle, use: subject.use, token: token), to: .host(subject.device), id: UUID(),
      story: .none
    ) { [weak self] result in
      guard case .success = result else { return }
      self?.put(.told(subject, token: token))
    }
  }
}
