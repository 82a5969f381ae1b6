// SPDX-License-Identifier: Apache-2.0

public import CoreAudioTypes
public import Foundation

/// A part of an engine's graph. Source: `AVFAudio.AVAudioNode`. It keeps what is set; no sound passes through it.
open class AVAudioNode: NSObject {
  /// The engine that it is attached to.
  public internal(set) weak var engine: AVAudioEngine?
  /// The formats of its connections by bus.
  var inputs: [AVAudioNodeBus: AVAudioFormat] = [:]
  var outputs: [AVAudioNodeBus: AVAudioFormat] = [:]

  override init() { super.init() }

  /// That of a device without sound: 0 channels, 0 hertz.
  static let none = AVAudioFormat(.otherFormat, 0, 0, false)

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
