import Foundation
import Testing

@testable import APNs

/// The sample request of Apple's *Updating widgets with WidgetKit push notifications*, byte for byte: a comma before a
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
      method: "POST", path: "/3/device/" + Lab.widgets,
      headers: [
        APNsRequest.Header(name: "host", value: "api.sandbox.push.apple.com"),
        APNsRequest.Header(name: "apns-push-type", value: "widgets"),
        APNsRequest.Header(name: "apns-topic", value: "com.example.CaffeineTracker.push-type.widgets"),
      ] + more, body: Array(body.utf8))
  }

  @Test func `lacks a provider token, and is told so`() {
    var lab = Lab()
    #expect(lab.check(Self.request()).reason == "MissingProviderToken")
  }

  @Test func `is accepted with one, and its comma is remarked`() {
    var lab = Lab()
    let verdict = lab.check(Self.request([APNsRequest.Header(name: "authorization", value: "bearer " + lab.jwt())]))
    #expect(verdict.status == 200)
    #expect(verdict.explanation?.contains("a key is due, such as after a comma") == true)
  }
}
