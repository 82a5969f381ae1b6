// SPDX-License-Identifier: Apache-2.0

@_exported public import ActivityKit
import Archive
public import SwiftUI

// Source of all: `AlarmKit` of the iOS 26 SDK.

/// Data of the author about an alarm. Source: `AlarmKit.AlarmMetadata`.
public protocol AlarmMetadata: Codable, Hashable, Sendable {}

/// The Live Activity of an alarm. Source: `AlarmKit.AlarmAttributes`.
public struct AlarmAttributes<Metadata: AlarmMetadata>: ActivityAttributes, Sendable {
  public typealias ContentState = AlarmPresentationState

  public var presentation: AlarmPresentation
  public var metadata: Metadata?
  public var tintColor: Color

  public init(presentation: AlarmPresentation, metadata: Metadata? = nil, tintColor: Color) {
    self.presentation = presentation
    self.metadata = metadata
    self.tintColor = tintColor
  }

  private enum Key: String, CodingKey {
    case presentation, metadata, tintColor
  }

  public init(from decoder: any Decoder) throws {
    let keys = try decoder.container(keyedBy: Key.self)
    presentation = try keys.decode(AlarmPresentation.self, forKey: .presentation)
    metadata = try keys.decodeIfPresent(Metadata.self, forKey: .metadata)
    tintColor = Color(archived: try keys.decode(ArchivedValue.self, forKey: .tintColor))
  }

  public func encode(to encoder: any Encoder) throws {
    var keys = encoder.container(keyedBy: Key.self)
    try keys.encode(presentation, forKey: .presentation)
    try keys.encodeIfPresent(metadata, forKey: .metadata)
    try keys.encode(tintColor.archived, forKey: .tintColor)
  }
}

/// A button of an alarm. Source: `AlarmKit.AlarmButton`.
public struct AlarmButton: Codable, Hashable, Sendable {
  public var text: LocalizedStringResource
  public var textColor: Color
  public var systemImageName: String

  public init(text: LocalizedStringResource, textColor: Color, systemImageName: String) {
    self.text = text
    self.textColor = textColor
    self.systemImageName = systemImageName
  }

  private enum Key: String, CodingKey {
    case text, textColor, systemImageName
  }

  public init(from decoder: any Decoder) throws {
    let keys = try decoder.container(keyedBy: Key.self)
    text = try keys.decode(LocalizedStringResource.self, forKey: .text)
    textColor = Color(archived: try keys.decode(ArchivedValue.self, forKey: .textColor))
    systemImageName = try keys.decode(String.self, forKey: .systemImageName)
  }

  public func encode(to encoder: any Encoder) throws {
    var keys = encoder.container(keyedBy: Key.self)
    try keys.encode(text, forKey: .text)
    try keys.encode(textColor.archived, forKey: .textColor)
    try keys.encode(systemImageName, forKey: .systemImageName)
  }
}

/// What the system shows of an alarm. Source: `AlarmKit.AlarmPresentation`.
public struct AlarmPresentation: Codable, Hashable, Sendable {
  public var alert: Alert
  public var countdown: Countdown?
  public var paused: Paused?

  public init(alert: Alert, countdown: Countdown? = nil, paused: Paused? = nil) {
    self.alert = alert
    self.countdown = countdown
    self.paused = paused
  }

  /// Source: `AlarmKit.AlarmPresentation.Alert`.
  public struct Alert: Codable, Hashable, Sendable {
    /// Source: `AlarmKit.AlarmPresentation.Alert.SecondaryButtonBehavior`.
    public enum SecondaryButtonBehavior: Codable, Hashable, Sendable {
      case countdown, custom
    }

    public var title: LocalizedStringResource
    public var stopButton: AlarmButton?
    public var secondaryButton: AlarmButton?
    public var secondaryButtonBehavior: SecondaryButtonBehavior?

    /// The button of the system stops the alarm.
    public init(
      title: LocalizedStringResource, secondaryButton: AlarmButton? = nil,
      secondaryButtonBehavior: SecondaryButtonBehavior? = nil
    ) {
      self.title = title
      self.secondaryButton = secondaryButton
      self.secondaryButtonBehavior = secondaryButtonBehavior
    }
    public init(
      title: LocalizedStringResource, stopButton: AlarmButton, secondaryButton: AlarmButton? = nil,
      secondaryButtonBehavior: SecondaryButtonBehavior? = nil
    ) {
      self.init(title: title, secondaryButton: secondaryButton, secondaryButtonBehavior: secondaryButtonBehavior)
      self.stopButton = stopButton
    }
  }

  /// Source: `AlarmKit.AlarmPresentation.Countdown`.
  public struct Countdown: Codable, Hashable, Sendable {
    public var title: LocalizedStringResource
    public var pauseButton: AlarmButton?

    public init(title: LocalizedStringResource, pauseButton: AlarmButton? = nil) {
      self.title = title
      self.pauseButton = pauseButton
    }
  }

  /// Source: `AlarmKit.AlarmPresentation.Paused`.
  public struct Paused: Codable, Hashable, Sendable {
    public var title: LocalizedStringResource
    public var resumeButton: AlarmButton

    public init(title: LocalizedStringResource, resumeButton: AlarmButton) {
      self.title = title
      self.resumeButton = resumeButton
    }
  }
}

/// The state of an alarm's Live Activity. Source: `AlarmKit.AlarmPresentationState`.
public struct AlarmPresentationState: Codable, Hashable, Sendable {
  /// Source: `AlarmKit.AlarmPresentationState.Mode`.
  public enum Mode: Codable, Hashable, Sendable {
    case alert(Alert)
    case countdown(Countdown)
    case paused(Paused)

    /// Source: `AlarmKit.AlarmPresentationState.Mode.Alert`.
    public struct Alert: Codable, Hashable, Sendable {
      public var time: Alarm.Schedule.Relative.Time
      public init(time: Alarm.Schedule.Relative.Time) { self.time = time }
    }

    /// Source: `AlarmKit.AlarmPresentationState.Mode.Countdown`.
    public struct Countdown: Codable, Hashable, Sendable {
      public var totalCountdownDuration: TimeInterval
      public var previouslyElapsedDuration: TimeInterval
      public var startDate: Date
      public var fireDate: Date

      public init(
        totalCountdownDuration: TimeInterval, previouslyElapsedDuration: TimeInterval, startDate: Date, fireDate: Date
      ) {
        self.totalCountdownDuration = totalCountdownDuration
        self.previouslyElapsedDuration = previouslyElapsedDuration
        self.startDate = startDate
        self.fireDate = fireDate
      }
    }

    /// Source: `AlarmKit.AlarmPresentationState.Mode.Paused`.
    public struct Paused: Codable, Hashable, Sendable {
      public var totalCountdownDuration: TimeInterval
      public var previouslyElapsedDuration: TimeInterval

      public init(totalCountdownDuration: TimeInterval, previouslyElapsedDuration: TimeInterval) {
        self.totalCountdownDuration = totalCountdownDuration
        self.previouslyElapsedDuration = previouslyElapsedDuration
      }
    }
  }

  public var alarmID: Alarm.ID
  public var mode: Mode

  public init(alarmID: Alarm.ID, mode: Mode) {
    self.alarmID = alarmID
    self.mode = mode
  }
}
