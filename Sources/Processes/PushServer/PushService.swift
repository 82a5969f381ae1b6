import APNs
import Cluster
import Conversations
import Foundation
import GRDB
import Logging
import MessageBus
import PushFront
import PushStore

/// The assembled push server: contract, store and two fronts, and its place on the bus.
struct PushService {
  private let place: ClusterConfiguration.PushServer
  private let instance: InstanceFolder
  private let logger = Logger(label: "push-server")
  /// How long what is under way may take when the process is asked to end: `up` kills it after three seconds.
  private static let lastSeconds = 2.0

  init(_ place: ClusterConfiguration.PushServer, instance: InstanceFolder) {
    self.place = place
    self.instance = instance
  }

  /// Serves until SIGTERM or SIGINT.
  ///
  /// - Throws: what keeps it from serving: the folder, the database, a port that is taken.
  func run() async throws {
    guard place.listen != "0.0.0.0" || place.advertise != nil else {
      throw ClusterError(
        .configuration, "who listens on every interface says with --advertise HOST how providers reach it")
    }
    StandingProcess.raiseDescriptorLimit()
    try instance.create()
    try instance.createPushServer()
    let credentials = try PushCredentials.make(
      in: instance.pushCredentials, serverNames: [place.advertise].compactMap(\.self))
    let database = try openDatabase()
    let connection = try await Cluster.connection(as: .pushServer, address: .pushServer, instance: instance)
    let keeper = try PushKeeper(database: database, bus: connection, settings: PushSettings(place.rules)) { reason in
      FileHandle.standardError.write(
        Data("push-server: \(reason). Is the disk full? Started again, it goes on where it was.\n".utf8))
      Foundation.exit(1)
    }
    let keys = try ProviderKeyRing(folder: instance.pushCredentials)
    let orders = PushBackend.Orders()
    let backends = PushEnvironment.allCases.map { environment in
      (
        environment,
        PushBackend(
          contract: APNsContract(environment: environment, settings: APNsSettings(place.rules)), keys: keys,
          keeper: keeper, orders: orders)
      )
    }
    let desk = OperatorDesk(backends: Dictionary(uniqueKeysWithValues: backends), keeper: keeper, orders: orders)
    StandingProcess.renewKey(.pushServer, on: connection, in: instance)
    StandingProcess.answerPeers(on: connection)
    keeper.listen()
    desk.listen(on: connection)
    var fronts: [PushEnvironment: APNsFront] = [:]
    for (environment, backend) in backends {
      fronts[environment] = try await start(environment, backend, credentials)
    }
    let generation = try await connection.start()
    await keeper.begin()
    try announce(fronts, credentials)
    logger.info("the push server is on the bus", metadata: ["generation": "\(generation)"])
    await StandingProcess.run(connection, logger: logger) { await end(fronts, keeper) }
    try database.close()
  }

  private func openDatabase() throws -> DatabasePool {
    let path = instance.pushServer + "/push.sqlite"
    do {
      var configuration = Configuration()
      configuration.busyMode = .timeout(5)
      let pool = try DatabasePool(path: path, configuration: configuration)
      // A 200 is a promise that a power failure does not break either.
      try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
      return pool
    } catch {
      throw ClusterError(
        .folder,
        "the push server's database \(path) cannot be opened: \(error). If it is damaged, remove it: all device tokens "
          + "are then unknown, and devices ask for new ones")
    }
  }

  private func start(
    _ environment: PushEnvironment, _ backend: PushBackend, _ credentials: PushCredentials
  ) async throws -> APNsFront {
    var limits = PushFrontLimits()
    limits.idle = place.rules.idleTimeout / .seconds(1)
    let configuration = try PushFrontConfiguration.reading(
      certificatePath: credentials.serverCertificatePath, keyPath: credentials.serverKeyPath,
      authorityPath: credentials.authorityPath, host: place.listen,
      port: environment == .development ? place.developmentPort : place.productionPort, limits: limits, eventLoops: 1)
    let logger = logger
    return try await APNsFront.start(configuration, backend: backend) { line in
      logger.notice("\(line)", metadata: ["environment": "\(environment.rawValue)"])
    }
  }

  private func announce(_ fronts: [PushEnvironment: APNsFront], _ credentials: PushCredentials) throws {
    let host = place.advertise ?? place.listen
    func url(_ environment: PushEnvironment) -> String {
      "https://\(host.contains(":") ? "[\(host)]" : host):\(fronts[environment]?.port ?? 0)"
    }
    let key = credentials.key(for: .development)
    let announcement = PushServerAnnouncement(
      development: url(.development), production: url(.production), certificateAuthority: credentials.authorityPath,
      key: key.flatMap(credentials.path) ?? "", keyID: key?.id ?? "", teamID: credentials.teamID, pid: getpid())
    try announcement.write(in: instance)
    logger.notice(
      "listens", metadata: ["development": "\(announcement.development)", "production": "\(announcement.production)"])
  }

  /// Tells the providers, answers what is under way, and has it on disk.
  private func end(_ fronts: [PushEnvironment: APNsFront], _ keeper: PushKeeper) async {
    await withTaskGroup(of: Void.self) { group in
      for front in fronts.values { group.addTask { await front.shutDown(within: Self.lastSeconds) } }
    }
    await keeper.caughtUp()
  }
}

extension PushSettings {
  /// What `widgetlab.yaml` says of the store.
  init(_ rules: ClusterConfiguration.PushRules) {
    self.init()
    logAge = rules.logAge / .seconds(1)
    logLimit = rules.logLimit
    queueLimit = rules.queueLimit
    storageAge = rules.storageAge / .seconds(1)
    inFlight = rules.inFlight
    journalRate = rules.journalRate
  }
}

extension APNsSettings {
  /// What `widgetlab.yaml` says of the contract.
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
