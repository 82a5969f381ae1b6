// SPDX-License-Identifier: Apache-2.0

import APNs
import ArgumentParser
import Cluster
import Foundation
import Messages

/// `widgetlab keys provider`.
struct ProviderKeyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "provider",
    abstract: "Creates and registers a new provider key, as the developer account does.",
    discussion: """
      The push server creates the first two: LABDEVKEY0 and LABPRDKEY0, of the team LABTEAM000, for all its topics, \
      each in one environment. A running push server accepts the new key at once. Prints its id and the path of its \
      .p8.

      EXAMPLES
        widgetlab keys provider
        widgetlab keys provider --topic com.example.CaffeineTracker --environment production
        widgetlab keys provider --team OTHERTEAM1 --environment development --environment production
      """)

  @OptionGroup var options: InstanceOptions

  @Option(help: "The team: 10 letters and digits.")
  var team: String?

  @Option(help: "Only for this app's topics; may be repeated.")
  var topic: [String] = []

  @Option(help: "development or production; repeat it for a key of the old type, which is for both.")
  var environment: [PushEnvironment] = []

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() async throws {
    try await reporting {
      let folder = InstanceFolder(try options.existingFolder()).pushCredentials
      let key = try credentials {
        try PushCredentials.addKey(
          in: folder, teamID: team, environments: environment.isEmpty ? [.development] : Set(environment),
          topics: topic.isEmpty ? nil : topic)
      }
      let path = try PushCredentials.read(in: folder).path(of: key) ?? ""
      let made = MadeCredential(id: key.id, teamID: key.teamID, path: path, keyPath: nil)
      if json { return try Output.json(made) }
      Output.print("key id \(key.id), team \(key.teamID): \(path)")
    }
  }
}

/// `widgetlab keys certificate`.
struct ClientCertificateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "certificate",
    abstract: "Creates a client certificate for an app's pushes, as the developer account does.",
    discussion: """
      It is for the topics of the bundle identifier, with .voip and .complication; widget pushes need provider keys.

      EXAMPLE
        widgetlab keys certificate com.example.CaffeineTracker --environment development
      """)

  @OptionGroup var options: InstanceOptions

  @Argument(help: "The containing app's bundle identifier.")
  var bundle: String

  @Option(help: "development or production (default: both).")
  var environment: [PushEnvironment] = []

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() async throws {
    try await reporting {
      let folder = InstanceFolder(try options.existingFolder()).pushCredentials
      let listed = try credentials {
        try PushCredentials.addCertificate(
          in: folder, bundle: bundle,
          environments: Set(environment.isEmpty ? PushEnvironment.allCases : environment))
      }
      let paths = try PushCredentials.read(in: folder).paths(of: listed)
      let made = MadeCredential(id: bundle, teamID: nil, path: paths.certificate, keyPath: paths.key)
      if json { return try Output.json(made) }
      Output.print("certificate \(paths.certificate), key \(paths.key)")
    }
  }
}

/// The created credential, and its paths.
struct MadeCredential: Codable {
  let id: String
  let teamID: String?
  let path: String
  let keyPath: String?
}

/// Creates a provider's credentials. Converts errors to command errors.
private func credentials<T>(_ make: () throws -> T) throws -> T {
  do {
    return try make()
  } catch let error as PushCredentialsError {
    throw CommandError(Exit.configuration, error.description)
  }
}
