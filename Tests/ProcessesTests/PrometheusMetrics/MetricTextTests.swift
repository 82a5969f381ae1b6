// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PrometheusMetrics

@Suite struct `The text of metrics` {
  @Test func `a family has its help, its type and its samples`() {
    let counter = Counter()
    counter.add(3)
    let page = MetricText.page([.counter("a_total", help: "Counts a.", counter)])
    #expect(page == "# HELP a_total Counts a.\n# TYPE a_total counter\na_total 3\n")
  }

  @Test func `labels and help are escaped`() {
    let sample = MetricFamily.Sample(0.5, [MetricLabel("x", "a\"b\\c\nd"), MetricLabel("y", "")])
    let page = MetricText.page([.gauge("g", help: "A \\ and\na \" quote.", [sample])])
    #expect(
      page == "# HELP g A \\\\ and\\na \" quote.\n# TYPE g gauge\ng{x=\"a\\\"b\\\\c\\nd\",y=\"\"} 0.5\n")
  }

  @Test func `the buckets of a histogram are cumulative, and include their bound`() {
    let histogram = Histogram(bounds: [0.1, 1])
    for seconds in [0.1, 0.5, 1, 7, -3] { histogram.observe(seconds: seconds) }
    let lines = MetricText.page([.histogram("h_seconds", help: "Waits.", histogram)]).split(separator: "\n").dropFirst(
      2)
    #expect(
      Array(lines) == [
        "h_seconds_bucket{le=\"0.1\"} 2", "h_seconds_bucket{le=\"1\"} 4", "h_seconds_bucket{le=\"+Inf\"} 5",
        "h_seconds_sum 8.6", "h_seconds_count 5",
      ])
  }

  @Test(arguments: [
    (1e15, "1000000000000000"), (.infinity, "+Inf"), (-.infinity, "-Inf"), (.nan, "NaN"), (1e-5, "1e-05"),
  ])
  func `numbers are those of the text format`(value: Double, text: String) { #expect(MetricText.number(value) == text) }

  @Test func `a label has a counter for each value that was named, and for no other`() {
    let counters = LabeledCounters(["a", "b", "a"])
    counters["a"]?.add(2)
    #expect(counters["c"] == nil)
    #expect(counters["a"]?.value == 2 && counters["b"]?.value == 0)
  }

  @Test(arguments: [
    ("127.0.0.1:9464", "127.0.0.1", 9464), ("localhost:0", "localhost", 0), ("[::1]:80", "::1", 80),
  ])
  func `an endpoint is a host and a port`(text: String, host: String, port: UInt16) throws {
    let endpoint = try #require(MetricsEndpoint(text))
    #expect(endpoint == MetricsEndpoint(host: host, port: port))
    #expect(endpoint.description == text)
  }

  @Test(arguments: ["", "9464", ":9464", "::1:80", "host:", "host:65536", "a b:1", "http://a:1", "host:-1"])
  func `another text is no endpoint`(text: String) { #expect(MetricsEndpoint(text) == nil) }
}

@Suite struct `A request for metrics` {
  private func answer(_ pieces: String...) -> String? {
    var exchange = MetricsExchange()
    for piece in pieces {
      if let bytes = exchange.receive(Array(piece.utf8), page: { "page\n" }) {
        return String(decoding: bytes, as: UTF8.self)
      }
    }
    return nil
  }

  @Test func `it gets the page when its head is complete, in any number of pieces`() throws {
    #expect(answer("GET /metrics HTTP/1.1\r\nHost: a\r\n") == nil)
    let text = try #require(answer("GET /met", "rics?a=b HTTP/1.1\r\nHost: a\r", "\n\r", "\n"))
    #expect(
      text.hasPrefix(
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: 5\r\n"))
    #expect(text.hasSuffix("\r\n\r\npage\n"))
    let head = try #require(answer("HEAD /metrics HTTP/1.0\n\n"))
    #expect(head.contains("Content-Length: 5\r\n") && head.hasSuffix("\r\n\r\n"))
    let missing = try #require(answer("HEAD / HTTP/1.0\n\n"))
    #expect(missing.hasPrefix("HTTP/1.1 404 ") && missing.hasSuffix("\r\n\r\n"))
  }

  @Test(arguments: [
    ("GET / HTTP/1.1\r\n\r\n", 404), ("POST /metrics HTTP/1.1\r\n\r\n", 405), ("nonsense\r\n\r\n", 400),
    ("\r\n\r\n", 400),
    ("GET /metrics SPDY\r\n\r\n", 400), (String(repeating: "a", count: 9_000), 431),
  ])
  func `another request is refused`(request: String, status: Int) throws {
    #expect(try #require(answer(request)).hasPrefix("HTTP/1.1 \(status) "))
  }
}
