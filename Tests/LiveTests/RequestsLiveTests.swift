// SPDX-License-Identifier: Apache-2.0

import Cluster
import FidelityRules
import Foundation
import Messages
import Testing
import WidgetLabTesting

/// The bundles of an app and its extension, and what their requests may load and say, over real processes.
@Suite(.live, .timeLimit(.live)) struct `Bundles and requests over real processes` {
  private static let loads = ["load", "download"]

  @Test(.rule("BUNDLE-01", "BUNDLE-02", "BUNDLE-03", "BUNDLE-04", "BUNDLE-05", "BUNDLE-06"))
  func `Bundle.main has the keys of the Info.plist or of widgetlab.yaml, and the resources`() async throws {
    let list: [String: Any] = [
      "CFBundleIdentifier": "$(PRODUCT_BUNDLE_IDENTIFIER)", "CFBundleDisplayName": "Weather ${CITY}",
      "CFBundleShortVersionString": "$(MARKETING_VERSION)", "WeatherService": ["Host": "$(HOST:lower)"],
    ]
    let app = "version: 2.10, build: 7, buildSettings: {CITY: Zurich, HOST: API}"
    let widget = "displayName: Drinks, version: 3.1, build: 42"
    try await ScriptFixture.run("bundles", list: list, app: app, widget: widget) { fixture in
      let keys = ["CFBundleDisplayName", "CFBundleShortVersionString", "CFBundleVersion", "WeatherService", "None"]
      let script = ["bundle"] + keys.map { "info \($0)" } + ["resource Note txt", "resource Other txt", "containing"]
      let lines = try await fixture.both(script)
      // CoreFoundation adds CFBundleNumericVersion.
      let usual =
        "CFBundleDevelopmentRegion CFBundleDisplayName CFBundleExecutable CFBundleIdentifier "
        + "CFBundleInfoDictionaryVersion CFBundleName CFBundleNumericVersion CFBundlePackageType "
        + "CFBundleShortVersionString CFBundleSupportedPlatforms CFBundleVersion"
      #expect(
        lines.app.prefix(9) == [
          "bundle com.example.Trial at FixtureHandlers.app", "receipt nothing", "keys \(usual) WeatherService",
          "CFBundleDisplayName = Weather Zurich", "CFBundleShortVersionString = 2.10", "CFBundleVersion = 7",
          #"WeatherService = [AnyHashable("Host"): "api"]"#, "None = nothing", "Note.txt: a note of the bundle",
        ])
      #expect(lines.app.suffix(3).first == "Other.txt: nothing")
      #expect(
        lines.widget.prefix(9) == [
          "bundle com.example.Trial.Widget at FixtureHandlers.appex", "receipt nothing", "keys \(usual) NSExtension",
          "CFBundleDisplayName = Drinks", "CFBundleShortVersionString = 3.1", "CFBundleVersion = 42",
          "WeatherService = nothing", "None = nothing", "Note.txt: a note of the bundle",
        ])
      #expect(lines.widget.suffix(3) == ["Other.txt: nothing", "app com.example.Trial", "finished widget"])
    }
  }

  @Test(.rule("NETWORK-01", "NETWORK-03", "NETWORK-07", "NETWORK-08", "NETWORK-09"), arguments: loads)
  func `a request without TLS fails with -1022 unless the host is exempt, and also where the Info.plist demands TLS`(
    verb: String
  ) async throws {
    let server = try LocalServer { request in
      request.path == "/away" ? .text("", 302, ["Location": "http://figures.invalid/"]) : .text("there")
    }
    defer { server.stop() }
    let domain = ["NSExceptionAllowsInsecureHTTPLoads": false]
    let pinned = ["localhost": ["NSIncludesSubdomains": true]]
    let list = ["NSAppTransportSecurity": ["NSExceptionDomains": ["localhost": domain], "NSPinnedDomains": pinned]]
    try await ScriptFixture.run("transport security \(verb)", list: list) { fixture in
      let earlier = server.requests.count
      let local = "http://localhost:\(server.port)/"
      let lines = try await fixture.both(["\(verb) \(local)", "\(verb) http://127.0.0.1:\(server.port)/"])
      let verb = verb == "load" ? "loaded" : "downloaded"
      let blocked = "not \(verb) -1022 \(TransportSecurity.message)"
      #expect(lines.app.prefix(3) == [blocked, "\(verb) 200 there", "finished app"])
      #expect(lines.widget == ["\(verb) 200 there", "\(verb) 200 there", "finished widget"])
      #expect(server.requests.count - earlier == 3)
      let notice = try await fixture.journal.waitFor("a key without effect is reported") {
        $0.reading(FaultNoticed.self)?.fault == .notSimulated
      }
      #expect(notice.envelope.header.source == LiveFixture.app)
      #expect(notice.reading(FaultNoticed.self)?.subject == "NSPinnedDomains")
    }
    try await ScriptFixture.run("redirected \(verb)") { fixture in
      let earlier = server.requests.count
      let insecure = ["\(verb) http://figures.invalid/", "\(verb) http://127.0.0.1:\(server.port)/away"]
      let lines = try await fixture.both(insecure, only: .widget)
      let verb = verb == "load" ? "loaded" : "downloaded"
      let blocked = "not \(verb) -1022 \(TransportSecurity.message)"
      #expect(lines.widget == [blocked, blocked, "finished widget"])
      #expect(server.requests.count - earlier == 1)
      let logged = try await fixture.journal.waitFor("the process says what was blocked") {
        $0.reading(ProcessOutput.self)?.line.contains("App Transport Security blocked http://figures.invalid/") == true
      }
      #expect(logged.reading(ProcessOutput.self)?.address == LiveFixture.widgetExtension)
    }
  }

  @Test(.rule("NETWORK-10", "NETWORK-11"), arguments: loads)
  func `requests say the bundle's name and version and the device's system and language`(verb: String) async throws {
    let server = try LocalServer { _ in .text("there") }
    defer { server.stop() }
    let list = ["CFBundleName": "My Weather"]
    try await ScriptFixture.run(
      "user agent \(verb)", list: list, app: "build: 9", widget: "build: 42", device: "locale: de_CH, version: 18.5"
    ) { fixture in
      _ = try await fixture.both(["\(verb) http://127.0.0.1:\(server.port)/"])
      let system = "CFNetwork/3826.500.131 Darwin/24.5.0"
      let agents = Set(server.requests.map { $0.headers["user-agent"] })
      #expect(agents == ["My%20Weather/9 \(system)", "FixtureHandlers/42 \(system)"])
      #expect(server.requests.allSatisfy { $0.headers["accept-language"] == "de-CH,de;q=0.9" })
    }
  }

  @Test(.rule("NETWORK-13", "NETWORK-14", "NETWORK-15"))
  func `background and inline requests of a product share its cookies, as the sessions' configurations say`()
    async throws
  {
    let server = try LocalServer { request in
      .text(
        request.headers["cookie"] ?? "none", 200, ["Set-Cookie": "\(request.path.dropFirst())=1; Max-Age=1000; Path=/"])
    }
    defer { server.stop() }
    try await ScriptFixture.run("cookies") { fixture in
      let url = "http://127.0.0.1:\(server.port)"
      let lines = try await fixture.both([
        "download \(url)/first never", "download \(url)/second no-storage", "download \(url)/third no-cookies",
        "load \(url)/fourth", "download \(url)/fifth", "download \(url)/sixth no-cookies", "load \(url)/seventh",
      ])
      let cookies = ["third=1", "third=1; fourth=1", "none", "third=1; fourth=1; fifth=1; sixth=1"]
      let verbs = ["loaded 200", "downloaded 200", "downloaded 200", "loaded 200"]
      let expected = Array(repeating: "downloaded 200 none", count: 3) + zip(verbs, cookies).map { "\($0) \($1)" }
      #expect(lines.app == expected + ["finished app"])
      // The extension has its own cookies.
      #expect(lines.widget == expected + ["finished widget"])
      try await fixture.cluster.run("kill", "host")
      try await fixture.cluster.run("kill", "extension")
      let again = try await fixture.both(["download \(url)/eighth", "load \(url)/ninth"], only: .widget)
      let stored = cookies[3] + "; seventh=1"
      #expect(
        again.widget == ["downloaded 200 \(stored)", "loaded 200 \(stored); eighth=1", "finished widget"])
    }
  }
}
