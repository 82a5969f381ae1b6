// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
import WidgetLabTesting

/// What was acknowledged, and when: what a power failure after that must not lose.
struct PowerPromises {
  struct Task: Hashable {
    let owner: String
    let session: String
    let number: Int
  }

  /// Seconds since 1970, for each task: the host has accepted it, it has ended, its owner has acknowledged its events.
  private(set) var accepted: [Task: Double] = [:]
  private(set) var finished: [Task: Double] = [:]
  private(set) var acknowledged: [Task: Double] = [:]
  /// The URL that each task loads.
  private(set) var urls: [Task: String] = [:]
  /// When the client had the status 200, by the id of the push.
  let pushes: [UUID: Double]
  /// The receiver of an envelope has sent another because of it; in the order of the times. The broker is no receiver: it
  /// replies before it writes the request and the reply to the journal together.
  private(set) var received: [(at: Double, envelope: LabEnvelope)] = []

  init(_ journal: [LabEnvelope], pushes: [UUID: Double]) {
    self.pushes = pushes
    // An envelope that is sent again has the same id. A delivery then may have more tasks.
    var first: [UUID: LabEnvelope] = [:]
    var last: [UUID: LabEnvelope] = [:]
    for entry in journal {
      if let id = entry.cause, let cause = first[id] {
        if cause.destination == entry.source, entry.envelope.header.source != .messageBus {
          received.append((entry.sentAt, cause))
        }
        take(entry, because: last[id] ?? cause)
      }
      if first[entry.id] == nil { first[entry.id] = entry }
      last[entry.id] = entry
      guard let progress = entry.reading(TransferProgress.self), progress.step == .finished else { continue }
      let task = Task(owner: progress.owner.text, session: progress.session, number: progress.taskIdentifier)
      finished[task] = min(finished[task] ?? .infinity, entry.sentAt)
    }
    received.sort { $0.at < $1.at }
    for index in received.indices.dropFirst()
    where received[index].envelope.sequence < received[index - 1].envelope.sequence {
      received[index].envelope = received[index - 1].envelope
    }
  }

  private mutating func take(_ entry: LabEnvelope, because cause: LabEnvelope) {
    if entry.kind == "transfer.create/ok", let request = cause.reading(CreateTransfer.self) {
      let task = Task(owner: cause.source, session: request.session, number: request.taskIdentifier)
      accepted[task] = min(accepted[task] ?? .infinity, entry.sentAt)
      urls[task] = request.request.url
    }
    if entry.kind == "session.events/ack", let events = cause.reading(SessionEvents.self) {
      for outcome in events.outcomes {
        let task = Task(owner: cause.destination, session: events.session, number: outcome.task.taskIdentifier)
        acknowledged[task] = min(acknowledged[task] ?? .infinity, entry.sentAt)
      }
    }
  }

  /// All times at which something was promised.
  var times: [Double] {
    [accepted, finished, acknowledged].flatMap(\.values) + pushes.values + received.map(\.at)
  }

  /// The tasks that the host must have after a power failure at a time: accepted, and not acknowledged.
  func tasks(at time: Double) -> Set<Task> {
    Set(accepted.keys.filter { has($0, times: accepted, time: time) && !has($0, times: acknowledged, time: time) })
  }

  /// Those of `tasks(at:)` that have ended.
  func endedTasks(at time: Double) -> Set<Task> { tasks(at: time).filter { has($0, times: finished, time: time) } }

  func pushes(at time: Double) -> [UUID] { pushes.filter { $0.value < time }.map(\.key) }

  /// The last envelope that the journal must have.
  func envelope(at time: Double) -> LabEnvelope? { received.last { $0.at < time }?.envelope }

  private func has(_ task: Task, times: [Task: Double], time: Double) -> Bool {
    times[task].map { $0 < time } ?? false
  }
}

extension LabEnvelope {
  /// Seconds since 1970.
  fileprivate var sentAt: Double { Double(envelope.header.sentAt.microseconds) / 1e6 }
}
