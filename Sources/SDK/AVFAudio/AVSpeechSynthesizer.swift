// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
public import Foundation

/// Source: `AVFAudio.AVSpeechUtteranceMinimumSpeechRate`.
public let AVSpeechUtteranceMinimumSpeechRate: Float = 0
/// Source: `AVFAudio.AVSpeechUtteranceMaximumSpeechRate`.
public let AVSpeechUtteranceMaximumSpeechRate: Float = 1
/// Source: `AVFAudio.AVSpeechUtteranceDefaultSpeechRate`.
public let AVSpeechUtteranceDefaultSpeechRate: Float = 0.5

/// Source: `AVFAudio.AVSpeechBoundary`.
public enum AVSpeechBoundary: Int, Sendable {
  case immediate, word
}

/// A text to speak. Source: `AVFAudio.AVSpeechUtterance`.
open class AVSpeechUtterance: NSObject {
  public let speechString: String
  /// `nil`: the voice of the device's language.
  open var voice: AVSpeechSynthesisVoice?
  /// From `AVSpeechUtteranceMinimumSpeechRate` to `AVSpeechUtteranceMaximumSpeechRate`.
  open var rate: Float = AVSpeechUtteranceDefaultSpeechRate
  /// From 0.5 to 2.
  open var pitchMultiplier: Float = 1
  /// From 0 to 1.
  open var volume: Float = 1
  /// In seconds.
  open var preUtteranceDelay: TimeInterval = 0
  /// In seconds.
  open var postUtteranceDelay: TimeInterval = 0
  open var prefersAssistiveTechnologySettings = false

  public init(string: String) { speechString = string }
}

/// Source: `AVFAudio.AVSpeechSynthesizerDelegate`. Nothing is spoken here, so it is never called.
public protocol AVSpeechSynthesizerDelegate: NSObjectProtocol {
  func speechSynthesizer(_ synthesizer: AVSpeechSynthesizer, didStart utterance: AVSpeechUtterance)
  func speechSynthesizer(_ synthesizer: AVSpeechSynthesizer, didFinish utterance: AVSpeechUtterance)
  func speechSynthesizer(_ synthesizer: AVSpeechSynthesizer, didPause utterance: AVSpeechUtterance)
  func speechSynthesizer(_ synthesizer: AVSpeechSynthesizer, didContinue utterance: AVSpeechUtterance)
  func speechSynthesizer(_ synthesizer: AVSpeechSynthesizer, didCancel utterance: AVSpeechUtterance)
  func speechSynthesizer(
    _ synthesizer: AVSpeechSynthesizer, willSpeakRangeOfSpeechString characterRange: NSRange,
    utterance: AVSpeechUtterance)
}

extension AVSpeechSynthesizerDelegate {
  public func speechSynthesizer(_ synthesizer: AVSpeechSynthesizer, didStart utterance: AVSpeechUtterance) {}
  public func speechSynthesizer(_ synthesizer: AVSpeechSynthesizer, didFinish utterance: AVSpeechUtterance) {}
  public func speechSynthesizer(_ synthesizer: AVSpeechSynthesizer, didPause utterance: AVSpeechUtterance) {}
  public func speechSynthesizer(_ synthesizer: AVSpeechSynthesizer, didContinue utterance: AVSpeechUtterance) {}
  public func speechSynthesizer(_ synthesizer: AVSpeechSynthesizer, didCancel utterance: AVSpeechUtterance) {}
  public func speechSynthesizer(
    _ synthesizer: AVSpeechSynthesizer, willSpeakRangeOfSpeechString characterRange: NSRange,
    utterance: AVSpeechUtterance
  ) {}
}

/// Would speak. Source: `AVFAudio.AVSpeechSynthesizer`. A device here has no speaker: the diagnosis `not-simulated` names
/// the use, and nothing is ever being spoken.
open class AVSpeechSynthesizer: NSObject {
  open weak var delegate: (any AVSpeechSynthesizerDelegate)?
  open var usesApplicationAudioSession = true

  public override init() { super.init() }

  open var isSpeaking: Bool { false }
  open var isPaused: Bool { false }

  /// Records the use. The delegate is not called.
  open func speak(_ utterance: AVSpeechUtterance) {
    HostedProcess.current?.noticeUnsimulated(
      "AVSpeechSynthesizer.speak", "a device has no speaker: the text is not spoken, and the delegate is not called")
  }

  /// - Returns: `false`, because nothing is being spoken. So do the others.
  @discardableResult open func stopSpeaking(at boundary: AVSpeechBoundary) -> Bool { false }
  @discardableResult open func pauseSpeaking(at boundary: AVSpeechBoundary) -> Bool { false }
  @discardableResult open func continueSpeaking() -> Bool { false }
}
