// SPDX-License-Identifier: Apache-2.0

import Foundation
import MessageBus
package import Messages

extension PushDeliveryService {
  /// Registers the handlers for messages of devices and operators. Call before the connection is started.
  package nonisolated func listen() {
    listenToDevices()
    listenToFleets()
    bus.onRequest(ListTokens.self) { [store] request, _ in
      ListTokens.Reply(tokens: try await store.page(request))
    }
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
    guard let device = from.source.device else { throw BusError(.refused, "\(from.source) is not a device") }
    return PushSubject(device: device, bundle: bundle, use: use)
  }

  private nonisolated func tokens(
    _ job: (@escaping @Sendable (Result<[DeviceToken], BusError>) -> Void) -> PushJobQueue.Job
  ) async throws -> [DeviceToken] {
    let result = await withCheckedContinuation { continuation in
      _ = put(job { continuation.resume(returning: $0) })
    }
    return try result.get()
  }

  /// Returns a page of the delivery log, which includes all requests that were answered before the call.
  package nonisolated func page(_ request: ListPushes) async throws -> ListPushes.Reply {
    await caughtUp()
    return try await store.page(request)
  }

  // MARK: Sending to the device

  /// Sends a notification to its device; this process's connection sends it again until it is acknowledged.
  func send(_ notification: PushedNotification) {
    let (id, subject) = (notification.uniqueID, notification.subject)
    bus.submit(
      DeliverPush(notification: notification), to: .host(subject.device), id: id,
      context: MessageContext(correlation: id)
    ) { [weak self] result in
      switch result {
      case .success: self?.put(.event(.acknowledged(id, of: subject)))
      // This process has left the bus: the next process instance continues.
      case .failure(let error) where error.code == .closed: break
      case .failure(let error): self?.put(.event(.refused(id, of: subject, why: error.message)))
      }
    }
  }

  /// Sends a device token to its device until it acknowledges.
  func notifyDevice(_ subject: PushSubject, _ token: String?) {
    bus.submit(
      TokenReplaced(bundle: subject.bundle, use: subject.use, token: token), to: .host(subject.device), id: UUID(),
      context: .none
    ) { [weak self] result in
      guard case .success = result else { return }
      self?.put(.notified(subject, token: token))
    }
  }
}
