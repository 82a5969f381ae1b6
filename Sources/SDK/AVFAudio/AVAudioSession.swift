// SPDX-License-Identifier: Apache-2.0

public import Foundation
import Synchronization

/// How an app uses sound. Source: `AVFAudio.AVAudioSession`. The session keeps what is set. A device here has no speaker
/// and no microphone, so that it has no other effect and no interruptions.
public final class AVAudioSession: NSObject, Sendable {
  /// Source: `AVAudioSession.Category`.
  public struct Category: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public static let ambient = Category(rawValue: "AVAudioSessionCategoryAmbient")
    public static let soloAmbient = Category(rawValue: "AVAudioSessionCategorySoloAmbient")
    public static let playback = Category(rawValue: "AVAudioSessionCategoryPlayback")
    public static let record = Category(rawValue: "AVAudioSessionCategoryRecord")
    public static let playAndRecord = Category(rawValue: "AVAudioSessionCategoryPlayAndRecord")
    public static let multiRoute = Category(rawValue: "AVAudioSessionCategoryMultiRoute")
  }

  /// Source: `AVAudioSession.Mode`.
  public struct Mode: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public static let `default` = Mode(rawValue: "AVAudioSessionModeDefault")
    public static let gameChat = Mode(rawValue: "AVAudioSessionModeGameChat")
    public static let measurement = Mode(rawValue: "AVAudioSessionModeMeasurement")
    public static let moviePlayback = Mode(rawValue: "AVAudioSessionModeMoviePlayback")
    public static let spokenAudio = Mode(rawValue: "AVAudioSessionModeSpokenAudio")
    public static let videoChat = Mode(rawValue: "AVAudioSessionModeVideoChat")
    public static let videoRecording = Mode(rawValue: "AVAudioSessionModeVideoRecording")
    public static let voiceChat = Mode(rawValue: "AVAudioSessionModeVoiceChat")
    public static let voicePrompt = Mode(rawValue: "AVAudioSessionModeVoicePrompt")
  }

  /// Source: `AVAudioSession.CategoryOptions`.
  public struct CategoryOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let mixWithOthers = CategoryOptions(rawValue: 1)
    public static let duckOthers = CategoryOptions(rawValue: 2)
    public static let allowBluetooth = CategoryOptions(rawValue: 4)
    public static let allowBluetoothHFP = CategoryOptions(rawValue: 4)
    public static let defaultToSpeaker = CategoryOptions(rawValue: 8)
    public static let interruptSpokenAudioAndMixWithOthers = CategoryOptions(rawValue: 17)
    public static let allowBluetoothA2DP = CategoryOptions(rawValue: 32)
    public static let allowAirPlay = CategoryOptions(rawValue: 64)
  }

  /// Source: `AVAudioSession.SetActiveOptions`.
  public struct SetActiveOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let notifyOthersOnDeactivation = SetActiveOptions(rawValue: 1)
  }

  /// Source: `AVAudioSession.RouteSharingPolicy`.
  public enum RouteSharingPolicy: UInt, Sendable {
    case `default` = 0
    case longFormAudio = 1
    case independent = 2
    case longFormVideo = 3
  }

  private struct State {
    var category = Category.soloAmbient
    var mode = Mode.default
    var options: CategoryOptions = []
    var policy = RouteSharingPolicy.default
    var sampleRate = 0.0
    var bufferDuration: TimeInterval = 0
  }

  private static let only = AVAudioSession()
  private let state = Mutex(State())

  private override init() { super.init() }

  public static func sharedInstance() -> AVAudioSession { only }

  public var category: Category { state.withLock { $0.category } }
  public var mode: Mode { state.withLock { $0.mode } }
  public var categoryOptions: CategoryOptions { state.withLock { $0.options } }
  public var routeSharingPolicy: RouteSharingPolicy { state.withLock { $0.policy } }
  public var isOtherAudioPlaying: Bool { false }
  public var secondaryAudioShouldBeSilencedHint: Bool { false }

  public func setCategory(_ category: Category) throws {
    try setCategory(category, mode: .default, policy: .default)
  }
  public func setCategory(_ category: Category, options: CategoryOptions) throws {
    try setCategory(category, mode: .default, policy: .default, options: options)
  }
  public func setCategory(_ category: Category, mode: Mode, options: CategoryOptions = []) throws {
    try setCategory(category, mode: mode, policy: .default, options: options)
  }
  public func setCategory(
    _ category: Category, mode: Mode, policy: RouteSharingPolicy, options: CategoryOptions = []
  ) throws {
    state.withLock { state in
      state.category = category
      state.mode = mode
      state.options = options
      state.policy = policy
    }
  }
  public func setMode(_ mode: Mode) throws { state.withLock { $0.mode = mode } }
  /// What was set, in hertz; 0 before.
  public var preferredSampleRate: Double { state.withLock { $0.sampleRate } }
  public func setPreferredSampleRate(_ sampleRate: Double) throws { state.withLock { $0.sampleRate = sampleRate } }
  /// What was set; 0 before.
  public var preferredIOBufferDuration: TimeInterval { state.withLock { $0.bufferDuration } }
  public func setPreferredIOBufferDuration(_ duration: TimeInterval) throws {
    state.withLock { $0.bufferDuration = duration }
  }
  /// Has no effect.
  public func setActive(_ active: Bool, options: SetActiveOptions = []) throws {}
}
