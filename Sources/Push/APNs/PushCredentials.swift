package import Conversations
import Crypto
import Foundation
import Glibc
import X509

/// What a provider and the push server need in order to believe each other: a certificate authority, the server's
/// certificate, provider keys, and client certificates for whoever wants them. In one folder:
///
/// ```text
/// server/    authority-key.pem, server.pem (with the authority's), server-key.pem   the push server's alone
/// provider/  ca.pem, AuthKey_<key id>.p8, <bundle>.pem, <bundle>-key.pem            a provider's
///            provider.json   which keys are registered, with their public halves, and which certificates there are
/// ```
///
/// All files have the mode 0600. What is missing is made; two processes may do it at once.
package struct PushCredentials: Sendable {
  /// Absolute.
  package let folder: String
  private let list: ProviderList

  /// The team of the keys that are made at the beginning.
  package static let teamID = "LABTEAM000"
  /// The keys that are made at the beginning: each of the whole team, in one environment.
  package static let keyIDs: [PushEnvironment: String] = [.development: "LABDEVKEY0", .production: "LABPRDKEY0"]

  /// PEM of what clients trust.
  package var authorityPath: String { Self.providerFolder(folder) + "/ca.pem" }
  /// PEM: the server's certificate, then the authority's.
  package var serverCertificatePath: String { Self.serverFolder(folder) + "/server.pem" }
  package var serverKeyPath: String { Self.serverFolder(folder) + "/server-key.pem" }
  package var teamID: String { key(for: .development)?.teamID ?? Self.teamID }
  /// All that are registered, the first ones first.
  package var keys: [ListedKey] { list.keys }
  package var certificates: [ListedCertificate] { list.certificates }

  /// The key of the whole team for an environment.
  package func key(for environment: PushEnvironment) -> ListedKey? {
    list.keys.first { $0.topics == nil && $0.environments.contains(environment) }
  }

  /// The private half of a key, PKCS#8 in PEM.
  package func path(of key: ListedKey) -> String? { key.file.map { Self.providerFolder(folder) + "/" + $0 } }
  /// PEM of a client certificate, and of its key.
  package func paths(of certificate: ListedCertificate) -> (certificate: String, key: String) {
    let folder = Self.providerFolder(folder)
    return (folder + "/" + certificate.file, folder + "/" + certificate.keyFile)
  }

  static func serverFolder(_ folder: String) -> String { folder + "/server" }
  static func providerFolder(_ folder: String) -> String { folder + "/provider" }
  static func listPath(_ folder: String) -> String { providerFolder(folder) + "/provider.json" }

  // MARK: Making and reading

  /// Makes what is missing, and reads the rest.
  ///
  /// - Parameter serverNames: names and addresses beside `localhost`, `127.0.0.1` and `::1` by which the server is reached;
  ///   its certificate is made anew when one is not in it, or when it has less than 30 days left.
  /// - Throws: `PushCredentialsError`.
  @discardableResult
  package static func make(in folder: String, serverNames: [String] = []) throws -> PushCredentials {
    try exclusively(in: folder) { folder in
      let authority = try CertificateAuthority.make(in: folder)
      try authority.makeServerCertificate(in: folder, names: ["localhost", "127.0.0.1", "::1"] + serverNames)
      var list = try ProviderList.read(in: folder) ?? ProviderList(keys: [], certificates: [])
      for environment in PushEnvironment.allCases {
        guard let id = keyIDs[environment], !list.keys.contains(where: { $0.id == id }) else { continue }
        list.keys.append(try makeKey(id, teamID, [environment], topics: nil, in: folder))
      }
      try list.write(in: folder)
      return PushCredentials(folder: folder, list: list)
    }
  }

  /// Reads what was made.
  ///
  /// - Throws: `PushCredentialsError` when nothing was.
  package static func read(in folder: String) throws -> PushCredentials {
    guard let list = try ProviderList.read(in: folder) else {
      throw PushCredentialsError(
        "\(listPath(folder)) is missing: the push server makes it when it starts, and `widgetlab keys make`")
    }
    return PushCredentials(folder: URL(fileURLWithPath: folder).path, list: list)
  }

  /// Makes and registers another provider key. A push server that runs knows it with the next request that names it.
  ///
  /// - Parameters:
  ///   - team: 10 characters; the first keys' without it.
  ///   - topics: bundle identifiers; `nil` for all of the team's.
  /// - Throws: `PushCredentialsError`.
  package static func addKey(
    in folder: String, teamID team: String? = nil, environments: Set<PushEnvironment>, topics: [String]? = nil
  ) throws -> ListedKey {
    if let team, team.utf8.count != 10 || !PushTopic.isIdentifier(team) {
      throw PushCredentialsError("'\(team)' is no team id: 10 letters and digits")
    }
    guard !environments.isEmpty else { throw PushCredentialsError("a key is for at least one environment") }
    return try exclusively(in: folder) { folder in
      guard var list = try ProviderList.read(in: folder) else {
        throw PushCredentialsError("\(listPath(folder)) is missing: `widgetlab keys make` makes it")
      }
      let letters = Array("ABCDEFGHJKLMNPQRSTUVWXYZ23456789")
      let id = String((0..<10).map { _ in letters.randomElement() ?? "A" })
      let key = try makeKey(id, team ?? teamID, environments, topics: topics, in: folder)
      list.keys.append(key)
      try list.write(in: folder)
      return key
    }
  }

  /// Makes a client certificate for an app's pushes: the topics of its bundle identifier, with `.voip` and
  /// `.complication`, as Apple's have them.
  ///
  /// - Throws: `PushCredentialsError`.
  package static func addCertificate(
    in folder: String, bundle: String, environments: Set<PushEnvironment> = Set(PushEnvironment.allCases)
  ) throws -> ListedCertificate {
    guard PushTopic.isIdentifier(bundle) else { throw PushCredentialsError("'\(bundle)' is no bundle identifier") }
    return try exclusively(in: folder) { folder in
      guard var list = try ProviderList.read(in: folder) else {
        throw PushCredentialsError("\(listPath(folder)) is missing: `widgetlab keys make` makes it")
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
    _ id: String, _ team: String, _ environments: Set<PushEnvironment>, topics: [String]?, in folder: String
  ) throws -> ListedKey {
    let key = P256.Signing.PrivateKey()
    let file = "AuthKey_\(id).p8"
    try write(key.pemRepresentation + "\n", to: providerFolder(folder) + "/" + file)
    return ListedKey(
      id: id, teamID: team, environments: environments.sorted { $0.rawValue < $1.rawValue }, topics: topics,
      publicKey: key.publicKey.pemRepresentation, file: file)
  }

  // MARK: Files

  /// Makes the folder and keeps other processes out while the body runs: the kernel lets go when the process dies.
  private static func exclusively<T>(in folder: String, _ body: (String) throws -> T) throws -> T {
    let folder = URL(fileURLWithPath: folder).standardizedFileURL.path
    do {
      for folder in [folder, serverFolder(folder), providerFolder(folder)] {
        try FileManager.default.createDirectory(
          atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      }
    } catch {
      throw PushCredentialsError("the folder \(folder) cannot be made: \(error.localizedDescription)")
    }
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0, flock(descriptor, LOCK_EX) == 0 else {
      throw PushCredentialsError("the folder \(folder) cannot be locked: \(String(cString: strerror(errno)))")
    }
    defer { close(descriptor) }
    do {
      return try body(folder)
    } catch let error as PushCredentialsError {
      throw error
    } catch {
      throw PushCredentialsError("no key or certificate could be made in \(folder): \(error)")
    }
  }

  /// Writes a file whole or not at all, mode 0600.
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
      throw PushCredentialsError("\(path) cannot be written: \(error.localizedDescription)")
    }
  }
}

/// Why there are no credentials, for people.
package struct PushCredentialsError: Error, Hashable, Sendable, CustomStringConvertible {
  package let description: String
  init(_ description: String) { self.description = description }
}
