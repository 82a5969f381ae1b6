// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import Messages
import SwiftASN1
import Testing
import X509

@testable import APNs

@Suite(.timeLimit(.minutes(1))) struct `Push credentials` {
  @Test func `credentials are created once and read afterwards`() throws {
    try withCredentials { folder in
      let made = try PushCredentials.make(in: folder)
      let before = try Self.files(in: folder)
      #expect(
        before.keys.sorted() == [
          "provider/AuthKey_LABDEVKEY0.p8", "provider/AuthKey_LABPRDKEY0.p8", "provider/ca.pem",
          "provider/provider.json",
          "server/authority-key.pem", "server/server-key.pem", "server/server.pem",
        ])
      let again = try PushCredentials.make(in: folder)
      let read = try PushCredentials.read(in: folder)
      #expect(try Self.files(in: folder) == before)
      #expect(made.keys == again.keys && made.keys == read.keys)
      #expect(made.keys.map(\.id) == ["LABDEVKEY0", "LABPRDKEY0"])
      #expect(made.key(for: .production)?.id == "LABPRDKEY0" && made.teamID == "LABTEAM000")
    }
  }

  @Test func `credential files are readable and writable by their owner only`() throws {
    try withCredentials { folder in
      _ = try PushCredentials.make(in: folder)
      _ = try PushCredentials.addCertificate(in: folder, bundle: ProviderKeyFixture.bundle)
      for path in try Self.files(in: folder).keys {
        let mode = try FileManager.default.attributesOfItem(atPath: folder + "/" + path)[.posixPermissions] as? Int
        #expect(mode == 0o600, "\(path)")
      }
    }
  }

  @Test func `concurrent creators get the same credentials`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "credentials-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let keys = try await withThrowingTaskGroup(of: [ListedKey].self) { group in
      for _ in 0..<8 { group.addTask { try PushCredentials.make(in: folder).keys } }
      return try await group.reduce(into: Set<[ListedKey]>()) { $0.insert($1) }
    }
    #expect(keys.count == 1)
    let listed = try #require(keys.first?.first)
    let path = try #require(try PushCredentials.read(in: folder).path(of: listed))
    let text = try String(contentsOfFile: path, encoding: .utf8)
    let key = try P256.Signing.PrivateKey(pemRepresentation: text)
    #expect(key.publicKey.pemRepresentation == listed.publicKey)
    #expect(text.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
  }

  @Test func `the server certificate is signed by the authority and covers every server name`() throws {
    try withCredentials { folder in
      let made = try PushCredentials.make(in: folder)
      let first = try Self.server(made)
      #expect(first.names.count == 3)
      #expect(first.authority.publicKey.isValidSignature(first.certificate.signature, for: first.certificate))
      #expect(try Self.server(PushCredentials.make(in: folder, serverNames: ["localhost"])).names == first.names)
      let more = try Self.server(PushCredentials.make(in: folder, serverNames: ["push-server", "10.0.0.7"]))
      #expect(more.names.contains(.dnsName("push-server")))
      #expect(more.names.contains(.ipAddress(ASN1OctetString(contentBytes: [10, 0, 0, 7]))))
      #expect(more.authority == first.authority)
      #expect(
        try Self.server(PushCredentials.make(in: folder)).certificate == more.certificate, "additional names are kept")
    }
  }

  @Test func `a running push server finds a provider key that is added later`() throws {
    try withCredentials { folder in
      _ = try PushCredentials.make(in: folder)
      let ring = try ProviderKeyRing(folder: folder)
      #expect(ring.key("LABDEVKEY0")?.environments == [.development])
      #expect(ring.key("LABDEVKEY0")?.topics == nil && ring.key("NOTHING000") == nil)
      let added = try PushCredentials.addKey(
        in: folder, teamID: "OTHERTEAM1", environments: [.development, .production], topics: [ProviderKeyFixture.bundle]
      )
      let found = try #require(ring.key(added.id))
      #expect(
        found.team == "OTHERTEAM1" && found.environments.count == 2 && found.topics == [ProviderKeyFixture.bundle])
      #expect(added.id.count == 10)
      #expect(try PushCredentials.make(in: folder).keys.count == 3)
    }
  }

  @Test func `missing, malformed and invalid credentials throw an error`() throws {
    try withCredentials { folder in
      let error = #expect(throws: PushCredentialsError.self) { try PushCredentials.read(in: folder) }
      #expect(error?.description.contains("provider.json is missing") == true)
      _ = try PushCredentials.make(in: folder)
      #expect(throws: PushCredentialsError.self) {
        try PushCredentials.addKey(in: folder, teamID: "short", environments: [.development])
      }
      #expect(throws: PushCredentialsError.self) { try PushCredentials.addKey(in: folder, environments: []) }
      #expect(throws: PushCredentialsError.self) { try PushCredentials.addCertificate(in: folder, bundle: "../a") }
      try Data("{".utf8).write(to: URL(filePath: folder + "/provider/provider.json"))
      #expect(throws: PushCredentialsError.self) { try PushCredentials.make(in: folder) }
    }
  }

  @Test func `credentials without the key of their authority are read, and nothing is written beside them`() throws {
    try withCredentials { folder in
      let made = try PushCredentials.make(in: folder, serverNames: ["push-server"])
      try FileManager.default.removeItem(atPath: folder + "/server/authority-key.pem")
      try FileManager.default.removeItem(atPath: folder + "/provider/AuthKey_LABDEVKEY0.p8")
      let before = try Self.files(in: folder)
      let givenCredentials = try PushCredentials.make(in: folder, serverNames: ["push-server"])
      #expect(givenCredentials.keys == made.keys)
      #expect(try Self.files(in: folder) == before)
      let error = #expect(throws: PushCredentialsError.self) {
        try PushCredentials.make(in: folder, serverNames: ["another"])
      }
      #expect(error?.description.contains("server.pem lacks the name another: run `widgetlab keys make`") == true)
      try FileManager.default.removeItem(atPath: folder + "/server/server-key.pem")
      #expect(throws: PushCredentialsError.self) { try PushCredentials.make(in: folder, serverNames: ["push-server"]) }
    }
  }

  private static func server(
    _ credentials: PushCredentials
  ) throws -> (certificate: Certificate, authority: Certificate, names: [GeneralName]) {
    let text = try String(contentsOfFile: credentials.serverCertificatePath, encoding: .utf8)
    let chain = try PEMDocument.parseMultiple(pemString: text).map(Certificate.init(pemDocument:))
    let names = try #require(try chain[0].extensions.subjectAlternativeNames)
    return (chain[0], try #require(chain.last), Array(names))
  }

  private static func files(in folder: String) throws -> [String: Data] {
    let paths = try FileManager.default.subpathsOfDirectory(atPath: folder)
    return Dictionary(
      uniqueKeysWithValues: paths.compactMap { path in
        (try? Data(contentsOf: URL(filePath: folder + "/" + path))).map { (path, $0) }
      })
  }
}

/// A folder that exists while the body runs.
func withCredentials<T>(_ body: (String) throws -> T) throws -> T {
  let folder = FileManager.default.temporaryDirectory.appending(path: "credentials-\(UUID().uuidString)").path
  defer { try? FileManager.default.removeItem(atPath: folder) }
  return try body(folder)
}
