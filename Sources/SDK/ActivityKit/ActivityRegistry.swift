// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
import Foundation
import MessageBus
import Messages
import Synchronization

/// The Live Activities of this process's app, as the host sent them last. Any thread.
///
/// The host is asked at the first use, so that a process without Live Activities sends and receives nothing.
final class ActivityRegistry: Sendable {
  private struct State {
    var known: AppActivities?
    var isFollowing = false
    var readers: [UUID: AsyncStream<AppActivities>.Continuation] = [:]
  }

  private let process: HostedProcess
  private let state = Mutex(State())

  init(_ process: HostedProcess) { self.process = process }

  /// The registry of the calling code's process.
  static var current: ActivityRegistry {
    guard let process = HostedProcess.current else {
      fatalError("ActivityKit needs the device of `widgetlab up`; this process was not started by its agent")
    }
    return process.part(ActivityRegistry.self) { ActivityRegistry($0) }
  }

  /// What the host sent last. Blocks at the first use until the host has replied; without a reply, there are none.
  var now: AppActivities {
    if let known = state.withLock({ $0.known }) { return known }
    follow()
    if case .success(let reply) = process.ask(ListActivities(), context: HostedProcess.currentContext) { take(reply) }
    return state.withLock { $0.known } ?? AppActivities(areEnabled: false)
  }

  /// The present state, and each later one.
  func updates() -> AsyncStream<AppActivities> {
    let now = now
    let (stream, continuation) = AsyncStream.makeStream(of: AppActivities.self, bufferingPolicy: .unbounded)
    let id = UUID()
    continuation.onTermination = { [weak self] _ in self?.state.withLock { $0.readers[id] = nil } }
    // A newer state than `now` may have arrived during that time. Within the lock, so that the order of the states is kept.
    state.withLock { state in
      state.readers[id] = continuation
      continuation.yield(state.known ?? now)
    }
    return stream
  }

  /// `Activity.request`. Blocks until the host has replied.
  func request(_ request: RequestActivity) -> Result<AppActivities, BusError> {
    _ = now
    let result = process.ask(request, context: HostedProcess.currentContext)
    if case .success(let reply) = result { take(reply) }
    return result
  }

  /// `Activity.update` and `Activity.end`. Waits for the host, however long that takes.
  func change(_ request: ChangeActivity) async {
    let (process, context) = (process, HostedProcess.currentContext)
    do throws(BusError) {
      take(
        try await process.connection.request(
          request, to: process.host, id: UUID(), context: context, within: .seconds(86_400), whenUnreachable: .wait))
    } catch {
      // As on a device: neither method throws.
      process.log("a Live Activity was not changed: \(error)")
    }
  }

  func log(_ text: String) { process.log(text) }

  private func follow() {
    let isFirst = state.withLock { state in
      defer { state.isFollowing = true }
      return !state.isFollowing
    }
    guard isFirst else { return }
    process.connection.onEvent(ActivitiesChanged.self) { [weak self] event, _ in self?.take(event.activities) }
    // A host that has restarted does not know its followers.
    let process = process
    process.onNewHost { [weak self] in
      do throws(BusError) {
        let reply = try await process.connection.request(ListActivities(), to: process.host)
        self?.take(reply)
      } catch {
        process.log("the Live Activities are not known: \(error)")
      }
    }
  }

  private func take(_ activities: AppActivities) {
    state.withLock { state in
      guard activities.revision >= state.known?.revision ?? 0, activities != state.known else { return }
      state.known = activities
      for reader in state.readers.values { reader.yield(activities) }
    }
  }
}
