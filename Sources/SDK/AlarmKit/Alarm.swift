// SPDX-License-Identifier: Apache-2.0

public import AppIntents
import AuthorRuntime

/// An alarm. Source: `AlarmKit.Alarm`.
public struct Alarm: Identifiable, Codable, Hashable, Sendable {
  /// Source: `AlarmKit.Alarm.State`.
  public enum State: Codable, Hashable, Sendable {
    case scheduled, countdown, paused, alerting
  }

  /// Seconds before and after the alert. Source: `AlarmKit.Alarm.CountdownDuration`.
  public struct CountdownDuration: Codable, Hashable, Sendable {
    public var preAlert: TimeInterval?
    public var postAlert: TimeInterval?

    public init(preAlert: TimeInterval?, postAlert: TimeInterval?) {
      self.preAlert = preAlert
      self.postAlert = postAlert
    }
  }

  /// Source: `AlarmKit.Alarm.Schedule`.
  public enum Schedule: Codable, Hashable, Sendable {
    case fixed(Date)
    case relative(Relative)

    /// Source: `AlarmKit.Alarm.Schedule.Relative`.
    public struct Relative: Codable, Hashable, Sendable {
      /// Source: `AlarmKit.Alarm.Schedule.Relative.Time`.
      public struct Time: Codable, Hashable, Sendable {
        public var hour: Int
        public var minute: Int

        public init(hour: Int, minute: Int) {
          self.hour = hour
          self.minute = minute
        }
      }

      /// Source: `AlarmKit.Alarm.Schedule.Relative.Recurrence`.
      public enum Recurrence: Codable, Hashable, Sendable {
        case never
        case weekly([Locale.Weekday])
      }

      public var time: Time
      public var repeats: Recurrence

      public init(time: Time, repeats: Recurrence = .never) {
        self.time = time
        self.repeats = repeats
      }
    }
  }

  public var id: UUID
  public var schedule: Schedule?
  public var countdownDuration: CountdownDuration?
  public var state: State
}

/// The alarms of the app. Source: `AlarmKit.AlarmManager`. A device here has none: access is denied, what schedules or
/// changes one throws, and the diagnosis `not-simulated` names it.
public final class AlarmManager: Sendable {
  /// Source: `AlarmKit.AlarmManager.AuthorizationState`.
  public enum AuthorizationState: Codable, Hashable, Sendable {
    case notDetermined, denied, authorized
  }

  /// Source: `AlarmKit.AlarmManager.AlarmError`.
  public enum AlarmError: Error, Hashable, Sendable {
    case maximumLimitReached
  }

  /// What is scheduled. Source: `AlarmKit.AlarmManager.AlarmConfiguration`.
  public struct AlarmConfiguration<Metadata: AlarmMetadata>: Sendable {
    public init(
      countdownDuration: Alarm.CountdownDuration? = nil, schedule: Alarm.Schedule? = nil,
      attributes: AlarmAttributes<Metadata>, stopIntent: (any LiveActivityIntent)? = nil,
      secondaryIntent: (any LiveActivityIntent)? = nil, sound: AlertConfiguration.AlertSound = .default
    ) {}

    public static func alarm(
      schedule: Alarm.Schedule? = nil, attributes: AlarmAttributes<Metadata>,
      stopIntent: (any LiveActivityIntent)? = nil, secondaryIntent: (any LiveActivityIntent)? = nil,
      sound: AlertConfiguration.AlertSound = .default
    ) -> Self {
      Self(
        schedule: schedule, attributes: attributes, stopIntent: stopIntent, secondaryIntent: secondaryIntent,
        sound: sound)
    }
    public static func timer(
      duration: TimeInterval, attributes: AlarmAttributes<Metadata>, stopIntent: (any LiveActivityIntent)? = nil,
      secondaryIntent: (any LiveActivityIntent)? = nil, sound: AlertConfiguration.AlertSound = .default
    ) -> Self {
      Self(
        countdownDuration: Alarm.CountdownDuration(preAlert: duration, postAlert: nil), attributes: attributes,
        stopIntent: stopIntent, secondaryIntent: secondaryIntent, sound: sound)
    }
  }

  public static let shared = AlarmManager()

  private init() {}

  public var authorizationState: AuthorizationState { .denied }
  /// Ends at once: the state does not change.
  public var authorizationUpdates: AsyncStream<AuthorizationState> { AsyncStream { $0.finish() } }
  /// Ends at once: there are no alarms.
  public var alarmUpdates: AsyncStream<[Alarm]> { AsyncStream { $0.finish() } }
  public var alarms: [Alarm] { get throws { [] } }

  public func requestAuthorization() async throws -> AuthorizationState {
    notice("requestAuthorization", "access to alarms is denied without a question")
    return .denied
  }

  public func schedule<Metadata: AlarmMetadata>(
    id: Alarm.ID, configuration: AlarmConfiguration<Metadata>
  ) async throws -> Alarm {
    throw refusal("schedule")
  }
  public func cancel(id: Alarm.ID) throws { throw refusal("cancel") }
  public func countdown(id: Alarm.ID) throws { throw refusal("countdown") }
  public func pause(id: Alarm.ID) throws { throw refusal("pause") }
  public func resume(id: Alarm.ID) throws { throw refusal("resume") }
  public func stop(id: Alarm.ID) throws { throw refusal("stop") }

  private func notice(_ method: String, _ details: String) {
    HostedProcess.current?.noticeUnsimulated("AlarmManager.\(method)", details)
  }

  private func refusal(_ method: String) -> CocoaError {
    notice(method, "there are no alarms here: it throws")
    return CocoaError(.featureUnsupported)
  }
}
