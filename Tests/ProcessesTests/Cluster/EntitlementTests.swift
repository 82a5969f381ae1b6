// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Messages
import Testing

@testable import Cluster

@Suite struct `Entitlements in widgetlab.yaml` {
  private func configuration(_ app: String, _ widget: String) throws -> ClusterConfiguration {
    try ClusterConfiguration(
      yaml: """
        device: {name: phone}
        apps: [{bundle: com.a, executable: app\(app)}]
        extensions: [{bundle: com.a.Widget, executable: widget\(widget)}]
        """)
  }

  @Test(arguments: PushEnvironment.allCases)
  func `the aps-environment entitlement sets a product's push environment and adds a push server`(
    environment: PushEnvironment
  ) throws {
    let ownEntitlement = ", entitlements: {aps-environment: \(environment.rawValue)}"
    let found = try configuration("", ownEntitlement)
    #expect(found.extensions.first?.pushEnvironment == environment)
    #expect(found.apps.first?.pushEnvironment == nil)
    // The entitlement alone adds a push server.
    #expect(found.pushServer != nil)
    #expect(try configuration("", "").pushServer == nil)
  }

  @Test(.rule("KEYCHAIN-01")) func `the access groups of the keychain are those of each product, in order`() throws {
    let found = try configuration(
      "", ", entitlements: {keychain-access-groups: [ABCDE12345.com.a.Shared, com.a.Other]}")
    #expect(found.extensions.first?.keychainGroups == ["ABCDE12345.com.a.Shared", "com.a.Other"])
    #expect(found.apps.first?.keychainGroups == [])
  }

  @Test(arguments: [
    ("{keychain-access-groups: ['a,b']}", "\"a,b\" is not an access group"),
    ("{keychain-access-groups: [..]}", "\"..\" is not an access group"),
    ("{aps-environment: sandbox}", "aps-environment: must be development or production, not \"sandbox\""),
    ("{get-task-allow: true}", "get-task-allow: is not a known key"), ("yes", "a mapping"),
  ])
  func `an invalid environment or an unknown entitlement is refused with the reason`(value: String, advice: String)
    throws
  {
    let error = #expect(throws: ClusterError.self) { try configuration("", ", entitlements: \(value)") }
    #expect(error?.message.contains(advice) == true, "\(error?.message ?? "")")
  }

  @Test(.rule("PUSH-04")) func `an app and its extension with different push environments are refused`() throws {
    let error = #expect(throws: ClusterError.self) {
      try configuration(
        ", entitlements: {aps-environment: development}", ", entitlements: {aps-environment: production}")
    }
    #expect(error?.message.contains("com.a and its extensions must have the same aps-environment") == true)
  }
}
