// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import Glibc
package import Messages
import X509

/// The credentials of the provider and the push server: a certificate authority, the server certificate, provider keys,
/// and optional client certificates. In one folder:
///
/// ```text
/// server/    authority-key.pem, server.pem (with the CA certificate), server-key.pem   for the push server only
/// provider/  ca.pem, AuthKey_<key id>.p8, <bundle>.pem, <bundle>-key.pem               for a provider
///            provider.json   the registered keys with their public halves, and the client certificates
/// ```
///
/// All files have mode 0600. Missing files are created; two processes may do this at once.
///
/// The replicas of a push server share these files, as secrets of a container engine: all but `authority-key.pem`, which
/// stays where they were made. Nothing is created or written in such a folder.
package struct PushCredentials: Sendable {
  /// The absolute path.
  package let folder: String
  private let list: ProviderList

  /// The team of the initial keys.
  package static let teamID = "LABTEAM000"
  /// The ids of the initial keys: one per environment, each for the whole team.
  package static let keyIDs: [PushEnvironment: String] = [.development: "LABDEVKEY0", .production: "LABPRDKEY0"]

  /// The CA certificate that clients trust, in PEM.
  package var authorityPath: String { Self.providerFolder(folder) + "/ca.pem" }
  /// The server certificate followed by the CA certificate, in PEM.
  package var serverCertificatePath: String { Self.serverFolder(folder) + "/server.pem" }
  package var serverKeyPath: String { Self.serverFolder(folder) + "/server-key.pem" }
  package var teamID: String { key(for: .development)?.teamID ?? Self.teamID }
  /// All registered keys, in order of registration.
  package var keys: [ListedKey] { list.keys }
  package var certificates: [ListedCertificate] { list.certificates }

  /// Returns the key of the whole team for an environment.
  package func key(for environment: PushEnvironment) -> ListedKey? {
    list.keys.first { $0.topics == nil && $0.environments.contains(environment) }
  }

  /// The path of the private half of a key, PKCS#8 in PEM.
  package func path(of key: ListedKey) -> String? { key.file.map { Self.providerFolder(folder) + "/" + $0 } }
  /// The paths of a client certificate and its key, both in PEM.
  package func paths(of certificate: ListedCertificate) -> (certificate: String, key: String) {
    let folder = Self.providerFolder(folder)
    return (folder + "/" + certificate.file, folder + "/" + certificate.keyFile)
  }

  static func serverFolder(_ folder: String) -> String { folder + "/server" }
  static func providerFolder(_ folder: String) -> String { folder + "/provider" }
  static func listPath(_ folder: String) -> String { providerFolder(folder) + "/provider.json" }

  // MARK: Creating and reading

  /// Creates missing credentials and reads the others.
  ///
  /// - Parameter serverNames: names and addresses of the server beside `localhost`, `127.0.0.1` and `::1`. The server
  ///   certificate is created again when it lacks one, or has less than 30 days left.
  /// - Throws: `PushCredentialsError`.
  @discardableResult
  package static func make(in folder: String, serverNames: [String] = []) throws -> PushCredentials {
    let names = ["localhost", "127.0.0.1", "::1"] + serverNames
    if let given = try given(in: folder, serverNames: names) { return given }
    return try exclusively(in: folder) { folder in
      let authority = try CertificateAuthority.make(in: folder)
      try authority.makeServerCertificate(in: folder, names: names)
      var list = try ProviderList.read(in: folder) ?? ProviderList(keys: [], certificates: [])
      for environment in PushEnvironment.allCases {
        guard let id = keyIDs[environment], !list.keys.contains(where: { $0.id == id }) else { continue }
        list.keys.append(try makeKey(id, team: teamID, environments: [environment], topics: nil, in: folder))
      }
      try list.write(in: folder)
      return PushCredentials(folder: folder, list: list)
    }
  }

  /// Reads credentials that were made elsewhere: the key of the authority is not here, and all others are.
  ///
  /// - Returns: `nil` for a folder without such credentials.
  /// - Throws: `PushCredentialsError` when the server certificate cannot be used.
  private static func given(in folder: String, serverNames: [String]) throws -> PushCredentials? {
    let folder = URL(fileURLWithPath: folder).standardizedFileURL.path
    let server = serverFolder(folder)
    let files = [providerFolder(folder) + "/ca.pem", server + "/server.pem", server + "/server-key.pem"]
    guard files.allSatisfy(FileManager.default.fileExists),
      !FileManager.default.fileExists(
        atPath: CertificateAuthority.keyPath(in: folder)), let list = try ProviderList.read(in: folder)
    else { return nil }
    if let fault = CertificateAuthority.fault(ofServerCertificate: files[1], names: serverNames) {
      throw PushCredentialsError(
        "\(files[1]) \(fault): run `widgetlab keys make` where it was made, and pass it on again")
    }
    return PushCredentials(folder: folder, list: list)
  }

  /// Reads existing credentials.
  ///
  /// - Throws: `PushCredentialsError` when the folder has no credentials.
  package static func read(in folder: String) throws -> PushCredentials {
    guard let list = try ProviderList.read(in: folder) else {
      throw PushCredentialsError(
        "\(listPath(folder)) is missing: start the push server, or run `widgetlab keys make`")
    }
    return PushCredentials(folder: URL(fileURLWithPath: folder).path, list: list)
  }

  /// Creates and registers another provider key. A running push server finds it with the next request that names it.
  ///
  /// - Parameters:
  ///   - team: 10 characters; by default the team of the initial keys.
  ///   - topics: bundle identifiers; `nil` for all of the team.
  /// - Throws: `PushCredentialsError`.
  package static func addKey(
    in folder: String, teamID team: String? = nil, environments: Set<PushEnvironment>, topics: [String]? = nil
  ) throws -> ListedKey {
    if let team, team.utf8.count != 10 || !PushTopic.isIdentifier(team) {
      throw PushCredentialsError("'\(team)' is not a team id: expected 10 letters and digits")
    }
    guard !environments.isEmpty else { throw PushCredentialsError("a key needs at least one environment") }
    return try exclusively(in: folder) { folder in
      guard var list = try ProviderList.read(in: folder) else {
        throw PushCredentialsError("\(listPath(folder)) is missing: run `widgetlab keys make`")
      }
      let letters = Array("ABCDEFGHJKLMNPQRSTUVWXYZ23456789")
      let id = String((0..<10).map { _ in letters.randomElement() ?? "A" })
      let key = try makeKey(id, team: team ?? teamID, environments: environments, topics: topics, in: folder)
      list.keys.append(key)
      try list.write(in: folder)
      return key
    }
  }

  /// Creates a client certificate for an app's pushes, with the topics of Apple's certificates: the bundle identifier,
  /// and the same with `.voip` and `.complication`.
  ///
  /// - Throws: `PushCredentialsError`.
  package static func addCertificate(
    in folder: String, bundle: String, environments: Set<PushEnvironment> = Set(PushEnvironment.allCases)
  ) throws -> ListedCertificate {
    guard PushTopic.isIdentifier(bundle) else { throw PushCredentialsError("'\(bundle)' is not a bundle identifier") }
    return try exclusively(in: folder) { folder in
      guard var list = try ProviderList.read(in: folder) else {
        throw PushCredentialsError("\(listPath(folder)) is missing: run `widgetlab keys make`")
      }
      let word = environments.count == 1 ? environments.map { "-" + $0.rawValue }.joined() : ""
      let certificate = ListedCertificate(
        bundle: bundle, environments: environments.sorted { $0.rawValue < $1.rawValue },
        file: "\(bundle)\(word).pem", keyFile: "\(bundle)\(word)-key.pem")
      let authority = try CertificateAuthority.make(in: folder)
      let made = try authority.makeClientCertificate(bundle: bundle, environments: environments)
      try write(made.key, to: providerFolder(folder) + "/" + certificate.keyFile)
      try write(made.certificate, to: providerFolder(folder) + "/" + certificate.file)
      list.certificates.removeAll { $0.file == certificate.file }
      list.certificates.append(certificate)
      try list.write(in: folder)
      return certificate
    }
  }

  private static func makeKey(
    _ id: String, team: String, environments: Set<PushEnvironment>, topics: [String]?, in folder: String
  ) throws -> ListedKey {
    let key = P256.Signing.PrivateKey()
    let file = "AuthKey_\(id).p8"
    try write(key.pemRepresentation + "\n", to: providerFolder(folder) + "/" + file)
    return ListedKey(
      id: id, teamID: team, environments: environments.sorted { $0.rawValue < $1.rawValue }, topics: topics,
      publicKey: key.publicKey.pemRepresentation, file: file)
  }

  // MARK: Files

  /// Creates the folder and runs the body under an exclusive lock, which the kernel releases when the process exits.
  private static func exclusively<T>(in folder: String, _ body: (String) throws -> T) throws -> T {
    let folder = URL(fileURLWithPath: folder).standardizedFileURL.path
    do {
      for folder in [folder, serverFolder(folder), providerFolder(folder)] {
        try FileManager.default.createDirectory(
          atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      }
    } catch {
      throw PushCredentialsError("cannot create the folder \(folder): \(error.localizedDescription)")
    }
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0, flock(descriptor, LOCK_EX) == 0 else {
      throw PushCredentialsError("cannot lock the folder \(folder): \(String(cString: strerror(errno)))")
    }
    defer { close(descriptor) }
    do {
      return try body(folder)
    } catch let error as PushCredentialsError {
      throw error
    } catch {
      throw PushCredentialsError("cannot create keys or certificates in \(folder): \(error)")
    }
  }

  /// Writes a file atomically, mode 0600.
  static func write(_ text: String, to path: String) throws(PushCredentialsError) {
    let temporary = path + "." + UUID().uuidString
    let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    do {
      guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
      let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
      try file.write(contentsOf: Data(text.utf8))
      try file.synchronize()
      try file.close()
      guard rename(temporary, path) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    } catch {
      unlink(temporary)
      throw PushCredentialsError("cannot write \(path): \(error.localizedDescription)")
    }
  }
}

/// Why there are no credentials, as a text for the user.
package struct PushCredentialsError: Error, Hashable, Sendable, CustomStringConvertible {
  package let description: String
  init(_ description: String) { self.description = description }
}
