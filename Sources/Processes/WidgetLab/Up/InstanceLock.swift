// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// `up.lock` of an instance. It is held by `flock` while `widgetlab up` runs, and released however it exits. The file
/// contains the holder's pid.
final class InstanceLock: Sendable {
  private let descriptor: CInt
  private let path: String

  static func file(in instance: String) -> String { instance + "/up.lock" }

  /// Takes the lock and writes this process's pid into it.
  ///
  /// - Throws: a command error with the holder, when another `up` holds the lock.
  init(instance: String) throws {
    path = Self.file(in: instance)
    while true {
      let candidate = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
      guard candidate >= 0 else {
        throw CommandError(
          Exit.configuration, "cannot open the lock of the instance: \(String(cString: strerror(errno)))", at: path,
          advice: "choose a writable folder with --instance")
      }
      guard flock(candidate, LOCK_EX | LOCK_NB) == 0 else {
        let holder = Self.holder(in: instance).map { "process \($0)" } ?? "another process"
        close(candidate)
        throw CommandError(
          Exit.held, "this instance is already running: \(holder) holds its lock", at: path,
          advice: "use it, stop it with `widgetlab down`, or start another one with --instance NAME")
      }
      // The former holder may have removed the file between the two calls. Then the next `up` would lock another file.
      if InstanceLease.isStill(candidate, at: path) {
        descriptor = candidate
        break
      }
      close(candidate)
    }
    ftruncate(descriptor, 0)
    let text = "\(getpid())\n"
    _ = pwrite(descriptor, text, text.utf8.count, 0)
  }

  /// Removes the file and releases the lock.
  func release() {
    unlink(path)
    close(descriptor)
  }

  /// The pid of the `up` that holds the instance; `nil` when none does.
  static func holder(in instance: String) -> Int32? {
    let descriptor = open(file(in: instance), O_RDWR | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 32)
    let count = max(0, pread(descriptor, &bytes, bytes.count, 0))
    let text = String(decoding: bytes[..<count], as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    // A lock without a running holder is not tried: another process may be acquiring it.
    guard let pid = Int32(text), ProcessFacts(pid: pid).isAlive, flock(descriptor, LOCK_EX | LOCK_NB) != 0 else {
      return nil
    }
    return pid
  }
}
