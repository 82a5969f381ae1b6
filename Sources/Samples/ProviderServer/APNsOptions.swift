// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation

/// The options of the connection to APNs. Each one falls back to an environment variable.
struct APNsOptions: ParsableArguments {
  @Option(help: "The URL of APNs, such as https://api.sandbox.push.apple.com (or APNS_URL).")
  var apnsUrl: String?

  @Option(help: "A PEM file of a certificate authority to trust in addition to the system's (or APNS_CA).")
  var apnsCa: String?

  @Option(help: "The .p8 file of the key that signs provider tokens (or APNS_KEY).")
  var apnsKey: String?

  @Option(help: "The ten-character id of the key (or APNS_KEY_ID).")
  var apnsKeyId: String?

  @Option(help: "The ten-character id of the team (or APNS_TEAM_ID).")
  var apnsTeamId: String?

  @Option(help: "The app's bundle identifier.")
  var bundle = "com.example.CaffeineTracker"

  @Option(help: "Seconds until a push is retried after 500 or 503; doubled after each further one.")
  var apnsRetry: Double = 900

  @Option(help: "Seconds until a push is retried after 429.")
  var apnsPause: Double = 60

  func validate() throws {
    guard apnsRetry > 0, apnsPause > 0 else {
      throw ValidationError("--apns-retry and --apns-pause must be greater than 0 seconds")
    }
  }

  var retries: RetryPolicy { RetryPolicy(afterServerError: apnsRetry, afterTooMany: apnsPause) }

  /// Creates the client of APNs; `nil` when no setting of it is given.
  ///
  /// - Throws: `ValidationError` when only some settings are given, or the key is invalid.
  func client() throws -> APNsClient? {
    func value(_ option: String?, _ name: String) -> String? { option ?? ProcessInfo.processInfo.environment[name] }
    let settings = [
      "APNS_URL": value(apnsUrl, "APNS_URL"), "APNS_KEY": value(apnsKey, "APNS_KEY"),
      "APNS_KEY_ID": value(apnsKeyId, "APNS_KEY_ID"), "APNS_TEAM_ID": value(apnsTeamId, "APNS_TEAM_ID"),
    ].compactMapValues(\.self)
    if settings.isEmpty { return nil }
    guard let url = settings["APNS_URL"], let file = settings["APNS_KEY"], let keyID = settings["APNS_KEY_ID"],
      let teamID = settings["APNS_TEAM_ID"]
    else {
      throw ValidationError(
        "pushes need --apns-url, --apns-key, --apns-key-id and --apns-team-id, or APNS_URL, APNS_KEY, APNS_KEY_ID and "
          + "APNS_TEAM_ID; given: \(settings.keys.sorted().joined(separator: ", "))")
    }
    let token: APNsToken
    do {
      token = try APNsToken(
        key: String(contentsOfFile: file, encoding: .utf8), keyID: keyID, teamID: teamID)
    } catch {
      throw ValidationError("\(file) is not a readable .p8 file: \(error)")
    }
    let authority = value(apnsCa, "APNS_CA")
    if let authority, !FileManager.default.isReadableFile(atPath: authority) {
      throw ValidationError("the certificate authority \(authority) cannot be read")
    }
    return APNsClient(url: url, bundle: bundle, token: token, authority: authority)
  }
}
