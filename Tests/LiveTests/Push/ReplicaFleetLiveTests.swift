// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Testing
import WidgetLabTesting

/// Fleets of light devices with real push servers that share a PostgreSQL database.
@Suite(.live, .timeLimit(.live)) struct `Fleets with replicas` {
  private static let replicas = ["1", "2", "3"]

  private func run(_ devices: Int, _ body: (FleetFixture, PostgresCluster) async throws -> Void) async throws {
    let server = try await PostgresCluster()
    do {
      try await server.start()
      try await FleetFixture.run(
        devices, profile: FleetFixture.still,
        pushServer: "database: \"\(server.url())\", replicas: \(Self.replicas.count),"
      ) { fleet, _ in try await body(fleet, server) }
    } catch {
      await server.remove()
      throw error
    }
    await server.remove()
  }

  private func uses(_ use: String) -> Bool { use == "app" || use == "voip" || use == "mdm" }

  @Test(.withPostgres) func `whichever replicas are killed, each accepted push has an end, and is delivered once`()
    async throws
  {
    try await run(40) { fleet, server in
      async let answers = fleet.push(rounds: 6, uses: uses, replicas: Self.replicas)
      for victim in ["owner", "1", "owner", "2"] {
        try await fleet.deliveriesGoOn()
        let owner = try await server.query("SELECT replica FROM route WHERE replica IS NOT NULL").first
        // `push-server/2#…`
        let owned = owner?.split(separator: "#").first?.split(separator: "/").last.map(String.init)
        try await fleet.kill("push-server-" + (victim == "owner" ? owned ?? "3" : victim))
      }
      let sentAnswers = try await answers
      let (report, exit) = try await fleet.report()
      #expect(exit == 0, "\(report.verdicts)")
      let accepted = sentAnswers.filter { $0.key.hasSuffix(" 200") }.values.reduce(0, +)
      #expect(accepted == 720)
      // A push whose answer was lost with a connection is accepted, and sent again.
      #expect(report.accepted >= accepted)
      #expect(report.accepted <= accepted + (sentAnswers["retried"] ?? 0))
      let rows = try await server.query("SELECT count(*) FROM requests WHERE status = 200")
      #expect(rows == ["\(report.accepted)"])
      #expect(try await server.query("SELECT count(*) FROM kept") == ["0"])
    }
  }

  @Test(.withPostgres) func `what was kept is handed over when all devices return, and expires when they do not`()
    async throws
  {
    try await run(30) { fleet, server in
      #expect(try await fleet.tool("fleet", "network", "off").status == 0)
      _ = try await fleet.push(rounds: 2, uses: { $0 == "voip" }, replicas: Self.replicas)
      let soon = Int(Date().timeIntervalSince1970) + 2
      _ = try await fleet.push(uses: { $0 == "mdm" }, expiration: soon, replicas: Self.replicas)
      let deadline = ContinuousClock.now + LabTimeout.usual
      while try await server.query("SELECT count(*) FROM kept") != ["30"], ContinuousClock.now < deadline {
        try await Task.sleep(for: .milliseconds(50))  // polls for the expiration
      }
      #expect(try await fleet.tool("fleet", "network", "on").status == 0)
      let (report, exit) = try await fleet.report()
      #expect(exit == 0, "\(report.verdicts)")
      #expect(report["voip"]?.ends == ["delivered": 30, "superseded": 30])
      #expect(report["mdm"]?.ends == ["expired": 30])
    }
  }

  /// The short form of scripts/test-replicas. Three replicas and a database beside other live tests may need more time
  /// than its limits.
  @Test(.withPostgres, .enabled(if: BulkFixture.isLong, "scripts/test --long runs it"))
  func `kills, pauses and restarts of replicas and database leave no push without an end`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "replicas-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? LabRemains.retire(folder) }
    let executables = try LabCluster.findExecutables()
    let script = Repository.root.appending(path: "scripts/test-replicas.d/campaign.py").path
    let child = try await LabChild.start(
      "/usr/bin/python3",
      ["-B", script, "--executables", executables, "--kills", "5", "--restarts", "2", "--pauses", "2", "--cuts", "0"],
      output: folder + "/out", errors: folder + "/errors")
    let status = await child.ending()
    let output = (try? String(contentsOfFile: folder + "/out", encoding: .utf8)) ?? ""
    let errors = (try? String(contentsOfFile: folder + "/errors", encoding: .utf8)) ?? ""
    #expect(status == 0, "\(output)\n\(errors)")
    #expect(output.contains("holds: accepted"), "\(output)")
  }
}

extension Trait where Self == ConditionTrait {
  /// The test uses a PostgreSQL server, and is skipped by name without PostgreSQL.
  static var withPostgres: Self { .enabled(if: PostgresCluster.isInstalled, "\(PostgresCluster.advice)") }
}
