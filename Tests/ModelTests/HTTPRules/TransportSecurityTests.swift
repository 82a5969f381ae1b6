// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Testing

@Suite struct `App Transport Security` {
  private func allows(_ url: String, _ keys: [String: Any] = [:], version: Int = 26) throws -> Bool {
    let info = keys.isEmpty ? [:] : ["NSAppTransportSecurity": keys]
    return TransportSecurity(infoDictionary: info, majorVersion: version).allows(try #require(URL(string: url)))
  }

  private func domain(_ name: String, _ keys: [String: Bool]) -> [String: Any] { ["NSExceptionDomains": [name: keys]] }

  @Test(.rule("NETWORK-01")) func `a blocked request fails with the text that Apple's systems print`() {
    #expect(
      TransportSecurity.message
        == "The resource could not be loaded because the App Transport Security policy requires the use of a secure "
        + "connection.")
  }

  @Test(.rule("DIAGNOSIS-11")) func `keys that demand more of a connection than TLS are found by name`() {
    let keys: [String: Any] = [
      "NSPinnedDomains": ["a.example": [:]], "NSAllowsLocalNetworking": true,
      "NSExceptionDomains": [
        "a.example": ["NSExceptionAllowsInsecureHTTPLoads": true],
        "b.example": ["NSExceptionMinimumTLSVersion": "TLSv1.3"],
      ],
    ]
    #expect(
      TransportSecurity.keysWithoutEffect(in: ["NSAppTransportSecurity": keys])
        == ["NSExceptionMinimumTLSVersion", "NSPinnedDomains"])
    #expect(TransportSecurity.keysWithoutEffect(in: ["NSAppTransportSecurity": ["NSAllowsArbitraryLoads": true]]) == [])
    #expect(TransportSecurity.keysWithoutEffect(in: [:]) == [])
  }

  @Test(
    .rule("NETWORK-01", "NETWORK-04"),
    arguments: [
      ("http://figures.example/", false), ("HTTP://Figures.Example/a", false), ("https://figures.example/", true),
      ("http://figures.example:8080/", false), ("http://local/", true), ("http://printer:631/", true),
      ("http://printer.local/", true), ("http://PRINTER.LOCAL/", true), ("http://localhost:8080/", true),
      ("http://printer.local.example/", false), ("file:///a", true),
    ])
  func `only domains need a secure connection`(url: String, isAllowed: Bool) throws {
    #expect(try allows(url) == isAllowed)
    #expect(TransportSecurity() == TransportSecurity(infoDictionary: [:], majorVersion: 26))
  }

  @Test(
    .rule("NETWORK-05", "NETWORK-06"),
    arguments: [
      ("http://192.168.1.2/", false), ("http://8.8.8.8/", false), ("http://[2001:db8::1]:80/", false),
      ("http://[fe80::1%25en0]/", false), ("http://127.0.0.1:8080/", true), ("http://127.1.2.3/", true),
      ("http://[::1]/", true), ("http://1.127.0.1/", false),
    ])
  func `addresses other than loopback need an exception from iOS 17 on`(url: String, isAllowed: Bool) throws {
    #expect(try allows(url, version: 17) == isAllowed)
    #expect(try allows(url, version: 16))
    #expect(try allows(url, ["NSAllowsLocalNetworking": true], version: 17))
    #expect(try allows(url, ["NSAllowsArbitraryLoads": true], version: 17))
    #expect(try allows(url, ["NSAllowsLocalNetworking": false], version: 17) == isAllowed)
  }

  @Test(.rule("NETWORK-02"))
  func `NSAllowsArbitraryLoads allows all domains but those with an entry, unless a newer key is present`() throws {
    let arbitrary = ["NSAllowsArbitraryLoads": true]
    #expect(try allows("http://figures.example/", arbitrary))
    #expect(try !allows("http://figures.example/", ["NSAllowsArbitraryLoads": false]))
    #expect(try !allows("http://figures.example/", ["NSAllowsArbitraryLoads": "yes"]))
    for key in ["NSAllowsArbitraryLoadsForMedia", "NSAllowsArbitraryLoadsInWebContent", "NSAllowsLocalNetworking"] {
      for value in [true, false] {
        #expect(try !allows("http://figures.example/", ["NSAllowsArbitraryLoads": true, key: value]), "\(key)")
      }
    }
    let both = domain("figures.example", [:]).merging(arbitrary) { $1 }
    #expect(try !allows("http://figures.example/", both))
    #expect(try allows("http://other.example/", both))
  }

  @Test(
    .rule("NETWORK-03"),
    arguments: [
      ("http://figures.example/", true, true), ("http://FIGURES.example/", true, true),
      ("http://a.figures.example/", false, true), ("http://b.a.figures.example/", false, false),
      ("http://notfigures.example/", false, false), ("http://figures.example./", false, false),
      ("http://example/", true, true), ("http://other.example/", false, false),
    ])
  func `an exception is for a domain and, with NSIncludesSubdomains, for its direct subdomains`(
    url: String, own: Bool, all: Bool
  ) throws {
    let insecure = ["NSExceptionAllowsInsecureHTTPLoads": true]
    #expect(try allows(url, domain("figures.example", insecure)) == own)
    let including = insecure.merging(["NSIncludesSubdomains": true]) { $1 }
    #expect(try allows(url, domain("figures.example", including)) == all)
    if url != "http://example/" {
      #expect(try !allows(url, domain("figures.example", ["NSIncludesSubdomains": true])))
      #expect(try !allows(url, domain("FIGURES.EXAMPLE", insecure)))
    }
  }

  @Test(.rule("NETWORK-03", "NETWORK-04", "NETWORK-06"), arguments: [true, false])
  func `the entry of a host decides before the kind of the host, and a subdomain's before its domain's`(isAllowed: Bool)
    throws
  {
    let value = ["NSExceptionAllowsInsecureHTTPLoads": isAllowed]
    for host in ["localhost", "printer.local", "127.0.0.1", "figures.example"] {
      #expect(try allows("http://\(host)/", domain(host, value)) == isAllowed, "\(host)")
    }
    let both: [String: Any] = [
      "NSExceptionDomains": [
        "figures.example": ["NSIncludesSubdomains": true, "NSExceptionAllowsInsecureHTTPLoads": !isAllowed],
        "a.figures.example": value,
      ]
    ]
    #expect(try allows("http://a.figures.example/", both) == isAllowed)
    #expect(try allows("http://b.figures.example/", both) == !isAllowed)
  }

  @Test(
    .rule("NETWORK-05"),
    arguments: [
      ("192.168.0.0/16", "192.168.7.9", true), ("192.168.0.0/16", "192.169.0.1", false),
      ("192.168.4.0/22", "192.168.7.255", true), ("192.168.4.0/22", "192.168.8.0", false),
      ("10.0.0.1", "10.0.0.1", true), ("10.0.0.1", "10.0.0.2", false), ("0.0.0.0/0", "8.8.8.8", true),
      ("2001:db8:12::/48", "[2001:db8:12::34]", true), ("2001:db8:12::/48", "[2001:db8:13::34]", false),
      ("10.0.0.0/33", "10.0.0.1", false), ("10.0.0.0/x", "10.0.0.1", false), ("::/0", "10.0.0.1", false),
    ])
  func `an exception can be an address or a range of addresses`(range: String, host: String, isAllowed: Bool) throws {
    let keys = domain(range, ["NSExceptionAllowsInsecureHTTPLoads": true, "NSIncludesSubdomains": true])
    #expect(try allows("http://\(host)/", keys, version: 17) == isAllowed)
  }
}
