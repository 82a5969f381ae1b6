// SPDX-License-Identifier: Apache-2.0

import ChaosCampaign
import FaultPoints
import Testing

@Suite struct `The plan of a campaign` {
  private static let everything = PossibleFaults(
    running: [.messageBus, .host, .agent(1), .pushServer, .provider, .widgetExtension, .app],
    kinds: Set(FaultKind.allCases))

  private func steps(seed: UInt64, _ count: Int, _ possible: PossibleFaults = everything) -> [CampaignStep] {
    var plan = CampaignPlan(seed: seed)
    return (0..<count).map { _ in plan.next(possible) }
  }

  @Test func `the same seed draws the same steps, another seed other ones`() {
    #expect(steps(seed: 7, 200) == steps(seed: 7, 200))
    #expect(steps(seed: 7, 200) != steps(seed: 8, 200))
  }

  @Test func `the workload does not depend on which faults are possible`() {
    let few = PossibleFaults(running: [.host], kinds: [.kill])
    #expect(steps(seed: 7, 200).map(\.actions) == steps(seed: 7, 200, few).map(\.actions))
  }

  @Test func `only what runs is disturbed, and only by the chosen kinds`() {
    let possible = PossibleFaults(running: [.provider, .app], kinds: [.kill, .several, .journal, .disk])
    for step in steps(seed: 1, 500, possible) {
      guard case .kill(let victims) = step.fault else {
        Issue.record("step \(step.number) draws \(String(describing: step.fault))")
        continue
      }
      #expect(Set(victims).isSubset(of: [.provider, .app]))
    }
  }

  @Test func `nothing is drawn when nothing is possible`() {
    #expect(
      steps(seed: 1, 20, PossibleFaults(running: [], kinds: Set(FaultKind.allCases))).allSatisfy { $0.fault == nil })
  }

  @Test func `each kind is drawn within a thousand steps, and each victim is killed`() {
    let faults = steps(seed: 3, 1000).compactMap(\.fault)
    #expect(Set(faults.map(\.kind)) == Set(FaultKind.allCases))
    let killed = faults.flatMap { fault -> [ChaosVictim] in
      if case .kill(let victims) = fault { victims } else { [] }
    }
    #expect(Set(killed) == Set(Self.everything.running))
  }

  @Test func `several kills have different victims`() {
    for case .kill(let victims)? in steps(seed: 9, 500).map(\.fault) {
      #expect(Set(victims).count == victims.count)
      #expect((1...3).contains(victims.count))
    }
  }

  @Test func `each fault at a point names a point that its process has, and a full disk one that can fail`() throws {
    for fault in steps(seed: 4, 2000).compactMap(\.fault) {
      switch fault {
      case .point(let victim, let name, _), .stall(let victim, let name, _):
        #expect(victim.points.contains(try #require(FaultPoint(name: name))))
      case .disk(let victim, let name, _, _):
        let point = try #require(FaultPoint(name: name))
        #expect(victim.points.contains(point) && point.canFail)
      default: break
      }
    }
  }

  @Test func `each behaviour of a server is drawn once before one comes again`() {
    let possible = PossibleFaults(running: Self.everything.running, kinds: [.server])
    let all = Set(ServerBehaviour.all.map(\.name))
    let drawn = steps(seed: 5, 2 * all.count, possible).map { step -> String in
      if case .server(let behaviour, _, _) = step.fault { behaviour } else { "" }
    }
    #expect(Set(drawn.prefix(all.count)) == all)
    #expect(Set(drawn.suffix(all.count)) == all)
    #expect(drawn.prefix(all.count) != drawn.suffix(all.count))
    let few = PossibleFaults(running: Self.everything.running, kinds: [.server], behaviours: ["gzip", "chunks"])
    for case .server(let behaviour, _, _)? in steps(seed: 5, 20, few).map(\.fault) {
      #expect(["gzip", "chunks"].contains(behaviour))
    }
  }

  @Test func `an older database is that of a process that has one, and an agent keeps its memory`() {
    let possible = PossibleFaults(running: Self.everything.running, kinds: [.store, .limit, .jump])
    for fault in steps(seed: 5, 500, possible).compactMap(\.fault) {
      switch fault {
      case .store(let victim, _): #expect([.host, .pushServer].contains(victim))
      case .limit(.agent(1), let resource, _, _): #expect(resource == .descriptors)
      case .limit: break
      case .jump(let seconds, _): #expect(seconds != 0 && abs(seconds) <= ChaosLimits.longestJump)
      default: Issue.record("\(fault.text)")
      }
    }
  }

  @Test func `every point belongs to a process`() {
    let all = Set(Self.everything.running.flatMap(\.points))
    #expect(all == Set(FaultPoint.allCases))
  }
}
