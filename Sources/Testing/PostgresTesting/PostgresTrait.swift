// SPDX-License-Identifier: Apache-2.0

package import Testing

/// The trait of suites whose tests use one PostgreSQL server, each with its own schema. Without PostgreSQL, the
/// tests are skipped by name.
package struct PostgresTrait: SuiteTrait, TestScoping {
  /// The server of the suite.
  @TaskLocal package static var server: PostgresCluster?

  package let isRecursive = false

  package func scopeProvider(for test: Test, testCase: Test.Case?) -> PostgresTrait? { test.isSuite ? self : nil }

  package func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    guard PostgresCluster.isInstalled else { return try await function() }
    let server = try await PostgresCluster()
    do {
      try await server.start()
      try await Self.$server.withValue(server, operation: function)
    } catch {
      await server.remove()
      throw error
    }
    await server.remove()
  }
}

extension Trait where Self == PostgresTrait {
  /// The tests of this suite use a PostgreSQL server.
  package static var postgres: Self { PostgresTrait() }
}
