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

/// Source: `AVFAudio.AVSpeechSynthesisVoiceQuality`.
public enum AVSpeechSynthesisVoiceQuality: Int, Sendable {
  case `default` = 1
  case enhanced, premium
}

/// Source: `AVFAudio.AVSpeechSynthesisVoiceGender`.
public enum AVSpeechSynthesisVoiceGender: Int, Sendable {
  case unspecified, male, female
}

/// A voice. Source: `AVFAudio.AVSpeechSynthesisVoice`. Each language has the one that an iPhone has without a download.
public final class AVSpeechSynthesisVoice: NSObject, Sendable {
  public let language: String
  public let identifier: String
  public let name: String
  public let gender: AVSpeechSynthesisVoiceGender
  public var quality: AVSpeechSynthesisVoiceQuality { .default }

  private init(_ language: String, name: String, gender: AVSpeechSynthesisVoiceGender = .female) {
    self.language = language
    self.name = name
    self.gender = gender
    // Without accents.
    let plain = name.decomposedStringWithCanonicalMapping.unicodeScalars.filter(\.isASCII)
    identifier = "com.apple.voice.compact.\(language).\(String(String.UnicodeScalarView(plain)))"
  }

  private init(_ other: AVSpeechSynthesisVoice) {
    language = other.language
    identifier = other.identifier
    name = other.name
    gender = other.gender
  }

  /// The voice of a language, such as `en-US` or `en`.
  ///
  /// - Parameter languageCode: `nil` for the device's language.
  /// - Returns: `nil` when no voice has the language.
  public convenience init?(language languageCode: String?) {
    let code = languageCode?.replacing("_", with: "-") ?? Self.currentLanguageCode()
    let found = Self.all.first { $0.language == code } ?? Self.all.first { $0.language.hasPrefix(code + "-") }
    guard let found else { return nil }
    self.init(found)
  }

  /// - Returns: `nil` when no voice has the identifier.
  public convenience init?(identifier: String) {
    guard let found = Self.all.first(where: { $0.identifier == identifier }) else { return nil }
    self.init(found)
  }

  public static func speechVoices() -> [AVSpeechSynthesisVoice] { all }

  /// The device's language with its region, such as `en-US`.
  public static func currentLanguageCode() -> String {
    let locale = Locale.current
    let language = locale.language.languageCode?.identifier ?? "en"
    return locale.region.map { "\(language)-\($0.identifier)" } ?? language
  }

  public override func isEqual(_ object: Any?) -> Bool {
    (object as? AVSpeechSynthesisVoice)?.identifier == identifier
  }
  public override var hash: Int { identifier.hashValue }
  public override var description: String { "[AVSpeechSynthesisVoice] \(name) \(language) \(identifier)" }

  /// The first of a language without a region is the most common one.
  private static let all = [
    AVSpeechSynthesisVoice("ar-001", name: "Majed", gender: .male), AVSpeechSynthesisVoice("cs-CZ", name: "Zuzana"),
    AVSpeechSynthesisVoice("da-DK", name: "Sara"), AVSpeechSynthesisVoice("de-DE", name: "Anna"),
    AVSpeechSynthesisVoice("el-GR", name: "Melina"), AVSpeechSynthesisVoice("en-US", name: "Samantha"),
    AVSpeechSynthesisVoice("en-GB", name: "Daniel", gender: .male), AVSpeechSynthesisVoice("en-AU", name: "Karen"),
    AVSpeechSynthesisVoice("en-IE", name: "Moira"), AVSpeechSynthesisVoice("en-IN", name: "Rishi", gender: .male),
    AVSpeechSynthesisVoice("en-ZA", name: "Tessa"), AVSpeechSynthesisVoice("es-ES", name: "Mónica"),
    AVSpeechSynthesisVoice("es-MX", name: "Paulina"), AVSpeechSynthesisVoice("fi-FI", name: "Satu"),
    AVSpeechSynthesisVoice("fr-FR", name: "Thomas", gender: .male), AVSpeechSynthesisVoice("fr-CA", name: "Amélie"),
    AVSpeechSynthesisVoice("he-IL", name: "Carmit"), AVSpeechSynthesisVoice("hi-IN", name: "Lekha"),
    AVSpeechSynthesisVoice("hu-HU", name: "Tünde"), AVSpeechSynthesisVoice("id-ID", name: "Damayanti"),
    AVSpeechSynthesisVoice("it-IT", name: "Alice"), AVSpeechSynthesisVoice("ja-JP", name: "Kyoko"),
    AVSpeechSynthesisVoice("ko-KR", name: "Yuna"), AVSpeechSynthesisVoice("nb-NO", name: "Nora"),
    AVSpeechSynthesisVoice("nl-NL", name: "Xander", gender: .male), AVSpeechSynthesisVoice("nl-BE", name: "Ellen"),
    AVSpeechSynthesisVoice("pl-PL", name: "Zosia"), AVSpeechSynthesisVoice("pt-BR", name: "Luciana"),
    AVSpeechSynthesisVoice("pt-PT", name: "Joana"), AVSpeechSynthesisVoice("ro-RO", name: "Ioana"),
    AVSpeechSynthesisVoice("ru-RU", name: "Milena"), AVSpeechSynthesisVoice("sk-SK", name: "Laura"),
    AVSpeechSynthesisVoice("sv-SE", name: "Alva"), AVSpeechSynthesisVoice("th-TH", name: "Kanya"),
    AVSpeechSynthesisVoice("tr-TR", name: "Yelda"), AVSpeechSynthesisVoice("zh-CN", name: "Tingting"),
    AVSpeechSynthesisVoice("zh-HK", name: "Sinji"), AVSpeechSynthesisVoice("zh-TW", name: "Meijia"),
  ]
}
