import AsyncHTTPClient
import Conversations
import NIOCore

/// The HTTP clients of the daemon: one for each idle limit and number of connections that sessions ask for.
struct HTTPClients {
  private struct Kind: Hashable {
    /// Milliseconds without data after which an attempt is given up, and made again.
    let idleLimit: Int64
    let connectionsPerHost: Int
  }

  private var clients: [Kind: HTTPClient] = [:]

  /// The client for a session: its `timeoutIntervalForRequest` and `httpMaximumConnectionsPerHost`.
  mutating func client(_ configuration: SessionConfiguration) -> HTTPClient {
    let idle = min(max(configuration.timeoutIntervalForRequest, 0.001), 1e9)
    let kind = Kind(
      idleLimit: Int64(idle * 1000), connectionsPerHost: max(1, configuration.httpMaximumConnectionsPerHost))
    if let client = clients[kind] { return client }
    var settings = HTTPClient.Configuration(
      redirectConfiguration: .follow(max: 16, allowCycles: false),
      timeout: .init(connect: .seconds(10), read: .milliseconds(kind.idleLimit)))
    settings.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = kind.connectionsPerHost
    // The back-off between attempts is the daemon's, so that each is recorded.
    settings.connectionPool.retryConnectionEstablishment = false
    settings.httpVersion = .http1Only
    let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: settings)
    clients[kind] = client
    return client
  }

  /// Closes all connections. Nothing may be under way.
  mutating func shutdown() async {
    let all = clients.values
    clients = [:]
    for client in all { try? await client.shutdown() }
  }
}
