// SPDX-License-Identifier: Apache-2.0

import Messages
import Testing

@Suite struct `The line of a launch context` {
  private static func context(container: String, groups: [String: String], faultPoints: String?) -> LaunchContext {
    var rules = ProcessRules()
    rules.callDeadline = 0.25
    rules.inlineRedirectLimit = 3
    rules.firstCompletionCounts = true
    rules.callsProvidersConcurrently = true
    return LaunchContext(
      address: .widgetExtension("iphone", "com.example.A.Widget"), generation: 7, host: .host("iphone"),
      endpoint: "tcp://127.0.0.1:7701", serverKey: "a%=&<z85>", publicKey: "p=", secretKey: "s%41",
      container: container,
      groups: groups, rules: rules, agentPid: 4_711, faultPoints: faultPoints)
  }

  @Test(arguments: ["/tmp/a", "/tmp/a b=c%41\td\ne", "/tmp/ä/日本"])
  func `every field arrives as it was sent, whatever its characters`(path: String) {
    for groups in [[:], ["group.a": path, "group.b=%": "/g"]] {
      for page in [nil, path] {
        let context = Self.context(container: path, groups: groups, faultPoints: page)
        let line = context.line
        #expect(line.last == UInt8(ascii: "\n") && line.dropLast().allSatisfy { $0 != UInt8(ascii: "\n") })
        #expect(LaunchContext(line: line) == context)
      }
    }
  }

  @Test func `a line without a field, with a wrong number or with a bad escape is rejected`() throws {
    let line = String(decoding: Self.context(container: "/c", groups: [:], faultPoints: nil).line, as: UTF8.self)
    let fields = line.dropLast().split(separator: "\t")
    for field in fields {
      let others = fields.filter { $0 != field }
      #expect(LaunchContext(line: Array(others.joined(separator: "\t").utf8)) == nil, "without \(field)")
    }
    for (field, wrong) in [
      ("generation=7", "generation=-1"), ("agentPid=4711", "agentPid=x"), ("container=/c", "container=%4"),
      ("container=/c", "container=%zz"), ("callDeadline=0.25", "callDeadline="), ("container=/c", "container"),
      ("firstCompletionCounts=true", "firstCompletionCounts=1"),
    ] {
      let changed = fields.map { $0 == field ? Substring(wrong) : $0 }
      #expect(changed != fields, "\(field) is in the line")
      #expect(LaunchContext(line: Array(changed.joined(separator: "\t").utf8)) == nil, "\(wrong)")
    }
    let more = Array((fields + ["unknown=1"]).joined(separator: "\t").utf8)
    #expect(LaunchContext(line: more) != nil)
  }
}
