// SPDX-License-Identifier: Apache-2.0

public import Foundation

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
    self.init(format, sampleRate, channels, interleaved)
  }

  init(
    _ format: AVAudioCommonFormat, _ sampleRate: Double, _ channels: AVAudioChannelCount, _ isInterleaved: Bool
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
