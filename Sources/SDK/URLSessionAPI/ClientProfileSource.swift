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

  /// That of the process: of its main bundle, of the device's system and of its language. Reports the keys of App
  /// Transport Security that have no effect here: DIAGNOSIS-11.
  package static func of(_ process: HostedProcess) -> ClientProfileSource {
    for key in TransportSecurity.keysWithoutEffect(in: Bundle.main.infoDictionary ?? [:]) {
      process.noticeUnsimulated(key, "App Transport Security examines only whether a connection uses TLS")
    }
    return process.part(ClientProfileSource.self) { _ in ClientProfileSource { .main } }
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
