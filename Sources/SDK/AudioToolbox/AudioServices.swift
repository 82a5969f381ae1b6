// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
@_exported public import CoreAudioTypes
import Foundation

/// Source: `AudioToolbox.SystemSoundID`.
public typealias SystemSoundID = UInt32
/// Source: `AudioToolbox.kSystemSoundID_Vibrate`.
public let kSystemSoundID_Vibrate: SystemSoundID = 0xFFF

private func notice(_ name: String) {
  HostedProcess.current?.noticeUnsimulated(name, "a device has no speaker and does not vibrate: nothing is played")
}

/// Records the use. Source: `AudioToolbox.AudioServicesPlaySystemSound(_:)`.
public func AudioServicesPlaySystemSound(_ inSystemSoundID: SystemSoundID) { notice("AudioServicesPlaySystemSound") }
/// Records the use. Source: `AudioToolbox.AudioServicesPlayAlertSound(_:)`.
public func AudioServicesPlayAlertSound(_ inSystemSoundID: SystemSoundID) { notice("AudioServicesPlayAlertSound") }

/// Records the use, and calls the block at once.
/// Source: `AudioToolbox.AudioServicesPlaySystemSoundWithCompletion(_:_:)`.
public func AudioServicesPlaySystemSoundWithCompletion(
  _ inSystemSoundID: SystemSoundID, _ inCompletionBlock: (@Sendable () -> Void)?
) {
  notice("AudioServicesPlaySystemSound")
  inCompletionBlock.map { DispatchQueue.global().async(execute: $0) }
}
