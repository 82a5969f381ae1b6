// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
public import CoreAudioTypes
public import Foundation

extension NSNotification.Name {
  /// Source: `AVFAudio.AVAudioEngineConfigurationChange`. Never posted here.
  public static let AVAudioEngineConfigurationChange = NSNotification.Name(
    "AVAudioEngineConfigurationChangeNotification")
}

/// A graph of nodes that makes sound. Source: `AVFAudio.AVAudioEngine`. A device here has no speaker and no microphone:
/// the engine keeps its graph, `start()` fails, and the diagnosis `not-simulated` names it.
open class AVAudioEngine: NSObject {
  public let outputNode = AVAudioOutputNode()
  public let inputNode = AVAudioInputNode()
  public let mainMixerNode = AVAudioMixerNode()
  public private(set) var attachedNodes: Set<AVAudioNode> = []
  private var destinations: [AVAudioNode: AVAudioNode] = [:]
  open var isAutoShutdownEnabled = false

  public override init() {
    super.init()
    for node in [outputNode, inputNode, mainMixerNode] {
      node.engine = self
      attachedNodes.insert(node)
    }
  }

  /// Always `false`, because `start()` fails.
  open var isRunning: Bool { false }

  open func attach(_ node: AVAudioNode) {
    node.engine = self
    attachedNodes.insert(node)
  }
  open func detach(_ node: AVAudioNode) {
    disconnectNodeInput(node)
    disconnectNodeOutput(node)
    node.engine = nil
    attachedNodes.remove(node)
  }

  open func connect(_ node1: AVAudioNode, to node2: AVAudioNode, format: AVAudioFormat?) {
    let bus = (node2 as? AVAudioMixerNode)?.nextAvailableInputBus ?? 0
    connect(node1, to: node2, fromBus: 0, toBus: bus, format: format)
  }
  /// Ends the process for a node that is not attached, as AVFAudio does.
  open func connect(
    _ node1: AVAudioNode, to node2: AVAudioNode, fromBus bus1: AVAudioNodeBus, toBus bus2: AVAudioNodeBus,
    format: AVAudioFormat?
  ) {
    guard attachedNodes.contains(node1), attachedNodes.contains(node2) else {
      fatalError("AVAudioEngine.connect: a node is not attached")
    }
    let format = format ?? node1.outputFormat(forBus: bus1)
    node1.outputs[bus1] = format
    node2.inputs[bus2] = format
    destinations[node1] = node2
  }
  open func disconnectNodeInput(_ node: AVAudioNode) {
    node.inputs = [:]
    destinations = destinations.filter { $0.value !== node }
  }
  open func disconnectNodeOutput(_ node: AVAudioNode) {
    node.outputs = [:]
    destinations[node] = nil
  }

  /// Has no effect.
  open func prepare() {}
  /// - Throws: always, an error of `com.apple.coreaudio.avfaudio`.
  open func start() throws {
    HostedProcess.current?.noticeUnsimulated(
      "AVAudioEngine.start", "a device has no speaker and no microphone: it throws an error")
    // Source: `AudioToolbox.kAudioUnitErr_FailedInitialization`.
    throw NSError(
      domain: "com.apple.coreaudio.avfaudio", code: -10_875,
      userInfo: [NSLocalizedDescriptionKey: "AVAudioEngine.start: the device has no speaker and no microphone"])
  }
  open func pause() {}
  open func stop() {}
  open func reset() {}
}

/// A part of an engine's graph. Source: `AVFAudio.AVAudioNode`. It keeps what is set; no sound passes through it.
open class AVAudioNode: NSObject {
  /// The engine that it is attached to.
  public internal(set) weak var engine: AVAudioEngine?
  /// The formats of its connections by bus.
  var inputs: [AVAudioNodeBus: AVAudioFormat] = [:]
  var outputs: [AVAudioNodeBus: AVAudioFormat] = [:]

  override init() { super.init() }

  /// That of a device without sound: 0 channels, 0 hertz.
  static let none = AVAudioFormat(.otherFormat, sampleRate: 0, channels: 0, isInterleaved: false)

  open var numberOfInputs: Int { 1 }
  open var numberOfOutputs: Int { 1 }
  /// That of the connection; 0 channels and 0 hertz for a bus without one.
  open func inputFormat(forBus bus: AVAudioNodeBus) -> AVAudioFormat { inputs[bus] ?? Self.none }
  /// That of the connection; 0 channels and 0 hertz for a bus without one.
  open func outputFormat(forBus bus: AVAudioNodeBus) -> AVAudioFormat { outputs[bus] ?? Self.none }
  open func reset() {}
}

/// Source: `AVFAudio.AVAudioMixerNode`.
open class AVAudioMixerNode: AVAudioNode {
  /// From 0 to 1.
  open var outputVolume: Float = 1
  /// From 0 to 1.
  open var volume: Float = 1
  /// From -1 to 1.
  open var pan: Float = 0

  public override init() { super.init() }
  open var nextAvailableInputBus: AVAudioNodeBus {
    (0...inputs.count).first { inputs[$0] == nil } ?? inputs.count
  }
}

/// Source: `AVFAudio.AVAudioIONode`.
open class AVAudioIONode: AVAudioNode {
  open var presentationLatency: TimeInterval { 0 }
  open var isVoiceProcessingEnabled: Bool { false }
}

/// Source: `AVFAudio.AVAudioOutputNode`.
public final class AVAudioOutputNode: AVAudioIONode {}

/// Source: `AVFAudio.AVAudioInputNode`.
public final class AVAudioInputNode: AVAudioIONode {}

/// Source: `AVFAudio.AVAudioSourceNodeRenderBlock`.
public typealias AVAudioSourceNodeRenderBlock = (
  UnsafeMutablePointer<ObjCBool>, UnsafePointer<AudioTimeStamp>, AVAudioFrameCount,
  UnsafeMutablePointer<AudioBufferList>
) -> OSStatus

/// Source: `AVFAudio.AVAudioSourceNode`. Its block is not called, because no engine runs.
open class AVAudioSourceNode: AVAudioNode {
  private let block: AVAudioSourceNodeRenderBlock
  open var volume: Float = 1
  open var pan: Float = 0

  public init(renderBlock block: @escaping AVAudioSourceNodeRenderBlock) {
    self.block = block
    super.init()
  }
  public init(format: AVAudioFormat, renderBlock block: @escaping AVAudioSourceNodeRenderBlock) {
    self.block = block
    super.init()
    outputs[0] = format
  }

  open override var numberOfInputs: Int { 0 }
}

/// Source: `AVFAudio.AVAudioUnit`.
open class AVAudioUnit: AVAudioNode {
  open var name: String { "" }
  open var manufacturerName: String { "" }
  open var version: Int { 0 }
}

/// Source: `AVFAudio.AVAudioUnitEffect`.
open class AVAudioUnitEffect: AVAudioUnit {
  open var bypass = false
}

/// Source: `AVFAudio.AVAudioUnitEQFilterType`.
public enum AVAudioUnitEQFilterType: Int, Sendable {
  case parametric, lowPass, highPass, resonantLowPass, resonantHighPass, bandPass, bandStop, lowShelf, highShelf
  case resonantLowShelf, resonantHighShelf
}

/// Source: `AVFAudio.AVAudioUnitEQFilterParameters`.
open class AVAudioUnitEQFilterParameters: NSObject {
  open var filterType = AVAudioUnitEQFilterType.parametric
  /// In hertz.
  open var frequency: Float = 0
  /// In octaves.
  open var bandwidth: Float = 0
  /// In decibels.
  open var gain: Float = 0
  open var bypass = true

  override init() { super.init() }
}

/// Source: `AVFAudio.AVAudioUnitEQ`.
open class AVAudioUnitEQ: AVAudioUnitEffect {
  public let bands: [AVAudioUnitEQFilterParameters]
  /// In decibels.
  open var globalGain: Float = 0

  public init(numberOfBands: Int) {
    bands = (0..<numberOfBands).map { _ in AVAudioUnitEQFilterParameters() }
    super.init()
  }
}

/// Source: `AVFAudio.AVAudioChannelCount`.
public typealias AVAudioChannelCount = UInt32
/// Source: `AVFAudio.AVAudioFrameCount`.
public typealias AVAudioFrameCount = UInt32
/// Source: `AVFAudio.AVAudioNodeBus`.
public typealias AVAudioNodeBus = Int

/// Source: `AVFAudio.AVAudioCommonFormat`.
public enum AVAudioCommonFormat: UInt, Sendable {
  case otherFormat, pcmFormatFloat32, pcmFormatFloat64, pcmFormatInt16, pcmFormatInt32
}

/// Source: `AVFAudio.AVAudioFormat`.
public final class AVAudioFormat: NSObject, Sendable {
  public let commonFormat: AVAudioCommonFormat
  /// In hertz.
  public let sampleRate: Double
  public let channelCount: AVAudioChannelCount
  public let isInterleaved: Bool

  /// `nil` for more than two channels, which need a layout.
  public convenience init?(standardFormatWithSampleRate sampleRate: Double, channels: AVAudioChannelCount) {
    self.init(commonFormat: .pcmFormatFloat32, sampleRate: sampleRate, channels: channels, interleaved: false)
  }
  /// `nil` for more than two channels, which need a layout.
  public convenience init?(
    commonFormat format: AVAudioCommonFormat, sampleRate: Double, channels: AVAudioChannelCount, interleaved: Bool
  ) {
    guard channels <= 2 else { return nil }
    self.init(format, sampleRate: sampleRate, channels: channels, isInterleaved: interleaved)
  }

  init(
    _ format: AVAudioCommonFormat, sampleRate: Double, channels: AVAudioChannelCount, isInterleaved: Bool
  ) {
    commonFormat = format
    self.sampleRate = sampleRate
    channelCount = channels
    self.isInterleaved = isInterleaved
  }

  public var isStandard: Bool { commonFormat == .pcmFormatFloat32 && !isInterleaved }
  public override var hash: Int { sampleRate.hashValue }
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? AVAudioFormat else { return false }
    return commonFormat == other.commonFormat && sampleRate == other.sampleRate && channelCount == other.channelCount
      && isInterleaved == other.isInterleaved
  }
}
