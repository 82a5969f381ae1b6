// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Testing

@testable import AVFAudio
@testable import AuthorRuntime

@Suite(.timeLimit(.minutes(1))) struct `Speech and the audio session` {
  @Test(.rule("DIAGNOSIS-11")) func `speaking is reported once, and nothing is ever being spoken`() async throws {
    let fixture = try SDKFixture()
    try await fixture.begin()
    fixture.process.asCurrent {
      let synthesizer = AVSpeechSynthesizer()
      for text in ["one", "two"] { synthesizer.speak(AVSpeechUtterance(string: text)) }
      #expect(!synthesizer.isSpeaking && !synthesizer.isPaused)
      #expect(!synthesizer.stopSpeaking(at: .immediate) && !synthesizer.continueSpeaking())
    }
    let reported = await fixture.sent(FaultNoticed.self).filter { $0.fault == .notSimulated }
    #expect(reported.map(\.subject) == ["AVSpeechSynthesizer.speak"])
    #expect(reported.first?.details.contains("no speaker") == true)
  }

  @Test func `an utterance has Apple's defaults, and keeps what is set`() {
    let utterance = AVSpeechUtterance(string: "text")
    #expect(utterance.speechString == "text" && utterance.voice == nil)
    #expect(utterance.rate == AVSpeechUtteranceDefaultSpeechRate && utterance.volume == 1)
    #expect(utterance.pitchMultiplier == 1)
    utterance.rate = AVSpeechUtteranceMaximumSpeechRate
    utterance.voice = AVSpeechSynthesisVoice(language: "en-US")
    #expect(utterance.rate == 1 && utterance.voice?.name == "Samantha")
  }

  @Test(arguments: [("en-GB", "en-GB"), ("en", "en-US"), ("pt_BR", "pt-BR"), ("tlh", nil), ("", nil), ("e", nil)])
  func `a voice has a language, or the most common region of one`(code: String, language: String?) {
    #expect(AVSpeechSynthesisVoice(language: code)?.language == language)
  }

  @Test func `each voice is found by its identifier`() {
    let voices = AVSpeechSynthesisVoice.speechVoices()
    #expect(Set(voices.map(\.identifier)).count == voices.count && voices.count > 30)
    for voice in voices { #expect(AVSpeechSynthesisVoice(identifier: voice.identifier) == voice) }
    #expect(AVSpeechSynthesisVoice(language: "es-MX")?.identifier == "com.apple.voice.compact.es-MX.Paulina")
    #expect(AVSpeechSynthesisVoice(language: "fr-CA")?.identifier == "com.apple.voice.compact.fr-CA.Amelie")
    #expect(AVSpeechSynthesisVoice(identifier: "nope") == nil)
  }

  @Test func `the session keeps its category, mode and options`() throws {
    let session = AVAudioSession.sharedInstance()
    try session.setCategory(.playback, mode: .spokenAudio, options: [.duckOthers, .allowAirPlay])
    #expect(session.category == .playback && session.mode == .spokenAudio)
    #expect(session.categoryOptions == [.duckOthers, .allowAirPlay])
    try session.setCategory(.ambient)
    #expect(session.category == .ambient && session.mode == .default && session.categoryOptions == [])
    try session.setMode(.measurement)
    try session.setActive(true)
    try session.setActive(false, options: .notifyOthersOnDeactivation)
    #expect(session.mode == .measurement && !session.isOtherAudioPlaying)
  }
}
