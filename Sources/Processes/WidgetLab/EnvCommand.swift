import APNs
import ArgumentParser
import Cluster
import Conversations
import Foundation

/// `widgetlab env`.
struct EnvCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "env",
    abstract: "Prints what a provider needs to send pushes to the push server, as shell exports.",
    discussion: """
      The URL stands in the place of https://api.sandbox.push.apple.com (development) or https://api.push.apple.com \
      (production); the CA is what the provider's HTTP library has to trust; key, key id and team id sign its tokens.

      The device tokens to send to: `widgetlab token list`.

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

  @Option(help: "Of which environment are the URL and the key: development or production.")
  var environment: PushEnvironment = .development

  @Flag(help: "One JSON object.")
  var json = false

  func run() async throws {
    try await reporting {
      let facts = try ProviderFacts(of: InstanceFolder(try options.folder()), environment)
      if json { return try Output.json(facts) }
      for line in facts.lines { Output.say(line) }
    }
  }
}

/// What a provider needs.
struct ProviderFacts: Codable {
  let url: String
  let otherURL: String
  let certificateAuthority: String
  let key: String
  let keyID: String
  let teamID: String

  /// - Throws: a complaint when the push server does not run, or has no key.
  init(of instance: InstanceFolder, _ environment: PushEnvironment) throws {
    guard let place = try PushServerAnnouncement.read(in: instance) else {
      throw Complaint(
        Exit.unavailable, "no push server listens here", at: instance.path,
        advice: """
          wait until `widgetlab up` says that it is ready; widgetlab.yaml needs `pushServer: {}`, or an app with the \
          entitlement aps-environment
          """)
    }
    let credentials = try PushCredentials.read(in: instance.pushCredentials)
    guard let listed = credentials.key(for: environment), let path = credentials.path(of: listed) else {
      throw Complaint(
        Exit.configuration, "no team's key for \(environment.rawValue) is registered", at: instance.pushCredentials,
        advice: "widgetlab keys provider --environment \(environment.rawValue)")
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
