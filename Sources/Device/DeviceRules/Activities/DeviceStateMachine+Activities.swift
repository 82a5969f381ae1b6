// SPDX-License-Identifier: Apache-2.0

import Archive
import Foundation
import Messages

// Live Activities, and what follows from them for tokens and notifications.

extension DeviceStateMachine {
  /// - Throws: the refusal of a request, definite.
  mutating func handle(_ event: ActivityEvent, _ now: Date) throws(BusError) -> DeviceReply {
    switch event {
    case .advance: advanceActivities(now)
    case .request(let request, let app, let cause, let context):
      try changeActivities(context, now) { activities throws(BusError) in
        try activities.request(request, app: app, because: cause, now: now)
      }
      return .activities(activities.activities(of: app))
    case .change(let request, let app, let cause, let context):
      let owner = try changeActivities(context, now) { activities throws(BusError) in
        try activities.change(request.id, request.change, of: app, because: cause, now: now)
      }
      return .activities(activities.activities(of: owner))
    case .allow(let request, let context):
      try changeActivities(context, now) { activities throws(BusError) in
        activities.allow(request.app, request.isAllowed, now: now)
      }
    case .declared(let bundle, let declarations):
      // Most extensions have none.
      if declarations.isEmpty, activities.state.declarations[bundle] == nil { return .done }
      try changeActivities(.none, now) { activities throws(BusError) in activities.declare(bundle, declarations) }
    case .archived(let number, let version, let note, let text):
      try changeActivities(.none, now) { activities throws(BusError) in
        activities.archived(number, version: version, note: note, text: text)
      }
    }
    return .done
  }

  mutating func advanceActivities(_ now: Date) { changeActivities(.none, now) { $0.advance(to: now) } }

  /// A notification for an activity, or one that starts one.
  mutating func receive(_ push: PushedNotification, _ now: Date) {
    let result = changeActivities(MessageContext(correlation: push.uniqueID), now) { activities in
      // At the start of a host, activities may have ended since the last one.
      activities.advance(to: now)
      return activities.receive(push, now: now)
    }
    run(.notifications([.performed(push.uniqueID, result.step, result.detail)]), now)
    if let app = result.started { step.actions.append(.activities(.started(app: app))) }
  }

  /// The token of an activity, or one that starts activities; `nil` for none.
  mutating func set(_ token: String?, _ key: TokenKey, _ now: Date) {
    changeActivities(.none, now) { activities in
      switch key.use {
      case .liveActivity(let number): activities.setToken(number, token)
      case .liveActivityStarts(let type): activities.setStartToken(key.bundle, type, token)
      case .app, .widgets, .control, .fleet: break
      }
    }
  }

  /// The views depend on settings that changed.
  mutating func archiveActivitiesAgain(_ now: Date) { changeActivities(.none, now) { $0.archiveAgain() } }

  /// The tokens that activities need, and those that start them.
  package var activityTokens: Set<TokenKey> {
    let own = activities.withToken.map { TokenKey($0.app, .liveActivity($0.number)) }
    let starts = activities.startable.flatMap { app, types in types.map { TokenKey(app, .liveActivityStarts($0)) } }
    return Set(own + starts)
  }

  /// A change that is refused has no effect.
  @discardableResult
  private mutating func changeActivities<Value, Refusal: Error>(
    _ context: MessageContext, _ now: Date, _ body: (inout ActivityStateMachine) throws(Refusal) -> Value
  ) throws(Refusal) -> Value {
    var changed = activities
    let value = try body(&changed)
    let moved = changed.moved
    changed.moved = []
    let former = activityTokens
    activities = changed
    step.changed.insert(.activities)
    for notice in moved { step.actions.append(.activities(.moved(notice, context))) }
    if activityTokens != former { run(.tokens(.activities(activityTokens)), now) }
    step.actions.append(.activities(.changed(context)))
    return value
  }
}
