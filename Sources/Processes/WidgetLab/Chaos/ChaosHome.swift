// SPDX-License-Identifier: Apache-2.0

import ChaosCampaign
import Cluster
import Foundation
import Glibc

/// The folder and the configuration of a campaign's own cluster: the sample's products, with short downloads.
struct ChaosHome: Sendable {
  /// The identifiers of the sessions, and the paths of their files at the provider.
  static let files = [
    "com.example.CaffeineTracker.Widget.figures": "/figures?size=98304&bytesPerSecond=196608&seed=widget",
    "com.example.CaffeineTracker.app.figures": "/figures?size=65536&bytesPerSecond=131072&seed=app",
  ]
  /// The sessions of the downloads.
  static let sessions: [ChaosVictim: String] = [
    .widgetExtension: "com.example.CaffeineTracker.Widget.figures", .app: "com.example.CaffeineTracker.app.figures",
  ]
  static let owners = Dictionary(uniqueKeysWithValues: sessions.map { ($1, $0) })
  static let widgetKind = "CaffeineTracker"

  let folder: String
  let isTemporary: Bool
  var configurationPath: String { folder + "/widgetlab.yaml" }

  /// Creates the folder.
  ///
  /// - Parameters:
  ///   - named: a folder of the user's choice, which must be empty or missing; `nil` for a temporary one.
  init(named: String?) throws {
    isTemporary = named == nil
    if let named {
      folder = InstanceFolder(named).path
      let found = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
      guard found.isEmpty else {
        throw CommandError(
          Exit.usage, "the folder of a campaign must be empty", at: folder,
          advice: "name a new folder with --instance, or omit the option for a temporary one")
      }
    } else {
      let temporary = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
      var template = Array("\(temporary)/widgetlab-chaos-XXXXXX".utf8CString)
      guard mkdtemp(&template) != nil else {
        throw CommandError(
          Exit.configuration, "cannot create a temporary folder: \(String(cString: strerror(errno)))", at: temporary,
          advice: "set TMPDIR to a writable folder")
      }
      folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    do {
      try InstanceFolder(folder).create()
    } catch {
      throw CommandError(Exit.configuration, "the campaign's folder cannot be used: \(error)", at: folder)
    }
  }

  /// Writes the configuration of the cluster.
  func write(_ configuration: String) throws {
    do {
      try InstanceFolder(folder).create()
      try configuration.write(toFile: configurationPath, atomically: true, encoding: .utf8)
    } catch {
      throw CommandError(Exit.configuration, "the campaign's folder cannot be used: \(error)", at: folder)
    }
  }

  func remove() { try? FileManager.default.removeItem(atPath: folder) }

  /// - Parameter server: where the downloads come from; `nil` for the provider.
  static func configuration(_ server: MisbehavingServer? = nil) -> String {
    func url(_ owner: ChaosVictim) -> String {
      server?.url(for: owner) ?? "${provider.url}" + (sessions[owner].flatMap { files[$0] } ?? "")
    }
    var sample = SampleCluster()
    (sample.app, sample.widget) = (url(.app), url(.widgetExtension))
    sample.arguments = ["--fresh-for=1"]
    sample.settings =
      [
        "suspendAfter: 0.3",
        "completionDeadline: 30",
        "limiterFirst: 0.2       # seconds; the device's limiter would delay tasks by minutes after some wakes",
        "limiterMax: 2",
        "redeliverAfter: 1       # after an eviction",
        "advancePatience: 1",
      ] + (server == nil ? [] : ["resumeAfter: 0.1", "resumeAfterMax: 1"])
    return """
      # The cluster of a campaign of `widgetlab chaos`: the sample, with short downloads and figures that age in a second.
      \(sample.yaml)
      """
  }
}

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
    let words = [unshare] + user + ["--mount", "--", ProcessFacts.ownExecutable] + CommandLine.arguments.dropFirst()
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
