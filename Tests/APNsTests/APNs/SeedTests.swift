// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Testing

@testable import APNs

/// The sample request of Apple's *Updating widgets with WidgetKit push notifications*, unchanged: a comma before a
/// closing brace, `host` among the headers, and neither `authorization` nor a priority.
@Suite struct `Apple's sample of a widget push` {
  private static let body = """
    {
        "aps": {
            "content-changed": true,     
        }
    }
    """

  private static func request(_ more: [APNsRequest.Header] = []) -> APNsRequest {
    APNsRequest(
      method: "POST", path: "/3/device/" + ProviderKeyFixture.widgets,
      headers: [
        APNsRequest.Header(name: "host", value: "api.sandbox.push.apple.com"),
        APNsRequest.Header(name: "apns-push-type", value: "widgets"),
        APNsRequest.Header(name: "apns-topic", value: "com.example.CaffeineTracker.push-type.widgets"),
      ] + more, body: Array(body.utf8))
  }

  @Test(.rule("APNS-20")) func `Apple's sample request is refused because it has no provider token`() {
    var lab = ProviderKeyFixture()
    #expect(lab.check(Self.request()).reason == "MissingProviderToken")
  }

  @Test(.rule("APNS-20"))
  func `Apple's sample request with a provider token is accepted with a remark about its comma`() {
    var lab = ProviderKeyFixture()
    let verdict = lab.check(Self.request([APNsRequest.Header(name: "authorization", value: "bearer " + lab.jwt())]))
    #expect(verdict.status == 200)
    #expect(verdict.explanation?.contains("expected a key, such as after a comma") == true)
  }
}
