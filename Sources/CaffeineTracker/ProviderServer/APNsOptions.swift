import ArgumentParser
import Foundation

/// How this server reaches APNs: by options or, where an option is not given, by the environment.
struct APNsOptions: ParsableArguments {
  @Option(help: "Where APNs is, such as https://api.sandbox.push.apple.com (or APNS_URL).")
  var apnsUrl: String?

  @Option(help: "A PEM file of a certificate authority to trust beside the system's own (or APNS_CA).")
  var apnsCa: String?

  @Option(help: "The .p8 file of the key that signs provider tokens (or APNS_KEY).")
  var apnsKey: String?

  @Option(help: "The key's ten characters (or APNS_KEY_ID).")
  var apnsKeyId: String?

  @Option(help: "The team's ten characters (or APNS_TEAM_ID).")
  var apnsTeamId: String?

  @Option(help: "The app's bundle identifier.")
  var bundle = "com.example.CaffeineTracker"

  @Option(help: "Seconds until a push is tried again after 500 or 503; twice as long after each further one.")
  var apnsRetry: Double = 900

  @Option(help: "Seconds until a push is tried again after 429.")
  var apnsPause: Double = 60

  func validate() throws {
    guard apnsRetry > 0, apnsPause > 0 else {
      throw ValidationError("--apns-retry and --apns-pause are seconds above 0")
    }
  }

  var retries: RetryPolicy { RetryPolicy(afterServerError: apnsRetry, afterTooMany: apnsPause) }

  /// The client of APNs; `nil` when nothing is said of APNs.
  ///
  /// - Throws: `ValidationError` when only some of it is said, or the key is none.
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
          + "APNS_TEAM_ID; there is only \(settings.keys.sorted().joined(separator: ", "))")
    }
    let token: ProviderToken
    do {
      token = try ProviderToken(
        key: String(contentsOfFile: file, encoding: .utf8), keyID: keyID, teamID: teamID)
    } catch {
      throw ValidationError("\(file) is no .p8 file that can be read: \(error)")
    }
    let authority = value(apnsCa, "APNS_CA")
    if let authority, !FileManager.default.isReadableFile(atPath: authority) {
      throw ValidationError("the certificate authority \(authority) cannot be read")
    }
    return APNsClient(url: url, bundle: bundle, token: token, authority: authority)
  }
}
