// SPDX-License-Identifier: Apache-2.0

import Dispatch
import FidelityRules
import Foundation
import Messages
import Testing
import URLSessionAPI

@testable import AuthorRuntime
@testable import NetworkAPI

@Suite(.timeLimit(.minutes(1))) struct `The path over the device's network` {
  private let fixture: SDKFixture
  private var network: DeviceNetwork { DeviceNetwork.of(fixture.process) }

  init() throws { fixture = try SDKFixture() }

  private func monitor(_ type: NWInterface.InterfaceType? = nil) -> NWPathMonitor {
    fixture.process.asCurrent { type.map { NWPathMonitor(requiredInterfaceType: $0) } ?? NWPathMonitor() }
  }

  @Test(
    .rule("NETWORK-16"),
    arguments: [
      (NetworkState(), "satisfied (Path is satisfied), interface: en0, ipv4, ipv6, dns", [true, false, false, false]),
      (
        NetworkState(path: .cellular, isConstrained: true),
        "satisfied (Path is satisfied), interface: pdp_ip0, ipv4, ipv6, dns, expensive, constrained",
        [false, true, true, true]
      ),
      (NetworkState(path: .off, isConstrained: true), "unsatisfied (No network route)", [false, false, false, false]),
    ])
  func `a path is that of the device's network`(state: NetworkState, text: String, facts: [Bool]) {
    network.became(state)
    let path = monitor().currentPath
    #expect("\(path)" == text)
    #expect(
      [path.usesInterfaceType(.wifi), path.usesInterfaceType(.cellular), path.isExpensive, path.isConstrained] == facts)
    #expect((path.status == .satisfied) == (state.path != .off))
    #expect([path.supportsIPv4, path.supportsIPv6, path.supportsDNS].allSatisfy { $0 == (state.path != .off) })
    #expect((monitor(.wifi).currentPath.status == .satisfied) == (state.path == .wifi))
    let other = fixture.process.asCurrent { NWPathMonitor(prohibitedInterfaceTypes: [.cellular]) }
    #expect((other.currentPath.status == .satisfied) == (state.path == .wifi))
  }

  @Test(.rule("NETWORK-16")) func `a handler receives the first path and each other one on its queue, until cancel`()
    async
  {
    let queue = DispatchQueue(label: "paths")
    let paths = AsyncStream.makeStream(of: NWPath.self)
    var received = paths.stream.makeAsyncIterator()
    let monitor = monitor()
    monitor.pathUpdateHandler = { path in
      dispatchPrecondition(condition: .onQueue(queue))
      paths.continuation.yield(path)
    }
    monitor.start(queue: queue)
    #expect(monitor.queue === queue)
    #expect(await received.next()?.usesInterfaceType(.wifi) == true)
    // Only the rate changes, which a path does not have.
    network.became(NetworkState(rate: 7))
    network.became(NetworkState(path: .off))
    #expect(await received.next()?.status == .unsatisfied)
    network.became(NetworkState(path: .cellular))
    #expect(await received.next()?.isExpensive == true)
    monitor.cancel()
    network.became(NetworkState())
    // What the change would have put on the queue is before this.
    queue.sync {}
    paths.continuation.finish()
    #expect(await received.next() == nil)
  }

  @Test(.rule("NETWORK-16")) func `a monitor that is not kept ends, and the network forgets it`() {
    weak var last: NWPathMonitor?
    do {
      let monitor = monitor()
      monitor.start(queue: .main)
      last = monitor
    }
    network.became(NetworkState(path: .off))
    #expect(last == nil)
  }

  @Test(.rule("NETWORK-16")) func `a sequence has the path now and each other one, without a start, until cancel`()
    async
  {
    let monitor = monitor()
    var statuses: [NWPath.Status] = []
    for await path in monitor {
      statuses.append(path.status)
      switch statuses.count {
      case 1: network.became(NetworkState(path: .off))
      case 2: network.became(NetworkState(path: .cellular))
      default: monitor.cancel()
      }
    }
    #expect(statuses == [.satisfied, .unsatisfied, .satisfied])
    for await _ in monitor { Issue.record("a cancelled monitor has no path") }
  }
}

@Suite struct `Addresses and endpoints` {
  @Test(
    arguments: [
      ("10.0.0.1", [10, 0, 0, 1]), ("127.1", [127, 0, 0, 1]), ("0x7f.1", [127, 0, 0, 1]), ("167772161", [10, 0, 0, 1]),
      ("10.0.0.1%en0", [10, 0, 0, 1]), ("", nil), ("256.0.0.1", nil), ("10.0.0.1 ", nil), ("10.0.0.1 x", nil),
      ("a", nil),
      ("::1", nil), ("10.0.0.1%eth0", nil),
    ] as [(String, [UInt8]?)])
  func `an IPv4 address is read in every numeric form`(text: String, bytes: [UInt8]?) {
    #expect(IPv4Address(text)?.rawValue == bytes.map { Data($0) })
  }

  @Test(
    arguments: [
      ("::1", "::1"), ("2001:DB8:0:0:0:0:0:1", "2001:db8::1"), ("::ffff:10.0.0.1", "::ffff:10.0.0.1"),
      ("fe80::1%en0", "fe80::1%en0"), ("fe80::1%eth9", nil), ("10.0.0.1", nil), ("[::1]", nil), ("", nil), (":::", nil),
    ] as [(String, String?)])
  func `an IPv6 address is read and written`(text: String, written: String?) {
    #expect(IPv6Address(text).map { "\($0)" } == written)
  }

  @Test func `an address knows what it is for`() throws {
    #expect(IPv4Address.loopback.isLoopback && !IPv4Address.any.isLoopback)
    #expect(IPv4Address("169.254.1.1")?.isLinkLocal == true && IPv4Address("169.253.1.1")?.isLinkLocal == false)
    #expect(IPv4Address.mdnsGroup.isMulticast && !IPv4Address.broadcast.isMulticast)
    #expect(IPv6Address("::1") == IPv6Address.loopback && IPv6Address.loopback.isLoopback && IPv6Address.any.isAny)
    #expect(IPv6Address("febf::1")?.isLinkLocal == true && IPv6Address("fec0::1")?.isLinkLocal == false)
    #expect(IPv6Address("fd00::1")?.isUniqueLocal == true && IPv6Address("fe00::1")?.isUniqueLocal == false)
    #expect(IPv6Address.linkLocalRouters.multicastScope == .linkLocal && IPv6Address.loopback.multicastScope == nil)
    let mapped = try #require(IPv6Address("::ffff:10.0.0.1"))
    #expect(mapped.isIPv4Mapped && mapped.asIPv4 == IPv4Address("10.0.0.1"))
    let old = try #require(IPv6Address("::10.0.0.1"))
    #expect(old.isIPv4Compatabile && old.asIPv4 == IPv4Address("10.0.0.1") && !IPv6Address.loopback.isIPv4Compatabile)
    #expect(IPv6Address("2002:a00:1::")?.asIPv4 == IPv4Address("10.0.0.1"))
    #expect(IPv4Address(Data([1, 2, 3])) == nil && IPv6Address(Data(count: 16)) == IPv6Address.any)
  }

  @Test func `an endpoint has a host and a port, with an address if the host is one`() {
    let endpoint = NWEndpoint.hostPort(host: "10.0.0.1", port: 443)
    #expect(endpoint == .hostPort(host: .ipv4(IPv4Address(bytes: [10, 0, 0, 1])), port: .https))
    #expect("\(endpoint)" == "10.0.0.1:443")
    #expect(NWEndpoint.Host("a.example") == .name("a.example", nil))
    #expect("\(NWEndpoint.hostPort(host: "::1", port: 80))" == "::1.80")
    #expect(NWEndpoint.Host("fe80::1%en0").interface?.type == .wifi)
    #expect(NWEndpoint.Port("https") == .https && NWEndpoint.Port("8080")?.rawValue == 8080)
    #expect(NWEndpoint.Port("70000") == nil && NWEndpoint.Port("nope") == nil)
  }
}
