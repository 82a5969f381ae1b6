// SPDX-License-Identifier: Apache-2.0

import Cluster
import Device
import DeviceRules
import FidelityRules
import Foundation
import Messages
import Testing

@testable import HostSystem

@Suite struct `Budget files` {
  private func read(_ text: String) throws -> BudgetPolicy {
    let path = FileManager.default.temporaryDirectory.path + "/budget-\(UUID().uuidString).yaml"
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    defer { unlink(path) }
    return BudgetPolicy(try BudgetFile(file: path))
  }

  @Test func `a budget file changes the keys it names and keeps the built-in values of the others`() throws {
    #expect(try read("name: standard") == BudgetPolicy())
    let policy = try read("name: forty\nperDay: 40\nfree: [operator, app-in-foreground]\nutcOffset: 2")
    #expect(policy.name == "forty" && policy.perDay == 40 && policy.utcOffset == 2)
    #expect(policy.freeCauses == [.operator] && policy.isFreeInForeground && !policy.isFreeAtWork)
    #expect(policy.minimumSpacing == BudgetPolicy().minimumSpacing)
    #expect(try read("perDay: none").perDay == nil)
    #expect(try read("afterOpenedFromWidget: 30").afterOpenedFromWidget == 30)
    #expect(try read("foregroundSpacing: 20").foregroundSpacing == 20)
    #expect(try read("standByEvery: none").standByEvery == nil)
    #expect(try read("standByEvery: 60").standByEvery == 60)
    #expect(try read("free: []").isFreeInForeground == false)
    #expect(try read("free: [app-at-work]").isFreeAtWork)
  }

  @Test(arguments: [
    ("perDay: -1", ":1: perDay: must be 0 to 100,000"),
    ("name: x\nburst: 0", ":2: burst: must be at least 1"),
    ("hours: [1, 2]", ":1: hours: must be a list of 24 weights"),
    ("hours: no", ":1: hours: expected a list of numbers"),
    ("free: [reload]", ":1: free: \"reload\" is not a cause; valid causes are: added, app, app-at-work"),
    ("unseenFactor: 2", ":1: unseenFactor: must be 0 to 1"),
    ("standByEvery: 59", ":1: standByEvery: must be a number of seconds from 60 to 86400, or none"),
    ("window: 0", ":1: window: must be 1 to 168 hours"),
    ("learningFactor: 0", ":1: learningFactor: must be 1 to 10"),
    ("utcOffset: 15", ":1: utcOffset: must be a number of hours"),
    ("perday: 40", ":1: perday: is not a known key"),
    ("minimumSpacing: soon", ":1: minimumSpacing: expected a number"),
    ("", "is empty"),
  ])
  func `an invalid budget file is refused with the line, the key and the reason`(text: String, message: String) {
    let error = #expect(throws: ClusterError.self) { try read(text) }
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
  }

  @Test func `each example budget file is readable, and the one for 55 reloads is the built-in policy`() throws {
    let folder = Repository.root.appending(path: "deploy/budgets")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    #expect(names == ["40.yaml", "55.yaml", "70.yaml", "72.yaml", "none.yaml"])
    for name in names {
      let policy = BudgetPolicy(try BudgetFile(file: folder.path + "/" + name))
      #expect(policy.perDay == Double(name.dropLast(5)))
      guard name == "55.yaml" else { continue }
      var builtIn = BudgetPolicy()
      builtIn.name = policy.name
      #expect(policy == builtIn)
      let keys = try String(contentsOfFile: folder.path + "/" + name, encoding: .utf8).split(separator: "\n")
      // Two properties are causes of `free`, `utcOffset` is commented out, the time zone is the device's, and no file sets
      // the credit.
      #expect(keys.count { !$0.hasPrefix("#") } == Mirror(reflecting: policy).children.count - 5)
    }
  }
}
