// SPDX-License-Identifier: Apache-2.0

package import PrometheusMetrics

extension ConfigurationReader {
  /// Reads the key `metrics`: where a process exposes its metrics.
  ///
  /// - Returns: `nil` without the key.
  /// - Throws: `configuration`.
  package mutating func metricsEndpoint() throws(ClusterError) -> MetricsEndpoint? {
    guard let text = try string("metrics") else { return nil }
    guard let endpoint = MetricsEndpoint(text) else {
      throw error("metrics", "\"\(text)\" is not HOST:PORT, such as 127.0.0.1:9464; the port 0 selects a free one")
    }
    return endpoint
  }
}
