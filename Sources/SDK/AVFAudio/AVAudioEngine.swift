// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
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
