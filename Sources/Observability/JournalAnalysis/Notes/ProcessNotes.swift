// SPDX-License-Identifier: Apache-2.0

import Archive
import Messages

/// The notes about processes and their lifecycle.
enum ProcessNotes {
  /// The entries of the table.
  static let all: [NoteEntry] = [
    .note(SpawnProcess.self, about: \.address) { "\($0.address.tailName) for \($0.reason)" },
    .reply(to: SpawnProcess.self) { "generation \($0.generation) pid \($0.pid)" },
    .note(SignalProcess.self, about: \.address) { signal in
      let instance = signal.generation.map { " generation \($0)" } ?? ""
      return "\(Ending.name(ofSignal: signal.signal)) to \(signal.address.tailName)\(instance)"
    },
    .note(AgentStarted.self) { "pid \($0.pid) with \($0.children.count) children" },
    .note(ProcessExited.self, mark: { _ in .exit }, about: \.address) {
      "\($0.address.tailName) generation \($0.generation) pid \($0.pid) exited: \($0.ending)"
    },
    .note(MemoryExceeded.self, mark: { _ in .refused }, about: \.address) {
      "\($0.address.tailName) generation \($0.generation) pid \($0.pid): \($0)"
    },
    .note(LocksHeld.self, mark: { _ in .refused }, about: \.address) {
      "\($0.address.tailName) generation \($0.generation) pid \($0.pid): \($0)"
    },
    .note(ProcessStarted.self, mark: { _ in .launch }, about: \.address) {
      "\($0.address.tailName) generation \($0.generation) pid \($0.pid) \($0.executable)"
    },
    .note(LeftOutCode.self, about: \.address) { left in
      let first = left.blocks.first.map { "\($0.file):\($0.line) \($0.directive)" } ?? ""
      return "\(left.address.tailName) left out: \(first)" + (left.count > 1 ? ", and \(left.count - 1) more" : "")
    },
    .note(ProcessOutput.self, about: \.address) { "\($0.address.tailName) \($0.stream): \($0.line)" },
    .note(ProcessState.self, about: \.address) { "\($0.address.tailName) \($0.state): \($0.why)" },
    .note(ProcessReady.self) { "pid \($0.pid) \($0.executable) \($0.widgetKinds.joined(separator: " "))" },
    .note(OpenApp.self) { $0.bundle },
    .note(AwaitLaunch.self) { $0.bundle ?? $0.widgetKind ?? "all extensions" },
    .note(AppActivation.self) { $0.isActive ? "in the foreground" : "in the background" },
    .constant(DeviceStatus.self),
    .constant(ListProcesses.self),
  ]
}
