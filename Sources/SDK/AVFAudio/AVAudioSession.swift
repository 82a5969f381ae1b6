// SPDX-License-Identifier: Apache-2.0

@_exported public import CoreAudioTypes
@_exported public import Foundation
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

/// Source: `AVFAudio.AVAudioSessionErrorDomain`.
public let AVAudioSessionErrorDomain = NSOSStatusErrorDomain
/// Source: `AVFAudio.AVAudioSessionInterruptionTypeKey`.
public let AVAudioSessionInterruptionTypeKey = "AVAudioSessionInterruptionTypeKey"
/// Source: `AVFAudio.AVAudioSessionInterruptionOptionKey`.
public let AVAudioSessionInterruptionOptionKey = "AVAudioSessionInterruptionOptionKey"
/// Source: `AVFAudio.AVAudioSessionInterruptionReasonKey`.
public let AVAudioSessionInterruptionReasonKey = "AVAudioSessionInterruptionReasonKey"
/// Source: `AVFAudio.AVAudioSessionRouteChangeReasonKey`.
public let AVAudioSessionRouteChangeReasonKey = "AVAudioSessionRouteChangeReasonKey"
/// Source: `AVFAudio.AVAudioSessionRouteChangePreviousRouteKey`.
public let AVAudioSessionRouteChangePreviousRouteKey = "AVAudioSessionRouteChangePreviousRouteKey"

/// Source: `AVFAudio.AVAudioSessionPortDescription`. A device here has no port.
public final class AVAudioSessionPortDescription: NSObject, Sendable {
  public let portType: AVAudioSession.Port
  public let portName: String
  public let uid: String

  init(portType: AVAudioSession.Port, portName: String, uid: String) {
    self.portType = portType
    self.portName = portName
    self.uid = uid
  }
}

/// Source: `AVFAudio.AVAudioSessionRouteDescription`.
public final class AVAudioSessionRouteDescription: NSObject, Sendable {
  override init() { super.init() }

  public var inputs: [AVAudioSessionPortDescription] { [] }
  public var outputs: [AVAudioSessionPortDescription] { [] }
}

extension AVAudioSession {
  // Never posted here.
  public static let interruptionNotification = NSNotification.Name("AVAudioSessionInterruptionNotification")
  public static let routeChangeNotification = NSNotification.Name("AVAudioSessionRouteChangeNotification")
  public static let mediaServicesWereLostNotification = NSNotification.Name("AVAudioSessionMediaServicesWereLost")
  public static let mediaServicesWereResetNotification = NSNotification.Name("AVAudioSessionMediaServicesWereReset")
  public static let silenceSecondaryAudioHintNotification = NSNotification.Name(
    "AVAudioSessionSilenceSecondaryAudioHint")

  /// Source: `AVAudioSession.Port`.
  public struct Port: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public static let builtInSpeaker = Port(rawValue: "Speaker")
    public static let builtInReceiver = Port(rawValue: "Receiver")
    public static let builtInMic = Port(rawValue: "MicrophoneBuiltIn")
    public static let headphones = Port(rawValue: "Headphones")
    public static let bluetoothA2DP = Port(rawValue: "BluetoothA2DPOutput")
    public static let bluetoothHFP = Port(rawValue: "BluetoothHFP")
    public static let bluetoothLE = Port(rawValue: "BluetoothLE")
    public static let airPlay = Port(rawValue: "AirPlay")
    public static let carAudio = Port(rawValue: "CarAudio")
  }

  /// Source: `AVAudioSession.PortOverride`.
  public enum PortOverride: UInt, Sendable {
    case none = 0
    case speaker = 1_936_747_378
  }

  /// Source: `AVAudioSession.InterruptionType`.
  public enum InterruptionType: UInt, Sendable {
    case ended, began
  }

  /// Source: `AVAudioSession.InterruptionOptions`.
  public struct InterruptionOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let shouldResume = InterruptionOptions(rawValue: 1)
  }

  /// Source: `AVAudioSession.RouteChangeReason`.
  public enum RouteChangeReason: UInt, Sendable {
    case unknown = 0
    case newDeviceAvailable = 1
    case oldDeviceUnavailable = 2
    case categoryChange = 3
    case override = 4
    case wakeFromSleep = 6
    case noSuitableRouteForCategory = 7
    case routeConfigurationChange = 8
  }

  /// Source: `AVAudioSession.ErrorCode`.
  public enum ErrorCode: Int, Sendable {
    case none = 0
    case mediaServicesFailed = 1_836_282_486
    case isBusy = 560_030_580
    case incompatibleCategory = 560_161_140
    case cannotInterruptOthers = 560_557_684
    case missingEntitlement = 1_701_737_535
    case siriIsRecording = 1_936_290_409
    case cannotStartPlaying = 561_015_905
    case cannotStartRecording = 561_145_187
    case badParam = -50
    case insufficientPriority = 561_017_449
    case resourceNotAvailable = 561_145_203
    case unspecified = 2_003_329_396
    case expiredSession = 561_210_739
    case sessionNotActive = 1_768_841_571
  }

  // A device without speaker and microphone.
  public var currentRoute: AVAudioSessionRouteDescription { AVAudioSessionRouteDescription() }
  public var availableInputs: [AVAudioSessionPortDescription]? { nil }
  public var isInputAvailable: Bool { false }
  /// In hertz.
  public var sampleRate: Double { 0 }
  public var inputLatency: TimeInterval { 0 }
  public var outputLatency: TimeInterval { 0 }
  public var ioBufferDuration: TimeInterval { 0 }
  public var outputVolume: Float { 0 }
  public var inputNumberOfChannels: Int { 0 }
  public var outputNumberOfChannels: Int { 0 }
  /// Has no effect.
  public func overrideOutputAudioPort(_ portOverride: PortOverride) throws {}
}
