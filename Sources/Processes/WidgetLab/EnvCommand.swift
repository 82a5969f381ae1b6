// SPDX-License-Identifier: Apache-2.0

import APNs
import ArgumentParser
import Cluster
import Foundation
import Messages

/// `widgetlab env`.
struct EnvCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "env",
    abstract: "Prints what a provider needs to send pushes to the push server, as shell exports.",
    discussion: """
      The URL replaces https://api.sandbox.push.apple.com (development) or https://api.push.apple.com (production). \
      The provider's HTTP library has to trust the CA. The provider signs its tokens with key, key id and team id.

      `widgetlab token list` shows the device tokens.

      EXAMPLES
        eval "$(widgetlab env)"; node send.js
        widgetlab env --environment production
        widgetlab env --json

        eval "$(widgetlab env)"
        curl --http2 --cacert "$APNS_CA" -H "authorization: bearer $JWT" \\
          -H 'apns-push-type: widgets' \\
          -H 'apns-topic: com.example.CaffeineTracker.push-type.widgets' \\
          -d '{"aps":{"content-changed":true}}' "$APNS_URL/3/device/$TOKEN"
      """)

  @OptionGroup var options: InstanceOptions

  @Option(help: "The environment of the URL and the key: development or production.")
  var environment: PushEnvironment = .development

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() async throws {
    try await reporting {
      let facts = try ProviderFacts(of: InstanceFolder(try options.folder(reading: true)), environment)
      if json { return try Output.json(facts) }
      for line in facts.lines { Output.print(line) }
    }
  }
}

/// The values that a provider needs.
struct ProviderFacts: Codable {
  let url: String
  let otherURL: String
  let certificateAuthority: String
  let key: String
  let keyID: String
  let teamID: String

  /// - Throws: a command error when the push server is not running or has no key.
  init(of instance: InstanceFolder, _ environment: PushEnvironment) throws {
    guard let place = try PushServerAnnouncement.read(in: instance) else {
      throw CommandError(
        Exit.unavailable, "no push server is running here", at: instance.path,
        advice: """
          wait until `widgetlab up` is ready; widgetlab.yaml needs `pushServer: {}`, or an app with the entitlement \
          aps-environment
          """)
    }
    let credentials = try PushCredentials.read(in: instance.pushCredentials)
    guard let listed = credentials.key(for: environment), let path = credentials.path(of: listed) else {
      throw CommandError(
        Exit.configuration, "no provider key for \(environment.rawValue) is registered", at: instance.pushCredentials,
        advice: "run `widgetlab keys provider --environment \(environment.rawValue)`")
    }
    let urls =
      environment == .development ? (place.development, place.production) : (place.production, place.development)
    (url, otherURL) = urls
    certificateAuthority = credentials.authorityPath
    key = path
    keyID = listed.id
    teamID = listed.teamID
  }

  var lines: [String] {
    [
      ("APNS_URL", url), ("APNS_CA", certificateAuthority), ("APNS_KEY", key), ("APNS_KEY_ID", keyID),
      ("APNS_TEAM_ID", teamID),
    ].map { "export \($0)='\($1.replacingOccurrences(of: "'", with: "'\\''"))'" }
  }
}

extension PushEnvironment: ExpressibleByArgument {}
