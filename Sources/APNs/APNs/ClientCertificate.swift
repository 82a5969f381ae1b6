// SPDX-License-Identifier: Apache-2.0

package import Foundation
package import Messages
import SwiftASN1
import X509

/// The rights that a client certificate gives.
package struct ClientCertificate: Hashable, Sendable {
  /// The topics of its extension, or only the bundle identifier of its subject; empty when it is not a push
  /// certificate.
  package let topics: Set<String>
  /// The UID of its subject: the bundle identifier, or a topic for managed devices.
  package let bundle: String?
  package let environments: Set<PushEnvironment>
  package let validity: Range<Date>

  /// - Parameter derEncoded: an unreadable certificate is treated as one without topics.
  package init(derEncoded bytes: [UInt8]) {
    guard let certificate = try? Certificate(derEncoded: bytes) else {
      (topics, bundle, environments, validity) = ([], nil, [], .distantPast..<(.distantPast))
      return
    }
    let named = Self.topicExtensions.reduce(into: Set<String>()) { topics, identifier in
      certificate.extensions[oid: identifier].map { topics.formUnion(Self.topics(in: $0.value)) }
    }
    let subject = certificate.subject.lazy.flatMap { $0 }.first { $0.type == Self.userID }
    bundle = subject.flatMap { String($0.value) }
    topics = named.isEmpty ? Set([bundle].compactMap(\.self)) : named
    let marked = Self.environmentExtensions.filter { certificate.extensions[oid: $0.identifier] != nil }
    environments = marked.isEmpty ? Set(PushEnvironment.allCases) : Set(marked.map(\.environment))
    let begin = certificate.notValidBefore
    validity = begin..<max(begin, certificate.notValidAfter)
  }

  /// The extensions that list topics. Source: Apple's *Sending notification requests to APNs*.
  static let topicExtensions: [ASN1ObjectIdentifier] = [
    [1, 2, 840, 113635, 100, 6, 3, 6], [1, 2, 840, 113635, 100, 6, 3, 4],
  ]
  /// The extensions that mark environments. Source: Apple's *WWDR Certification Practice Statement*.
  static let environmentExtensions: [(environment: PushEnvironment, identifier: ASN1ObjectIdentifier)] = [
    (.development, [1, 2, 840, 113635, 100, 6, 3, 1]), (.production, [1, 2, 840, 113635, 100, 6, 3, 2]),
  ]
  /// `UID`: RFC 4519.
  static let userID: ASN1ObjectIdentifier = [0, 9, 2342, 19_200_300, 100, 1, 1]

  /// Parses a sequence of topics, each followed by a sequence of names of its use.
  private static func topics(in value: ArraySlice<UInt8>) -> [String] {
    guard let root = try? DER.parse(value), case .constructed(let nodes) = root.content else { return [] }
    return nodes.compactMap { (try? ASN1UTF8String(derEncoded: $0)).map { String(decoding: $0.bytes, as: UTF8.self) } }
  }

  // MARK: Validation

  /// - Throws: `BadCertificate` or `BadCertificateEnvironment`; the connection becomes unusable.
  func check(environment: PushEnvironment, now: Date) throws(APNsRefusal) {
    guard !topics.isEmpty else {
      throw APNsRefusal(
        .badCertificate, "the client certificate has no topic, neither in an extension nor as the UID of its subject",
        endsConnection: true)
    }
    guard validity.contains(now) else {
      throw APNsRefusal(
        .badCertificate,
        "the client certificate is valid only from \(validity.lowerBound) to \(validity.upperBound)",
        endsConnection: true)
    }
    guard environments.contains(environment) else {
      throw APNsRefusal(
        .badCertificateEnvironment,
        "the client certificate is for \(environments.map(\.rawValue).joined(separator: " and ")), but this is the "
          + "\(environment.rawValue) environment", endsConnection: true)
    }
  }

  /// The topic of a request without `apns-topic`.
  var defaultTopic: String? { topics.count == 1 ? topics.first : nil }
}
