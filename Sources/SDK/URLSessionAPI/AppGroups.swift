// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
public import Foundation

extension FileManager {
  /// The folder of an app group, shared by the apps and extensions of the group; `nil` when the process does not belong
  /// to the group.
  public func containerURL(forSecurityApplicationGroupIdentifier groupIdentifier: String) -> URL? {
    HostedProcess.current?.groups[groupIdentifier].map { URL(fileURLWithPath: $0, isDirectory: true) }
  }
}
