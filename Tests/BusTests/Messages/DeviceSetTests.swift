// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
import Testing

@Suite struct `A set of devices` {
  @Test(
    arguments: [
      ([], ""), ([0], "0"), ([0, 1, 2, 3, 4, 7], "0x5 2"), ([3, 5, 6], "3 1x2"), ([100], "100"),
    ] as [([UInt32], String)]) func `has a short text`(indices: [UInt32], text: String) throws
  {
    let set = DeviceSet(ascending: indices)
    #expect(set.text == text)
    #expect(DeviceSet(text: text) == set)
    #expect(Array(set.indices) == indices)
    #expect(set.count == indices.count)
    #expect(try JSONDecoder().decode(DeviceSet.self, from: JSONEncoder().encode(set)) == set)
  }

  @Test(arguments: [
    "x", "1x", "x1", "1x0", "1x2x3", "-1", "1 0", "1  2", " ", "1,2", "99999999999", "67108863x2", "1 +2",
  ])
  func `a malformed text is refused`(text: String) { #expect(DeviceSet(text: text) == nil) }

  @Test func `any set of a span fits into an envelope`() {
    let every = DeviceSet(ascending: stride(from: 1, to: 2 * DeviceSet.span, by: 2))
    #expect(every.count == Int(DeviceSet.span))
    #expect(every.text.utf8.count < Wire.bodyLimit / 2 + 1)
  }

  @Test func `contains its devices and no others`() {
    let set = DeviceSet(ascending: [1, 2, 3, 10, 20, 21])
    let found = (UInt32(0)..<30).filter { set.contains($0) }
    #expect(found == [1, 2, 3, 10, 20, 21])
  }

  @Test func `is divided into parts`() {
    let set = DeviceSet(ascending: [1, 2, 3, 10, 20, 21, 22])
    #expect(set.parts(of: 3).map { Array($0.indices) } == [[1, 2, 3], [10, 20, 21], [22]])
    #expect(DeviceSet(0..<2_500).parts(of: 1_000).map(\.count) == [1_000, 1_000, 500])
    #expect(DeviceSet().parts(of: 3).isEmpty)
  }

  @Test func `a device of a fleet has a colon in its id`() {
    #expect(FleetDevice.id("load", 12) == "load:12")
    #expect(FleetDevice.parse("load:12")?.fleet == "load")
    #expect(FleetDevice.parse("load:12")?.index == 12)
    #expect(FleetDevice.parse("iphone") == nil)
    #expect(FleetDevice.parse("load:x") == nil)
    #expect(Address.process(ofDevice: "load:12") == .fleet("load"))
    #expect(Address.process(ofDevice: "iphone") == .host("iphone"))
    #expect(!FleetDevice.isName("a:b"))
    #expect(!FleetDevice.isName("a/b"))
    #expect(FleetDevice.isName("load-1_x.y"))
    let bounds = FleetDevice.bounds(of: "load")
    #expect(bounds.after < "load:0" && "load:4294967295" < bounds.before)
    #expect(!("load2:0" > bounds.after && "load2:0" < bounds.before))
  }

  @Test func `a histogram has percentiles to within a tenth, and can be added`() throws {
    var histogram = LatencyHistogram()
    #expect(histogram.percentile(0.5) == nil)
    for value in 1...1_000 { histogram.add(Double(value)) }
    let median = try #require(histogram.percentile(0.5))
    #expect(median >= 500 && median < 500 * 1.22)
    #expect(histogram.percentile(1) == 1_000)
    var sum = LatencyHistogram()
    sum.add(0)
    sum.add(histogram)
    #expect(sum.count == 1_001)
    #expect(sum.longest == 1_000)
  }
}
