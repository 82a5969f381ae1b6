import Conversations
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

  @Test(arguments: PushEnvironment.allCases) func `say for which environment a product has device tokens`(
    environment: PushEnvironment
  ) throws {
    let own = ", entitlements: {aps-environment: \(environment.rawValue)}"
    let found = try configuration("", own)
    #expect(found.extensions.first?.pushEnvironment == environment)
    #expect(found.apps.first?.pushEnvironment == nil)
    // There is a push server for it without a word.
    #expect(found.pushServer != nil)
    #expect(try configuration("", "").pushServer == nil)
  }

  @Test(arguments: [
    ("{aps-environment: sandbox}", "\"sandbox\" is no environment of APNs; it is development or production"),
    ("{get-task-allow: true}", "get-task-allow: is not a key that WidgetLab knows"), ("yes", "a mapping"),
  ])
  func `that cannot be are refused`(value: String, advice: String) throws {
    let error = #expect(throws: ClusterError.self) { try configuration("", ", entitlements: \(value)") }
    #expect(error?.message.contains(advice) == true, "\(error?.message ?? "")")
  }

  @Test func `an app and its extension in two environments are refused`() throws {
    let error = #expect(throws: ClusterError.self) {
      try configuration(
        ", entitlements: {aps-environment: development}", ", entitlements: {aps-environment: production}")
    }
    #expect(error?.message.contains("com.a and its extensions are signed for one aps-environment") == true)
  }
}
