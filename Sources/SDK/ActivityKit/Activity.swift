// SPDX-License-Identifier: Apache-2.0

import Archive
import Messages

// Source of all: `ActivityKit` of the iOS 18 SDK.

/// A Live Activity of this app. Source: `ActivityKit.Activity`.
public final class Activity<Attributes: ActivityAttributes>: Identifiable, Sendable {
  public typealias ContentState = Attributes.ContentState

  public let id: String
  // The author's value, which is never written.
  public nonisolated(unsafe) let attributes: Attributes
  private let registry: ActivityRegistry
  // The content of the last record whose content could be decoded; written under the lock of `LastContent`.
  private let last: LastContent<ContentState>
  private let first: ActivityRecord

  init?(_ record: ActivityRecord, _ registry: ActivityRegistry) {
    guard record.attributesType == Self.typeName,
      let attributes = Self.decoded(Attributes.self, text: record.attributes, registry: registry),
      let state = Self.decoded(ContentState.self, text: record.content.state, registry: registry)
    else { return nil }
    id = record.id
    self.attributes = attributes
    self.registry = registry
    first = record
    last = LastContent(
      record.content,
      ActivityContent(
        state: state, staleDate: record.content.staleDate, relevanceScore: record.content.relevanceScore))
  }

  static var typeName: String { "\(Attributes.self)" }

  private static func decoded<T: Decodable>(_ type: T.Type, text: String, registry: ActivityRegistry) -> T? {
    do {
      return try JSONDecoder().decode(type, from: Data(text.utf8))
    } catch {
      registry.log("a Live Activity of \(typeName) has JSON that is no \(type): \(error)")
      return nil
    }
  }

  // MARK: State

  private var record: ActivityRecord? { registry.now.activities.first { $0.id == id } }

  public var content: ActivityContent<ContentState> { content(in: registry.now) ?? last.content }

  @available(*, deprecated, renamed: "content.state")
  public var contentState: ContentState { content.state }

  public var activityState: ActivityState { Self.state(record) }

  /// `nil` until the push server has replied.
  public var pushToken: Data? { record?.token.flatMap { Data(hexadecimal: $0) } }

  public var style: ActivityStyle { first.style == "transient" ? .transient : .standard }

  private static func state(_ record: ActivityRecord?) -> ActivityState {
    switch record?.phase {
    case .active: .active
    case .stale: .stale
    case .ended: .ended
    case nil: .dismissed
    }
  }

  private func content(in activities: AppActivities) -> ActivityContent<ContentState>? {
    guard let content = activities.activities.first(where: { $0.id == id })?.content else { return nil }
    return last.take(content) { Self.decoded(ContentState.self, text: $0, registry: registry) }
  }

  // MARK: Requests

  /// Starts a Live Activity. Blocks until the host has replied.
  ///
  /// - Throws: an `ActivityAuthorizationError`; with a push type and without the entitlement for pushes an `NSError` of the
  ///   domain `com.apple.ActivityKit.ActivityInput` (observed).
  public static func request(
    attributes: Attributes, content: ActivityContent<ContentState>, pushType: PushType? = nil
  ) throws -> Activity<Attributes> {
    try request(attributes: attributes, content: content, pushType: pushType, style: .standard)
  }

  /// Starts a Live Activity. Blocks until the host has replied.
  ///
  /// - Throws: an `ActivityAuthorizationError`; with a push type and without the entitlement for pushes an `NSError` of the
  ///   domain `com.apple.ActivityKit.ActivityInput` (observed).
  public static func request(
    attributes: Attributes, content: ActivityContent<ContentState>, pushType: PushType? = nil, style: ActivityStyle
  ) throws -> Activity<Attributes> {
    if let channel = pushType?.channel {
      fatalError("Activity.request: the push type channel(\(channel)) is not simulated; use token")
    }
    let registry = ActivityRegistry.current
    let request = RequestActivity(
      id: UUID().uuidString, attributesType: typeName, attributes: try json(attributes), content: try record(content),
      usesToken: pushType != nil, style: style.name)
    switch registry.request(request) {
    case .success(let reply):
      guard let activity = reply.activities.first(where: { $0.id == request.id }).flatMap({ Self($0, registry) })
      else { throw ActivityAuthorizationError.persistenceFailure }
      return activity
    case .failure(let error):
      registry.log("Activity.request: \(error.message)")
      if error.code == .noPushEntitlement { throw NSError(domain: "com.apple.ActivityKit.ActivityInput", code: 0) }
      throw ActivityAuthorizationError(error.code)
    }
  }

  @available(*, deprecated, message: "use request(attributes:content:pushType:)")
  public static func request(
    attributes: Attributes, contentState: ContentState, pushType: PushType? = nil
  ) throws -> Activity<Attributes> {
    try request(
      attributes: attributes, content: ActivityContent(state: contentState, staleDate: nil), pushType: pushType)
  }

  // MARK: Changes

  /// Shows other content. Waits until the host has stored it.
  public func update(_ content: ActivityContent<ContentState>) async {
    await update(content, alert: nil, timestamp: nil)
  }

  /// Shows other content, and alerts the user.
  public func update(_ content: ActivityContent<ContentState>, alertConfiguration: AlertConfiguration?) async {
    await update(content, alert: alertConfiguration, timestamp: nil)
  }

  /// The same; a change with an older timestamp than that of the content is ignored.
  public func update(
    _ content: ActivityContent<ContentState>, alertConfiguration: AlertConfiguration? = nil, timestamp: Date
  ) async { await update(content, alert: alertConfiguration, timestamp: timestamp) }

  @available(*, deprecated, message: "use update(_:)")
  public func update(using contentState: ContentState, alertConfiguration: AlertConfiguration? = nil) async {
    await update(ActivityContent(state: contentState, staleDate: nil), alert: alertConfiguration, timestamp: nil)
  }

  private func update(
    _ content: ActivityContent<ContentState>, alert: AlertConfiguration?, timestamp: Date?
  ) async {
    guard let record = try? Self.record(content) else {
      return registry.log("Activity.update: the content cannot be encoded")
    }
    await registry.change(
      ChangeActivity(id: id, .update(record, alert: alert?.title.resolved(), timestamp: timestamp)))
  }

  /// Ends the activity. Its last content stays on the Lock Screen until its dismissal.
  public func end(
    _ content: ActivityContent<ContentState>?, dismissalPolicy: ActivityUIDismissalPolicy = .default
  ) async { await end(content, policy: dismissalPolicy, timestamp: nil) }

  /// The same; a change with an older timestamp than that of the content is ignored.
  public func end(
    _ content: ActivityContent<ContentState>?, dismissalPolicy: ActivityUIDismissalPolicy = .default, timestamp: Date
  ) async { await end(content, policy: dismissalPolicy, timestamp: timestamp) }

  @available(*, deprecated, message: "use end(_:dismissalPolicy:)")
  public func end(using contentState: ContentState? = nil, dismissalPolicy: ActivityUIDismissalPolicy = .default) async
  {
    await end(contentState.map { ActivityContent(state: $0, staleDate: nil) }, policy: dismissalPolicy, timestamp: nil)
  }

  private func end(
    _ content: ActivityContent<ContentState>?, policy: ActivityUIDismissalPolicy, timestamp: Date?
  ) async {
    let record: ActivityContentRecord?
    do {
      record = try content.map { try Self.record($0) }
    } catch {
      return registry.log("Activity.end: the content cannot be encoded: \(error)")
    }
    await registry.change(ChangeActivity(id: id, .end(record, policy.value, timestamp: timestamp)))
  }

  private static func record(_ content: ActivityContent<ContentState>) throws -> ActivityContentRecord {
    ActivityContentRecord(
      state: try json(content.state), staleDate: content.staleDate, relevanceScore: content.relevanceScore)
  }

  private static func json(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  // MARK: All activities

  /// The activities of this type that are not dismissed. Blocks at the first use until the host has replied.
  public static var activities: [Activity<Attributes>] {
    let registry = ActivityRegistry.current
    return registry.now.activities.compactMap { Self($0, registry) }
  }

  /// The token by which a backend starts activities of this type; `nil` until it exists.
  public static var pushToStartToken: Data? {
    ActivityRegistry.current.now.startTokens[typeName].flatMap { Data(hexadecimal: $0) }
  }

  /// Each activity of this type that is started, those that exist first.
  public static var activityUpdates: ActivitySequence<Activity<Attributes>> {
    let registry = ActivityRegistry.current
    return ActivitySequence(registry) {
      var seen: Set<String> = []
      return { activities in
        let new = activities.activities.filter { $0.attributesType == typeName && seen.insert($0.id).inserted }
        return new.compactMap { Self($0, registry) }
      }
    }
  }

  /// Each token by which a backend starts activities of this type.
  public static var pushToStartTokenUpdates: ActivitySequence<Data> {
    ActivitySequence(.current) {
      changes {
        $0.startTokens[typeName]
      } and: {
        Data(hexadecimal: $0)
      }
    }
  }

  /// Each device token of this activity.
  public var pushTokenUpdates: ActivitySequence<Data> {
    let id = id
    return ActivitySequence(registry) {
      changes { activities in
        activities.activities.first { $0.id == id }?.token
      } and: {
        Data(hexadecimal: $0)
      }
    }
  }

  /// Each state of this activity, the present one first. Ends when it is dismissed.
  public var activityStateUpdates: ActivitySequence<ActivityState> {
    let id = id
    return ActivitySequence(registry, until: { $0 == .dismissed }) {
      changes { activities in
        Self.state(activities.activities.first { $0.id == id })
      } and: {
        $0
      }
    }
  }

  /// Each content of this activity, the present one first.
  public var contentUpdates: ActivitySequence<ActivityContent<ContentState>> {
    ActivitySequence(registry) {
      let contents = changes { activities in
        activities.activities.first { $0.id == self.id }?.content
      } and: {
        $0
      }
      return { activities in
        contents(activities).isEmpty ? [] : self.content(in: activities).map { [$0] } ?? []
      }
    }
  }

  @available(*, deprecated, message: "use contentUpdates")
  public var contentStateUpdates: ActivitySequence<ContentState> {
    let contents = contentUpdates
    return ActivitySequence(registry) {
      let next = contents.make()
      return { next($0).map(\.state) }
    }
  }
}

extension ActivityAuthorizationError {
  init(_ code: BusError.Code) {
    self =
      switch code {
      case .activitiesDenied: .denied
      case .activityTooLarge: .attributesTooLarge
      case .tooManyActivities: .targetMaximumExceeded
      case .appNotVisible: .visibility
      default: .persistenceFailure
      }
  }
}

/// Whether Live Activities can be started. Source: `ActivityKit.ActivityAuthorizationInfo`.
public final class ActivityAuthorizationInfo: Sendable {
  public init() {}

  /// Blocks at the first use until the host has replied.
  public var areActivitiesEnabled: Bool { ActivityRegistry.current.now.areEnabled }

  /// Always `false`: the budget does not depend on it here.
  public var frequentPushesEnabled: Bool { false }

  /// Each value of `areActivitiesEnabled`, the present one first.
  public var activityEnablementUpdates: ActivitySequence<Bool> {
    ActivitySequence(.current) {
      changes {
        $0.areEnabled
      } and: {
        $0
      }
    }
  }

  /// Always `false`.
  public var frequentPushEnablementUpdates: ActivitySequence<Bool> {
    ActivitySequence(.current) {
      changes { _ in
        false
      } and: {
        $0
      }
    }
  }
}
