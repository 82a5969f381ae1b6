// SPDX-License-Identifier: Apache-2.0

import APNs
import APNsServer
import Cluster
import Foundation
package import GRDB
import Logging
package import MessageBus
import Messages
import PostgresStore
import PrometheusMetrics
import PushDelivery
import PushRules
import StandingProcesses
import Stores

/// The assembled push server: contract, service, two HTTP/2 servers and the bus connection.
struct PushServerService {
  private let configuration: ClusterConfiguration.PushServer
  private let metricsOption: MetricsOption
  private let address: Address
  private let instance: InstanceFolder
  private let parts: PushServerParts
  private let logger: Logger
  /// Seconds to finish open requests after SIGTERM: `up` kills the process after three seconds.
  private static let lastSeconds = 2.0

  /// - Parameter metricsOption: starts the server of the metrics that the configuration describes.
  init(
    _ configuration: ClusterConfiguration.PushServer, _ metricsOption: MetricsOption, address: Address,
    instance: InstanceFolder, parts: PushServerParts, logger: Logger
  ) {
    self.configuration = configuration
    self.metricsOption = metricsOption
    self.address = address
    self.instance = instance
    self.parts = parts
    self.logger = logger
  }

  /// Serves until SIGTERM or SIGINT.
  ///
  /// - Throws: why it cannot serve: the folder, the database, or a port in use.
  func run() async throws {
    guard configuration.listen != "0.0.0.0" || configuration.advertise != nil else {
      throw ClusterError(
        .configuration, "--listen 0.0.0.0 requires --advertise HOST, the host name for providers")
    }
    StandingProcess.raiseDescriptorLimit()
    try instance.create()
    try instance.createPushServer()
    if configuration.database == nil, let loss = advice.loss(since: StoreOpening.path(of: advice.file)) {
      logger.warning("\(loss)")
    }
    let credentials = try PushCredentials.make(
      in: instance.pushCredentials, serverNames: [configuration.advertise].compactMap(\.self))
    // The database of a push server without replicas.
    let opening = configuration.database == nil ? try StoreOpening.next(of: advice.file) : nil
    let database = configuration.database == nil ? try openDatabase() : nil
    let connection = try await Cluster.connection(
      as: .pushServer, address: address, instance: instance, store: opening)
    let metrics = configuration.metrics.map { _ in ProviderMetrics() }
    let service = try makeService(
      database, bus: parts.bus(connection), credentials: credentials, metrics: metrics?.delivery)
    if let database { try parts.database(database) }
    let keys = try ProviderKeyRing(folder: instance.pushCredentials)
    let overrides = PushBackend.Overrides()
    let backends = PushEnvironment.allCases.map { environment in
      (
        environment,
        PushBackend(
          contract: APNsContract(environment: environment, settings: APNsSettings(configuration.rules)), keys: keys,
          service: service, overrides: overrides, metrics: metrics)
      )
    }
    let operatorHandler = PushServerOperator(
      backends: Dictionary(uniqueKeysWithValues: backends), service: service, overrides: overrides)
    StandingProcess.renewKey(.pushServer, on: connection, in: instance)
    StandingProcess.answerPeers(on: connection) { [service] in
      service.isAvailable ? [] : ["the database"]
    }
    service.listen()
    operatorHandler.listen(on: connection)
    var servers: [PushEnvironment: APNsHTTP2Server] = [:]
    for (environment, backend) in backends {
      servers[environment] = try await start(environment, backend: backend, credentials: credentials)
    }
    let generation = try await connection.start()
    await service.begin()
    metrics?.observe(servers, service)
    let metricsServer = try metricsOption.serve(
      configuration.metrics, as: address, advertise: configuration.advertise, in: instance, logger: logger
    ) { metrics?.families ?? [] }
    defer { metricsServer?.stop() }
    logger.info("the push server is on the bus", metadata: ["generation": "\(generation)"])
    try await StandingProcess.run(
      connection, logger: logger, announce: { try announce(servers, credentials) },
      last: { await end(servers, service) })
    try database?.close()
  }

  private func makeService(
    _ database: DatabasePool?, bus: any BusConnection, credentials: PushCredentials, metrics: DeliveryMetrics?
  ) throws -> PushDeliveryService {
    let settings = PushSettings(configuration.rules)
    if let database {
      return try PushDeliveryService(database: database, bus: bus, settings: settings, metrics: metrics) {
        [advice] reason in
        PushServerCommand.fail("\(reason). \(advice.text(shortage: DiskSpace(at: advice.file)?.shortage))", .io)
      }
    }
    // The replicas of a cluster share its certificate authority.
    let authority = try Data(contentsOf: URL(fileURLWithPath: credentials.authorityPath))
    let store = try PostgresPushStore(
      configuration.database ?? "", address: address, settings: settings,
      cluster: ClusterMark(authority: authority, folder: instance.path))
    do {
      try store.connect()
    } catch let error where error.code == .taken {
      throw ClusterError(.configuration, error.message)
    } catch {
      // It is tried again: a replica stays when the database is away.
    }
    return try PushDeliveryService(store: store, bus: bus, settings: settings, metrics: metrics) { reason in
      PushServerCommand.fail(reason, .io)
    } availability: { [logger] text in
      logger.error("\(text)")
    }
  }

  private func openDatabase() throws -> DatabasePool {
    do {
      // A 200 promises that the notification survives a power failure.
      return try DatabasePool.opening(advice.file)
    } catch {
      throw ClusterError(
        .folder,
        "cannot open the push server's database \(advice.file): \(error). "
          + advice.text(shortage: DiskSpace(at: advice.file)?.shortage))
    }
  }

  private var advice: DatabaseAdvice {
    let file = instance.pushServer + "/push.sqlite"
    return DatabaseAdvice(
      file: file, process: "push server", content: "the device tokens, stored notifications and the delivery log",
      removal: "remove \(file)*: all device tokens become unknown, and devices request new ones")
  }

  private func start(
    _ environment: PushEnvironment, backend: PushBackend, credentials: PushCredentials
  ) async throws -> APNsHTTP2Server {
    var limits = APNsServerLimits()
    limits.idle = configuration.rules.idleTimeout / .seconds(1)
    limits.refusals = RefusalPolicy(configuration.rules)
    let serverConfiguration = try APNsServerConfiguration.reading(
      certificatePath: credentials.serverCertificatePath, keyPath: credentials.serverKeyPath,
      authorityPath: credentials.authorityPath, host: configuration.listen,
      port: environment == .development ? configuration.developmentPort : configuration.productionPort, limits: limits,
      eventLoops: 1)
    let logger = logger
    return try await APNsHTTP2Server.start(serverConfiguration, backend: backend) { line in
      logger.notice("\(line)", metadata: ["environment": "\(environment.rawValue)"])
    }
  }

  private func announce(_ servers: [PushEnvironment: APNsHTTP2Server], _ credentials: PushCredentials) throws {
    let host = configuration.advertise ?? configuration.listen
    func url(_ environment: PushEnvironment) -> String {
      "https://\(host.contains(":") ? "[\(host)]" : host):\(servers[environment]?.port ?? 0)"
    }
    let key = credentials.key(for: .development)
    let announcement = PushServerAnnouncement(
      development: url(.development), production: url(.production), certificateAuthority: credentials.authorityPath,
      key: key.flatMap(credentials.path) ?? "", keyID: key?.id ?? "", teamID: credentials.teamID, pid: getpid())
    if let name = address.replica {
      try announcement.write(to: instance.pushServerAnnouncement(of: name))
    }
    // A provider on this machine uses the first replica.
    if !address.isReplica || address == .pushServer("1") { try announcement.write(in: instance) }
    logger.notice(
      "listens", metadata: ["development": "\(announcement.development)", "production": "\(announcement.production)"])
  }

  /// Announces the shutdown to providers, finishes open requests, and waits until all is on disk.
  private func end(_ servers: [PushEnvironment: APNsHTTP2Server], _ service: PushDeliveryService) async {
    await withTaskGroup(of: Void.self) { group in
      for server in servers.values { group.addTask { await server.shutDown(within: Self.lastSeconds) } }
    }
    await service.leave()
  }
}

extension PushSettings {
  /// The storage limits from `widgetlab.yaml`.
  init(_ rules: ClusterConfiguration.PushRules) {
    self.init()
    logAge = rules.logAge / .seconds(1)
    logLimit = rules.logLimit
    queueLimit = rules.queueLimit
    storageAge = rules.storageAge / .seconds(1)
    endedTokenAge = rules.endedTokenAge / .seconds(1)
    inFlight = rules.inFlight
    journalRate = rules.journalRate
    opportunities.priority5Interval = rules.priority5Interval / .seconds(1)
    opportunities.priority1Interval = rules.priority1Interval / .seconds(1)
    opportunities.backgroundInterval = rules.backgroundInterval / .seconds(1)
  }
}

extension APNsSettings {
  /// The contract limits from `widgetlab.yaml`.
  init(_ rules: ClusterConfiguration.PushRules) {
    self.init()
    payloadLimit = rules.payloadLimit
    voipPayloadLimit = rules.voipPayloadLimit
    providerTokenLifetime = rules.providerTokenLifetime / .seconds(1)
    providerTokenUpdateInterval = rules.providerTokenUpdateInterval / .seconds(1)
    consecutiveRequests = rules.consecutiveRequests
    consecutiveWindow = rules.consecutiveWindow / .seconds(1)
  }
}

extension RefusalPolicy {
  /// What `widgetlab.yaml` says about connections with many refusals.
  init(_ rules: ClusterConfiguration.PushRules) {
    self.init()
    slowedFrom = rules.slowedRefusals
    slowedStreams = rules.slowedStreams
    endedAt = rules.endedRefusals
    badDeviceTokenWeight = rules.badDeviceTokenWeight
  }
}

/// The parts of a push server that another program can replace, as a deliberately broken build does.
package struct PushServerParts: Sendable {
  /// Makes the connection of the service from the connection of the process.
  package var bus: @Sendable (any BusConnection) -> any BusConnection = { $0 }
  /// Gets the SQLite database when it has its tables, before anything runs.
  package var database: @Sendable (any DatabaseWriter) throws -> Void = { _ in }

  package init() {}
}

/// Handles operator requests other than those for tokens.
struct PushServerOperator: Sendable {
  let backends: [PushEnvironment: PushBackend]
  let service: PushDeliveryService
  let overrides: PushBackend.Overrides

  /// Registers the handlers. Call before the connection is started.
  func listen(on connection: any BusConnection) {
    connection.onRequest(SendPush.self) { request, _ in try await send(request) }
    // The delivery log is the service's; the responses that were set are not.
    connection.onRequest(ListPushes.self) { request, _ in
      var reply = try await service.page(request)
      reply.overrides = overrides.all
      return reply
    }
    connection.onRequest(OverrideResponses.self) { replacement, _ in
      try ResponseOverrides.check(replacement)
      overrides.handle(replacement)
      return Done()
    }
  }

  private func read<Value: Sendable>(_ token: () async throws -> Value) async throws(BusError) -> Value {
    do {
      return try await token()
    } catch {
      throw BusError(.failed, "cannot read the push server's database: \(error)")
    }
  }

  /// Sends a notification as Apple's console does: the contract without provider authentication.
  private func send(_ request: SendPush) async throws(BusError) -> SendPush.Reply {
    let active = try await read {
      guard let subject = request.subject else { return nil as String? }
      return try await service.current(subject)?.token
    }
    guard let token = request.token ?? active else {
      throw BusError(
        .noSuchToken,
        request.subject.map { "no active device token for \($0.use.rawValue) of \($0.bundle) on \($0.device)" }
          ?? "the request has neither a token nor an app")
    }
    let knownToken = try await read { try await service.find(token.lowercased()) }
    let environment = knownToken?.environment ?? .development
    guard let backend = backends[environment] else { throw BusError(.failed, "no \(environment.rawValue) environment") }
    let body = Array(request.payload.utf8)
    let askedRequest = APNsRequest(
      method: "POST", path: "/3/device/\(token)",
      headers: request.headers.sorted { $0.key < $1.key }.map { APNsRequest.Header(name: $0.key, value: $0.value) },
      body: Array(body.prefix(APNsRequest.bodyLimit)), isTruncated: body.count > APNsRequest.bodyLimit)
    let now = Date()
    var session = ProviderSession.console
    let due = backend.check(askedRequest, APNsLookUp(token: .success(knownToken)), in: &session, now: now)
    let verdict = await withCheckedContinuation { continuation in
      backend.decide(due, now: now) { continuation.resume(returning: $0) }
    }
    return SendPush.Reply(
      status: verdict.status, reason: verdict.reason, explanation: verdict.explanation, apnsID: verdict.apnsID,
      uniqueID: verdict.uniqueID)
  }
}
