// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Testing

@testable import AVFAudio
@testable import AudioToolbox
@testable import AuthorRuntime

@Suite(.timeLimit(.minutes(1))) struct `Engines of sound` {
  @Test(.rule("DIAGNOSIS-11")) func `an engine keeps its graph, does not start, and is reported`() async throws {
    let fixture = try SDKFixture()
    try await fixture.begin()
    let engine = AVAudioEngine()
    #expect(engine.outputNode.inputFormat(forBus: 0).sampleRate == 0)
    let format = try #require(AVAudioFormat(standardFormatWithSampleRate: 44_100, channels: 2))
    let source = AVAudioSourceNode(format: format) { _, _, _, _ in noErr }
    let mixer = AVAudioMixerNode()
    for node in [source, mixer] { engine.attach(node) }
    engine.connect(source, to: mixer, format: format)
    engine.connect(mixer, to: engine.outputNode, format: nil)
    #expect(mixer.inputFormat(forBus: 0) == format && mixer.nextAvailableInputBus == 1)
    #expect(source.engine === engine && engine.attachedNodes.contains(mixer))
    engine.prepare()
    fixture.process.asCurrent {
      #expect(throws: NSError.self) { try engine.start() }
      AudioServicesPlaySystemSound(kSystemSoundID_Vibrate)
    }
    #expect(!engine.isRunning)
    engine.detach(mixer)
    #expect(mixer.engine == nil && !engine.attachedNodes.contains(mixer))
    let reported = await fixture.sent(FaultNoticed.self).filter { $0.fault == .notSimulated }
    #expect(Set(reported.map(\.subject)) == ["AVAudioEngine.start", "AudioServicesPlaySystemSound"])
  }

  @Test func `a list of buffers gives each buffer by its index`() {
    let list = UnsafeMutableAudioBufferListPointer.allocate(maximumBuffers: 3)
    defer { list.unsafeMutablePointer.deallocate() }
    for index in list.indices {
      list[index] = AudioBuffer(mNumberChannels: UInt32(index), mDataByteSize: 4, mData: nil)
    }
    #expect(list.count == 3 && list.map(\.mNumberChannels) == [0, 1, 2] && list.map(\.mDataByteSize) == [4, 4, 4])
  }

  @Test func `a device has no way for sound`() throws {
    let session = AVAudioSession.sharedInstance()
    #expect(session.currentRoute.outputs.isEmpty && session.currentRoute.inputs.isEmpty && session.outputVolume == 0)
    #expect(AVAudioFormat(standardFormatWithSampleRate: 44_100, channels: 6) == nil)
    #expect(AVAudioUnitEQ(numberOfBands: 2).bands.map(\.filterType) == [.parametric, .parametric])
  }
}
