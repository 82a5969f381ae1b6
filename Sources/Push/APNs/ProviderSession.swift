/// What a connection of a provider is bound to by its first pushes: a value that lives as long as the connection.
package struct ProviderSession: Sendable {
  /// A first push had a valid provider token, or the connection has a certificate: it may have many streams from now on.
  package internal(set) var isAuthorized = false
}
