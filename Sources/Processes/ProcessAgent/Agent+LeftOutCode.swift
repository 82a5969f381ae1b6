// SPDX-License-Identifier: Apache-2.0

import Foundation
import MessageBus
import Messages
import OwnedTasks

// Code of a child's sources that is compiled for a phone and not here.

extension Agent {
  /// Reports the code that is left out of an executable, once for each of its builds.
  func reportLeftOutCode(of address: Address, _ executable: String) {
    let build = ExecutableBuild(bundle: address.bundleIdentifier, file: FileState(executable))
    guard examined.insert(build).inserted else { return }
    tasks.start { [connection] in
      let blocks = await Self.leftOutCode(of: executable)
      guard !blocks.isEmpty, !Task.isCancelled else { return }
      connection.record(
        LeftOutCode(
          address: address, executable: executable, blocks: Array(blocks.prefix(LeftOutCode.limit)),
          count: blocks.count))
    }
  }

  /// Reads the sources on its own thread, because the agent needs those of Swift's pool.
  private static func leftOutCode(of executable: String) async -> [LeftOutCode.Block] {
    await withCheckedContinuation { continuation in
      DispatchQueue.global(qos: .utility).async {
        continuation.resume(returning: BuiltSources(of: executable).leftOut())
      }
    }
  }
}

/// A build of a product's executable.
struct ExecutableBuild: Hashable {
  let bundle: String?
  let file: FileState
}
