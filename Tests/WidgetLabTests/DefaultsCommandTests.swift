// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FidelityRules
import Foundation
import Messages
import Testing

@testable import WidgetLab

@Suite struct `The command defaults` {
  private func chosen(_ arguments: [String]) throws -> DefaultsValue {
    let command = try WidgetLabTool.parseAsRoot(["defaults", "write", "group.a", "key"] + arguments)
    return try #require(command as? DefaultsCommand.WriteCommand).chosen()
  }

  @Test(
    .rule("DEFAULTS-06"),
    arguments: [
      (["Espresso"], DefaultsValue.string("Espresso")), (["-string", "-5"], .string("-5")),
      (["-int", "-5"], .integer(-5)),
      (["-float", "2.5"], .real(2.5)), (["-bool", "YES"], .bool(true)), (["-bool", "0"], .bool(false)),
      (["-date", "2026-03-01T06:00:00Z"], .date(Date(timeIntervalSince1970: 1_772_344_800))),
      (["-data", "00fF"], .data(Data([0, 255]))), (["-array", "a", "b"], .array([.string("a"), .string("b")])),
      (["-dict", "a", "1", "b", "2"], .dictionary(["a": .string("1"), "b": .string("2")])),
      (["-array", "a", "--instance", "other"], .array([.string("a")])),
    ])
  func `a value has the type that its option names`(arguments: [String], value: DefaultsValue) throws {
    #expect(try chosen(arguments) == value)
  }

  @Test(arguments: [
    [], ["a", "-int", "5"], ["-int", "five"], ["-bool", "perhaps"], ["-date", "today"], ["-data", "0"],
    ["-data", "xy"],
    ["-dict", "a"],
  ])
  func `no value, two values and a value of another type are refused`(arguments: [String]) {
    #expect(throws: (any Error).self) { try chosen(arguments) }
  }

  @Test func `without a subcommand the domains are read`() throws {
    let command = try WidgetLabTool.parseAsRoot(["defaults"])
    #expect((command as? DefaultsCommand.ReadCommand)?.domain == nil)
    let key = try WidgetLabTool.parseAsRoot(["defaults", "read", "group.a", "limit", "--json"])
    #expect((key as? DefaultsCommand.ReadCommand)?.key == "limit")
  }

  @Test func `JSON output has the values as JSON has them`() throws {
    let values: [String: DefaultsValue] = [
      "a": .array([.integer(1), .bool(true)]), "d": .data(Data([1])), "r": .real(2.5),
    ]
    let json = { (domain: String?, key: String?) in
      try DefaultsCommand.ReadCommand.json(
        ReadDefaults.Reply(domains: ["x/y"], values: values), domain: domain, key: key)
    }
    #expect(try json("x", nil) == #"{"a":[1,true],"d":"AQ==","r":2.5}"#)
    #expect(try json("x", "r") == "2.5")
    #expect(try json(nil, nil) == #"["x/y"]"#)
  }
}
