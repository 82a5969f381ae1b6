import APNs
import Testing

@Suite struct `a reason` {
  @Test func `comes with its status`() {
    let counts = Dictionary(grouping: APNsReason.allCases, by: \.status).mapValues(\.count)
    #expect(counts == [400: 14, 403: 8, 404: 1, 405: 1, 410: 2, 413: 1, 429: 2, 500: 1, 503: 2])
  }
}
