// SPDX-License-Identifier: Apache-2.0

import Archive
package import Foundation
import LiveActivities
package import Messages

// Notifications of the push type liveactivity, and changes of one activity.

extension ActivityStateMachine {
  /// What became of a notification.
  package struct PushResult: Sendable, Hashable {
    package let step: PushStep.Name
    package let detail: String
    /// The app whose activity was started, which is launched to receive its token.
    package var started: String?
  }

  /// A notification for an activity, or one that starts one. The same notification again changes nothing.
  package mutating func receive(_ push: PushedNotification, now: Date) -> PushResult {
    guard let payload = LiveActivityPayload(push.payload) else {
      return PushResult(step: .discarded, detail: "its payload is not JSON with aps")
    }
    let content = LiveActivityContent(push.payload)
    switch push.subject.use {
    case .liveActivity(let number): return change(number, push, payload, content, now)
    case .liveActivityStarts(let type): return start(type, push, payload, content, now)
    case .app, .widgets, .control, .fleet: return PushResult(step: .discarded, detail: "it is not for a Live Activity")
    }
  }

  private mutating func start(
    _ type: String, _ push: PushedNotification, _ payload: LiveActivityPayload, _ content: LiveActivityContent,
    _ now: Date
  ) -> PushResult {
    let app = push.subject.bundle
    if state.starts.contains(push.uniqueID) { return PushResult(step: .handled, detail: "started", started: app) }
    guard payload.event == .start else {
      return PushResult(step: .discarded, detail: "a token that starts activities takes only the event start")
    }
    guard content.attributesType == type else {
      let found = content.attributesType ?? "missing"
      return PushResult(step: .discarded, detail: "attributes-type is \(found), and the token is that of \(type)")
    }
    guard let attributes = content.attributes, let state = content.state else {
      return PushResult(step: .discarded, detail: "attributes or content-state is missing, or not an object")
    }
    let record = ActivityContentRecord(
      state: state, staleDate: payload.staleDate, relevanceScore: content.relevanceScore ?? 0)
    do throws(BusError) {
      try request(
        RequestActivity(
          id: push.uniqueID.uuidString, attributesType: type, attributes: attributes, content: record, usesToken: true),
        app: app, because: .push, now: now)
    } catch {
      return PushResult(step: .discarded, detail: "\(error)")
    }
    if let timestamp = payload.timestamp, let newest = self.state.activities.indices.last {
      self.state.activities[newest].life.timestamp = timestamp
    }
    self.state.starts.append(push.uniqueID)
    self.state.starts = self.state.starts.suffix(Self.rememberedStarts)
    return PushResult(step: .handled, detail: "started", started: app)
  }

  private mutating func change(
    _ number: Int, _ push: PushedNotification, _ payload: LiveActivityPayload, _ content: LiveActivityContent,
    _ now: Date
  ) -> PushResult {
    guard let index = state.activities.firstIndex(where: { $0.number == number }),
      state.activities[index].record.phase != .ended || state.activities[index].lastPush == push.uniqueID
    else { return PushResult(step: .discarded, detail: "the activity has ended") }
    var kept = state.activities[index]
    if kept.lastPush == push.uniqueID { return PushResult(step: .handled, detail: "taken before") }
    guard let event = payload.event, event != .start else {
      return PushResult(step: .discarded, detail: "the token of an activity takes only the events update and end")
    }
    guard payload.timestamp != nil else {
      return PushResult(step: .discarded, detail: "its payload has no timestamp in aps")
    }
    guard event == .end || content.state != nil else {
      return PushResult(step: .discarded, detail: "content-state is missing, or not an object")
    }
    kept.lastPush = push.uniqueID
    do throws(ActivityLifetime.Refusal) {
      try kept.life.take(timestamp: payload.timestamp)
      if event == .update, push.priority == 10 { try kept.life.pay(now: now, limits) }
    } catch {
      guard error == .throttled else { return PushResult(step: .discarded, detail: "a newer content is shown") }
      state.activities[index].life = kept.life
      state.activities[index].lastPush = push.uniqueID
      return PushResult(
        step: .budget, detail: "more than \(Int(saturating: limits.priority10PerHour)) of priority 10 in an hour")
    }
    if let state = content.state {
      kept.take(
        ActivityContentRecord(
          state: state, staleDate: payload.staleDate,
          relevanceScore: content.relevanceScore ?? kept.record.content.relevanceScore))
    }
    if event == .end { kept.end(now, dismissAt: payload.dismissalDate, limits) }
    state.activities[index] = kept
    changed(event == .end ? .ended : .updated, .push, kept.record)
    advance(to: now)
    return PushResult(step: .handled, detail: event == .end ? "ended" : "updated")
  }
}

extension ActivityStateMachine.Kept {
  mutating func take(_ content: ActivityContentRecord) {
    record.content = content
    life.update(staleAt: content.staleDate)
    version += 1
    agree()
  }

  mutating func end(_ now: Date, dismissAt: Date?, _ limits: ActivityLimits) {
    life.end(now, dismissAt: dismissAt, limits)
    agree()
  }

  /// The record agrees with the lifetime.
  mutating func agree() {
    record.phase = life.endedAt != nil ? .ended : life.isStale ? .stale : .active
    record.endedAt = life.endedAt
    record.dismissAt = life.dismissAt
    if record.phase == .ended { record.token = nil }
  }
}
