package import Conversations
package import Crypto

/// A key with which a provider signs its tokens: the public half, as it is registered.
package struct ProviderKey: Sendable {
  /// 10 characters.
  package let id: String
  /// 10 characters.
  package let team: String
  /// Where it is valid: one, and both for a key of the old kind.
  package let environments: Set<PushEnvironment>
  /// `nil` for a key of the whole team. A topic of the list means those of its bundle's push types too.
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

  /// Whether a connection whose first push had this key may go on with another one. Source: Apple's *Establishing a
  /// token-based connection to APNs*: keys of the team among themselves, keys of topics with those of the same topics.
  func isRelated(to other: ProviderKey) -> Bool { team == other.team && topics == other.topics }

  /// Whether it may send to a topic.
  static func allows(_ topic: PushTopic, _ topics: Set<String>?) -> Bool {
    guard let topics else { return true }
    return topics.contains(topic.text) || topics.contains(topic.bundle)
  }
}
