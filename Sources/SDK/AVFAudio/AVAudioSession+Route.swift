// SPDX-License-Identifier: Apache-2.0

public import Foundation

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
