// SPDX-License-Identifier: Apache-2.0

import DeviceRules
import Foundation
import Messages
import Synchronization

/// Reports about the sessions of a device, from both state machines at one moment.
struct TransferReports {
  let context: TransferContext
  let deliveries: DeliveryStateMachine
  let loading: LoadingStateMachine
  let configurations: [SessionKey: SessionConfiguration]

  /// The sessions that `ps` prints.
  ///
  /// - Throws: database errors.
  func status() throws -> [SessionStatus] {
    var bytes: [SessionKey: Int64] = [:]
    for task in try context.store.taskKeys() {
      bytes[task.key.session, default: 0] += task.contentLength ?? context.bytes(task.key)
    }
    let undelivered = undelivered()
    return sessionsInOrder().map { key in
      SessionStatus(
        owner: key.owner, session: key.identifier, running: deliveries.sessions[key]?.running.count ?? 0,
        undelivered: undelivered[key] ?? 0, bytesReceived: bytes[key] ?? 0)
    }
  }

  /// `session.list`: as many sessions and tasks as fit in an envelope.
  ///
  /// - Parameter clock: the state of the device's clock, for the reply.
  /// - Throws: database errors.
  func list(_ request: ListSessions, clock: ClockState) throws -> ListSessions.Reply {
    let sessions = sessionReports(request.session)
    let (tasks, count) = try context.store.page(session: request.session, offset: request.offset, limit: 256)
    var room = Wire.bodyLimit / 2
    return ListSessions.Reply(
      network: loading.network, clock: clock,
      sessions: try page(sessions.dropFirst(request.sessionOffset), &room), sessionCount: sessions.count,
      tasks: try page(tasks.lazy.map(report), &room), taskCount: count)
  }

  /// Takes reports until `room` bytes are used, and one more: `room` is half of an envelope's limit.
  private func page<Report: Encodable>(_ reports: some Sequence<Report>, _ room: inout Int) throws -> [Report] {
    var page: [Report] = []
    for report in reports {
      page.append(report)
      room -= try BodyCoding.data(report).count
      guard room > 0 else { break }
    }
    return page
  }

  private func sessionsInOrder() -> [SessionKey] {
    deliveries.sessions.keys.sorted()
  }

  private func undelivered() -> [SessionKey: Int] {
    var counts = deliveries.sessions.all.mapValues(\.ended.count)
    for delivery in deliveries.deliveries.values { counts[delivery.session, default: 0] += delivery.tasks.count }
    return counts
  }

  private func sessionReports(_ name: String?) -> [SessionReport] {
    let undelivered = undelivered()
    return sessionsInOrder().compactMap { key in
      guard name == nil || name == key.identifier, let session = deliveries.sessions[key],
        let configuration = configurations[key]
      else { return nil }
      return SessionReport(
        owner: key.owner, session: key.identifier, configuration: configuration, openIn: session.openIn,
        running: session.running.count, undelivered: undelivered[key] ?? 0, waitsFor: deliveryWaitsFor(key, session),
        limitedUntil: loading.limitedUntil(key.owner))
    }
  }

  private func deliveryWaitsFor(_ key: SessionKey, _ session: DeliveryStateMachine.Session) -> String? {
    guard let delivery = deliveries.deliveries.values.first(where: { $0.session == key }) else {
      return session.ended.isEmpty ? nil : "the session's other tasks"
    }
    if delivery.isUnderWay { return "the owner's acknowledgement" }
    if delivery.isHeld { return "a process that creates the session" }
    if let instant = delivery.notBefore { return "the next attempt, \(instant.formatted(.iso8601))" }
    if session.isQuit { return "the user to open the app" }
    return session.sendsLaunchEvents ? "its owner to run" : "the owner's next launch: sessionSendsLaunchEvents is false"
  }

  /// What a task waits for, with the reason why it must be tried again.
  private func description(_ wait: LoadingStateMachine.WaitReason, of key: TaskKey) -> String {
    guard case .retry = wait, let reason = context.failures.withLock({ $0[key] }) else { return wait.description }
    return "\(wait): \(reason)"
  }

  private func report(of task: StoredTask) -> TaskReport {
    let transfer = task.hasEnded ? nil : loading.transfers[task.key]
    let wait = transfer?.wait
    let state: TaskReport.State =
      task.hasEnded ? .ended : wait == .suspended ? .suspended : wait == nil ? .loading : .waiting
    var snapshot = task.snapshot(bytes: context.bytes(of: task))
    // A list does not show bodies, and an envelope has a size limit.
    snapshot.request.body = nil
    snapshot.currentRequest?.body = nil
    return TaskReport(
      owner: task.key.session.owner, session: task.key.session.identifier, task: snapshot, state: state,
      waitsFor: wait.map { description($0, of: task.key) },
      nextTry: wait == .limiter ? loading.limitedUntil(task.key.session.owner) : wait?.instant,
      attempts: transfer?.attempts ?? task.attempts, response: task.response,
      failure: task.failure?.with(resumeData: nil))
  }
}
