// SPDX-License-Identifier: Apache-2.0

package import AuthorRuntime
import Foundation
package import HTTPRules
import Localization

/// What the requests of a process say about its product, and what they may load.
package final class ClientProfileSource: Sendable {
  private let make: @Sendable () -> ClientProfile

  package init(_ make: @escaping @Sendable () -> ClientProfile) { self.make = make }

  package var profile: ClientProfile { make() }

  /// That of the process: of its main bundle, of the device's system and of its language.
  package static func of(_ process: HostedProcess) -> ClientProfileSource {
    process.part(ClientProfileSource.self) { _ in ClientProfileSource { .main } }
  }
}

extension ClientProfile {
  fileprivate static var main: ClientProfile {
    let process = ProcessInfo.processInfo
    return ClientProfile(
      infoDictionary: Bundle.main.infoDictionary ?? [:], processName: process.processName,
      systemVersion: process.environment["SIMULATOR_RUNTIME_VERSION"] ?? "", languages: preferredLanguages())
  }
}
