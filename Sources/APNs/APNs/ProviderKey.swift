// SPDX-License-Identifier: Apache-2.0

package import Crypto
package import Messages

/// The public half of a registered key that signs provider tokens.
package struct ProviderKey: Sendable {
  /// 10 characters.
  package let id: String
  /// 10 characters.
  package let team: String
  /// The environments in which it is valid: one, or both for a key of the old type.
  package let environments: Set<PushEnvironment>
  /// `nil` for a key of the whole team. A listed topic includes the topics of its bundle's push types.
  package let topics: Set<String>?
  package let publicKey: P256.Signing.PublicKey

  package init(
    id: String, team: String, environments: Set<PushEnvironment>, topics: Set<String>? = nil,
    publicKey: P256.Signing.PublicKey
  ) {
    self.id = id
    self.team = team
    self.environments = environments
    self.topics = topics
    self.publicKey = publicKey
  }

  /// Whether a connection whose first push had this key may also use another one: keys of the whole team with each
  /// other, keys of topics with keys of the same topics. Source: Apple's *Establishing a token-based connection to
  /// APNs*.
  func isRelated(to other: ProviderKey) -> Bool { team == other.team && topics == other.topics }

  /// Whether a key with these topics may send to a topic.
  static func allows(_ topic: PushTopic, _ topics: Set<String>?) -> Bool {
    guard let topics else { return true }
    return topics.contains(topic.text) || topics.contains(topic.bundle)
  }
}
