// SPDX-License-Identifier: Apache-2.0

import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request that the extension performs itself. The file is written as for several platforms.
enum FixtureRequest {
  static var url: URL? { ProcessInfo.processInfo.environment["TRIAL_INLINE_URL"].flatMap { URL(string: $0) } }

  /// The result in one line.
  static func outcome(of url: URL) async -> String {
    do {
      let (data, response) = try await URLSession.shared.data(from: url)
      return "\((response as? HTTPURLResponse)?.statusCode ?? 0), \(data.count) bytes"
    } catch {
      return "failed: \((error as? URLError)?.code.rawValue ?? 0)"
    }
  }
}
