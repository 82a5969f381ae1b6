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
    return """
      # The cluster of a campaign of `widgetlab chaos`: the sample, with short downloads and figures that age in a second.
      device:
        name: iphone
        model: iPhone 16
        platform: iOS
        version: "26.0"
      appGroups:
        - group.com.example.CaffeineTracker
      apps:
        - bundle: com.example.CaffeineTracker
          executable: containing-app
          entitlements: {aps-environment: development}
          environment:
            CAFFEINE_FIGURES_URL: \(url(.app))
      extensions:
        - bundle: com.example.CaffeineTracker.Widget
          executable: widget-extension
          entitlements: {aps-environment: development}
          environment:
            CAFFEINE_FIGURES_URL: \(url(.widgetExtension))
            CAFFEINE_SERVER_URL: ${provider.url}
      provider:
        executable: provider-server
        arguments:
          - --fresh-for=1
          - --apns-url=${pushServer.url}
          - --apns-ca=${pushServer.ca}
          - --apns-key=${pushServer.key}
          - --apns-key-id=${pushServer.keyID}
          - --apns-team-id=${pushServer.teamID}
          - --apns-retry=1
          - --apns-pause=1
      pushServer: {}
      settings:
        developerMode: true
        suspendAfter: 0.3
        completionDeadline: 30
        limiterFirst: 0.2       # seconds; the device's limiter would delay tasks by minutes after some wakes
        limiterMax: 2
        redeliverAfter: 1       # after an eviction
        advancePatience: 1\(server == nil ? "" : "\n  resumeAfter: 0.1\n  resumeAfterMax: 1")
      """
  }
}
