// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Testing

@testable import Cluster

/// Files of authors that ended the tool, or that it did not finish reading.
@Suite struct `Files of settings with unusual content` {
  private func message(_ yaml: String) -> String {
    do throws(ClusterError) {
      _ = try ClusterConfiguration(yaml: yaml)
      return "no error"
    } catch {
      return error.message
    }
  }

  /// Yams compares keys, so that this one has 2^40 elements.
  @Test(.timeLimit(.minutes(1))) func `a key that consists of aliases is refused, and not expanded`() {
    let lists = (1...40).map { "l\($0): &l\($0) [\($0 == 1 ? "x, x" : "*l\($0 - 1), *l\($0 - 1)")]\n" }.joined()
    #expect(message(lists + "? *l40\n: x\n").contains("41: a key is a list, a mapping or an alias"))
    #expect(message(lists + "? [*l40]\n: x\n").contains("41: a key is a list, a mapping or an alias"))
    #expect(message("device: {name: phone}\n" + lists).contains("l1: is not a known key"))
  }

  @Test func `an alias is the value that it names`() throws {
    let configuration = try ClusterConfiguration(
      yaml: """
        device: {name: phone}
        extensions:
        - {bundle: a.b, executable: &x widget, environment: &e {GLOB: "*"}}
        - {bundle: a.c, executable: *x, environment: *e}
        """)
    #expect(configuration.extensions.map(\.executable) == ["widget", "widget"])
    #expect(configuration.extensions.map(\.environment) == [["GLOB": "*"], ["GLOB": "*"]])
  }

  /// Yams reads such a number with the base 60, and traps.
  @Test func `a number with colons is not a whole number`() {
    let number = Array(repeating: "1", count: 20).joined(separator: ":")
    for text in ["1:30", number] {
      #expect(message("device: {name: a}\nbus: {peerLimit: \(text)}").contains("peerLimit: expected a whole number"))
    }
  }

  @Test func `what would be cut off or lost in a process is refused`() {
    #expect(message("device: {name: a}\nprovider: {executable: \"a\\0b\"}").contains("has a NUL character"))
    for name in ["A=B", "\"\""] {
      let yaml = "device: {name: a}\napps: [{bundle: a, executable: b, environment: {\(name): c}}]"
      #expect(message(yaml).contains("is not the name of a variable"))
    }
  }

  @Test func `long files and lists are refused with their limits`() {
    #expect(
      message("device: {name: a} #" + String(repeating: "x", count: 1 << 18)).contains("longer than 262144 bytes"))
    let groups = String(repeating: "x, ", count: 1_001)
    #expect(message("device: {name: a}\nappGroups: [\(groups)]").contains("has 1001 entries, of which at most 1000"))
  }

  // MARK: Info.plist

  /// A property list with a dictionary whose key `a` has the object 2.
  private func list(_ objects: [[UInt8]]) -> Data {
    let objects = [[0xD1, 1, 2], [0x51, 0x61]] + objects
    var bytes = Array("bplist00".utf8)
    var offsets: [UInt8] = []
    for object in objects {
      offsets += [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)]
      bytes += object
    }
    let table = bytes.count
    bytes += offsets + [0, 0, 0, 0, 0, 0, 2, 1]
    for number in [objects.count, 0, table] { bytes += (0..<8).map { UInt8(number >> (56 - 8 * $0) & 0xFF) } }
    return Data(bytes)
  }

  private func keys(_ data: Data) -> String {
    do throws(ClusterError) {
      return "\(try InfoPlist.keys(in: data, of: "Info.plist"))"
    } catch {
      return error.message
    }
  }

  @Test func `a binary property list of usual values is read`() {
    #expect(keys(list([[0x09]])) == #"["a": true]"#)
    #expect(keys(list([[0xA2, 3, 3], [0x51, 0x62]])) == #"["a": ["b", "b"]]"#)
  }

  /// Foundation ends the process at a set, and needs 2^38 steps for the shared lists.
  @Test(.timeLimit(.minutes(1))) func `a binary property list that Foundation cannot read is refused before`() {
    #expect(keys(list([[0xC1, 3], [0x09]])).contains("a value that is not of an Info.plist"))
    #expect(keys(list([[0xD1, 3, 3], [0x10, 5]])).contains("a key is not a text"))
    #expect(keys(list([[0xA1, 0]])).contains("nested deeper than 64 levels"))
    #expect(keys(list((3..<41).map { [0xA2, $0, $0] } + [[0x09]])).contains("more than 10000 values"))
    #expect(keys(list([[0xA1, 99]])).contains("refers to a value that it does not have"))
    #expect(keys(list([[0xAF, 0x13, 0x7F] + Array(repeating: 0xFF, count: 7)])).contains("a length is damaged"))
    #expect(keys(Data("bplist00".utf8)).contains("it is cut off"))
  }

  @Test func `a property list with a reference of an archive is refused, because a bundle cannot have it`() {
    let xml =
      "<plist version=\"1.0\"><dict><key>a</key><dict><key>CF$UID</key><integer>3</integer></dict></dict></plist>"
    #expect(keys(Data(xml.utf8)).contains("has values that an Info.plist does not have"))
  }

  @Test func `a property list in the text form of NeXTSTEP is refused`() {
    #expect(keys(Data("{a = b;}".utf8)).contains("is not a property list (XML or binary)"))
  }

  /// Each reference without its end searched the rest of the text.
  @Test(.timeLimit(.minutes(1))) func `references without an end are read in one pass`() throws {
    let product = try #require(
      try ClusterConfiguration(
        yaml:
          "device: {name: a}\napps: [{bundle: a.b, executable: c, buildSettings: {LONG: \(String(repeating: "x", count: 2000))}}]"
      ).apps.first)
    var settings = BuildSettings(of: product)
    let open = String(repeating: "$(${", count: 250_000)
    #expect(try settings.insert(into: open) as? String == open)
    #expect(throws: BuildSettings.Fault.tooLong) {
      try settings.insert(into: String(repeating: "$(LONG)", count: 1_000))
    }
  }
}
