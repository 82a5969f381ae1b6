import Cluster
import Conversations
import Foundation
import Testing
import Timelines

@testable import HostSystem

@Suite struct `the file of a budget` {
  private func read(_ text: String) throws -> BudgetPolicy {
    let path = FileManager.default.temporaryDirectory.path + "/budget-\(UUID().uuidString).yaml"
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    defer { unlink(path) }
    return BudgetPolicy(try BudgetFile(file: path))
  }

  @Test func `changes what it names and leaves the rest as the built-in policy has it`() throws {
    #expect(try read("name: standard") == BudgetPolicy())
    let policy = try read("name: forty\nperDay: 40\nfree: [operator, app-in-foreground]\nutcOffset: 2")
    #expect(policy.name == "forty" && policy.perDay == 40 && policy.utcOffset == 2)
    #expect(policy.freeCauses == [.operator] && policy.isFreeInForeground && !policy.isFreeAtWork)
    #expect(policy.minimumSpacing == BudgetPolicy().minimumSpacing)
    #expect(try read("perDay: none").perDay == nil)
    #expect(try read("afterOpenedFromWidget: 30").afterOpenedFromWidget == 30)
    #expect(try read("standByEvery: none").standByEvery == nil)
    #expect(try read("standByEvery: 60").standByEvery == 60)
    #expect(try read("free: []").isFreeInForeground == false)
    #expect(try read("free: [app-at-work]").isFreeAtWork)
  }

  @Test(arguments: [
    ("perDay: -1", ":1: perDay: is 0 to 100,000"),
    ("name: x\nburst: 0", ":2: burst: is at least 1"),
    ("hours: [1, 2]", ":1: hours: is a list of 24 weights"),
    ("hours: no", ":1: hours: a list of numbers is expected"),
    ("free: [reload]", ":1: free: \"reload\" is no cause; there are: added, app, app-at-work, app-in-foreground"),
    ("unseenFactor: 2", ":1: unseenFactor: is 0 to 1"),
    ("standByEvery: 59", ":1: standByEvery: is a number of seconds, 60 to 86400, or none"),
    ("window: 0", ":1: window: is a number of hours, 1 to 168"),
    ("learningFactor: 0", ":1: learningFactor: is 1 to 10"),
    ("utcOffset: 15", ":1: utcOffset: is a number of hours"),
    ("perday: 40", ":1: perday: is not a key"),
    ("minimumSpacing: soon", ":1: minimumSpacing: a number is expected"),
    ("", "is empty"),
  ])
  func `is refused with its name, the line and the key`(text: String, message: String) {
    let error = #expect(throws: ClusterError.self) { try read(text) }
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
  }

  @Test func `of each example can be read, and one is the built-in policy with all its keys`() throws {
    var folder = URL(fileURLWithPath: #filePath)
    while !FileManager.default.fileExists(atPath: folder.path + "/Package.swift") { folder.deleteLastPathComponent() }
    folder.appendPathComponent("deploy/budgets")
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
      #expect(keys.count { !$0.hasPrefix("#") } == Mirror(reflecting: policy).children.count - 2)
    }
  }
}
