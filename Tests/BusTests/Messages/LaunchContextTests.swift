// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages
import Testing

@Suite struct `The line of a launch context` {
  private static func context(
    container: String, groups: [String: String], faultPoints: String?, rules: ProcessRules = ProcessRules()
  ) -> LaunchContext {
    LaunchContext(
      address: .widgetExtension("iphone", "com.example.A.Widget"), generation: 7, host: .host("iphone"),
      endpoint: "tcp://127.0.0.1:7701", serverKey: "a%=&<z85>", publicKey: "p=", secretKey: "s%41",
      container: container, groups: groups, rules: rules, agentPid: 4_711, faultPoints: faultPoints)
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

  /// The value of a rule in JSON.
  private enum RuleValue: Codable {
    case flag(Bool)
    case number(Double)

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      self = try (try? container.decode(Bool.self)).map(Self.flag) ?? .number(container.decode(Double.self))
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      switch self {
      case .flag(let flag): try container.encode(flag)
      case .number(let number): try container.encode(number)
      }
    }

    var changed: RuleValue {
      switch self {
      case .flag(let flag): .flag(!flag)
      case .number(let number): .number(number + 1)
      }
    }
  }

  /// The rules are changed by their JSON, which has each property: a new one needs no line here.
  @Test func `each rule arrives with its value`() throws {
    let usual = try JSONDecoder().decode([String: RuleValue].self, from: try JSONEncoder().encode(ProcessRules()))
    #expect(Set(usual.keys) == Set(Mirror(reflecting: ProcessRules()).children.compactMap(\.label)))
    for (name, value) in usual {
      var values = usual
      values[name] = value.changed
      let rules = try JSONDecoder().decode(ProcessRules.self, from: try JSONEncoder().encode(values))
      #expect(rules != ProcessRules(), "\(name)")
      let context = Self.context(container: "/c", groups: [:], faultPoints: nil, rules: rules)
      #expect(LaunchContext(line: context.line) == context, "\(name)")
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
      ("container=/c", "container=%zz"), ("callDeadline=5.0", "callDeadline="), ("container=/c", "container"),
      ("firstCompletionCounts=false", "firstCompletionCounts=1"),
    ] {
      let changed = fields.map { $0 == field ? Substring(wrong) : $0 }
      #expect(changed != fields, "\(field) is in the line")
      #expect(LaunchContext(line: Array(changed.joined(separator: "\t").utf8)) == nil, "\(wrong)")
    }
    let more = Array((fields + ["unknown=1"]).joined(separator: "\t").utf8)
    #expect(LaunchContext(line: more) != nil)
  }
}
