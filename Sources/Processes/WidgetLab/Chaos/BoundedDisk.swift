// SPDX-License-Identifier: Apache-2.0

import ChildProcesses
import Foundation
import Glibc

/// A small file system in memory for the folder of a campaign, which can be filled without harm to the machine. It exists
/// only in a mount namespace of this process and its children, so that it ends with them, however they end.
struct BoundedDisk: Sendable {
  private static let size = "256m"
  /// Set in the environment of a process that has its own mount namespace.
  private static let mark = "WIDGETLAB_PRIVATE_MOUNTS"
  private static let unshare = "/usr/bin/unshare"
  let folder: String
  private var ballast: String { folder + "/ballast" }

  /// Runs this command again in its own mount namespace: as root, or in a new user namespace.
  ///
  /// - Returns: only when this process has one already, or none is permitted: then why.
  static func enterNamespace() async -> String? {
    if getenv(mark) != nil { return nil }
    let user = geteuid() == 0 ? [] : ["--user", "--map-root-user"]
    let probe = ["--mount", "mount", "-t", "tmpfs", "-o", "size=64k", "none", "/mnt"]
    guard access(unshare, X_OK) == 0,
      let child = try? await SpawnedProcess.start(unshare, user + probe, log: "/dev/null")
    else { return "\(unshare) is missing" }
    let ending = await child.ending()
    guard ending == .exited(code: 0) else {
      return
        "this machine permits no private mount (`unshare \((user + probe).joined(separator: " "))`: \(ending.text))"
    }
    setenv(mark, "1", 1)
    let words = [unshare] + user + ["--mount", "--", ProcessFacts.own] + CommandLine.arguments.dropFirst()
    let arguments = words.map { strdup($0) } + [nil]
    execv(unshare, arguments)
    return "\(unshare): \(String(cString: strerror(errno)))"
  }

  /// Mounts it at an empty folder.
  init(at folder: String) throws {
    self.folder = folder
    guard mount("none", folder, "tmpfs", UInt(MS_NOSUID | MS_NODEV), "size=\(Self.size),mode=0700") == 0 else {
      throw CommandError(
        Exit.configuration, "a small file system cannot be mounted: \(String(cString: strerror(errno)))", at: folder,
        advice: "leave out the fault 'full'")
    }
  }

  /// Takes all space.
  ///
  /// - Returns: whether nothing is left.
  func fill() -> Bool {
    let file = open(ballast, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else { return false }
    defer { close(file) }
    var (length, piece): (off_t, off_t) = (0, 64 << 20)
    while piece >= 4096 {
      if posix_fallocate(file, length, piece) == 0 { length += piece } else { piece /= 2 }
    }
    return length > 0
  }

  /// Returns the space.
  func empty() { unlink(ballast) }

  /// Ends it. Its files become those of the folder below it when they are to be kept.
  func end(keepsFiles: Bool) {
    empty()
    let copy = folder + ".files"
    if keepsFiles { try? FileManager.default.copyItem(atPath: folder, toPath: copy) }
    umount2(folder, Int32(MNT_DETACH))
    guard keepsFiles else { return }
    try? FileManager.default.removeItem(atPath: folder)
    rename(copy, folder)
  }
}
