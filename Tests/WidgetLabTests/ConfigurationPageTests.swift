// SPDX-License-Identifier: Apache-2.0

import Cluster
import FidelityRules
import Foundation
import Testing

@testable import WidgetLab

@Suite(.timeLimit(.minutes(1))) struct `The page and the schema of the configuration` {
  @Test func `the configuration page in Documentation matches the tables of settings`() throws {
    let page = try String(
      contentsOf: Repository.root.appending(path: "Documentation/configuration.md"), encoding: .utf8)
    #expect(
      page == ConfigurationPage.text, "generate it again: widgetlab configuration > Documentation/configuration.md")
  }

  @Test func `the schema in Documentation matches the tables of settings`() throws {
    let file = Repository.root.appending(path: "Documentation/widgetlab.schema.json")
    let advice: Comment =
      "generate it again: widgetlab configuration --schema > Documentation/widgetlab.schema.json"
    #expect(try String(contentsOf: file, encoding: .utf8) == ConfigurationSchema.text, advice)
  }

  @Test func `the schema has the keys of the reader, and refuses others in each mapping`() throws {
    check(
      try JSONSerialization.jsonObject(with: Data(ConfigurationSchema.text.utf8)), ClusterConfiguration.keys, "root")
    let mappings = places(of: ClusterConfiguration.keys).count { $0.key.isMapping } + 1
    #expect(ConfigurationSchema.text.matches(of: /"additionalProperties": false/).count == mappings)
  }

  private func check(_ schema: Any?, _ keys: [SettingKey], _ name: String) {
    let properties = (schema as? [String: Any])?["properties"] as? [String: Any]
    #expect(properties.map { Set($0.keys) } == Set(keys.map(\.name)), "\(name)")
    for key in keys {
      let property = properties?[key.name] as? [String: Any]
      #expect(property?["description"] as? String != nil, "\(key.name)")
      switch key.values {
      case .part(let keys): check(property, keys, key.name)
      case .parts(let keys): check(property?["items"], keys, key.name)
      default: break
      }
    }
  }

  @Test func `a file with every key, and its default or an example, is read`() throws {
    let configuration = try ClusterConfiguration(yaml: file(ClusterConfiguration.keys))
    #expect(configuration.products.count == 2 && configuration.pushServer != nil)
  }

  @Test func `a misspelt key is refused at each place, with the one that was probably meant`() {
    for place in places(of: ClusterConfiguration.keys) {
      let (name, path) = (place.key.name, place.path)
      let message = refusal { $0 == path ? "\(name.dropLast()): 1" : nil }
      let expected = "\(name.dropLast()): is not a known key; did you mean \(name)?"
      #expect(message.contains(expected), "\(path): \(message)")
    }
  }

  @Test func `a number outside of its range is refused with the range`() {
    for place in places(of: ClusterConfiguration.keys) {
      guard let range = place.key.range else { continue }
      let (name, path) = (place.key.name, place.path)
      for number in [range.least - 1, range.most.map { $0 + 1 }].compactMap(\.self) {
        let message = refusal { $0 == path ? "\(name): \(SettingRange.text(number))" : nil }
        #expect(message.contains("\(name): must be \(range)"), "\(path): \(message)")
      }
    }
  }

  /// The rules of the push server are all on one page, which its own row names.
  @Test func `a setting names the fidelity pages whose rules name it`() throws {
    let folder = Repository.root.appending(path: "Documentation/fidelity")
    var pages: [String: [String]] = [:]
    for file in try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() where file != "README.md" {
      let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
      // A field of a rule, whose further lines are indented.
      for field in text.matches(of: /\n- Setting: ((?:.|\n  )*)/) {
        for key in Set(field.1.matches(of: /`(\w+)`/).map { String($0.1) }) {
          let page = String(file.dropLast(".md".count))
          if pages[key]?.last != page { pages[key, default: []].append(page) }
        }
      }
    }
    let places = places(of: ClusterConfiguration.keys).filter { $0.path.first == "settings" && $0.path.count == 2 }
    #expect(places.count > 50)
    for place in places { #expect(place.key.pages == pages[place.key.name], "\(place.key.name)") }
  }

  /// All ranges but "0 or more", so that a changed table is noticed.
  @Test func `the ranges of numbers are these`() {
    let ranges = places(of: ClusterConfiguration.keys).compactMap { place -> String? in
      guard let range = place.key.range, range.description != "0 or more" else { return nil }
      return "\(place.path.joined(separator: ".")): \(range)"
    }
    #expect(
      ranges == [
        "apps.agent: at least 1", "extensions.agent: at least 1", "pushServer.replicas: 1 to 64",
        "pushServer.developmentPort: 0 to 65535", "pushServer.productionPort: 0 to 65535",
        "pushServer.logLimit: at least 100", "pushServer.queueLimit: at least 1", "pushServer.inFlight: 1 to 1000",
        "pushServer.payloadLimit: 1 to 8192 bytes", "pushServer.voipPayloadLimit: 1 to 8192 bytes",
        "pushServer.idleTimeout: at least 0.001 s", "pushServer.slowedStreams: 1 to 1000",
        "pushServer.badDeviceTokenWeight: at least 1", "settings.extensionMemoryLimit: 0 to 1048576 MiB",
        "settings.memoryInterval: at least 0.01 s", "settings.backgroundTime: at least 1 s",
        "settings.redeliveries: at least 1", "settings.maximumLoads: at least 1",
        "settings.resumableFrom: 0 to 1048576 KiB",
        "settings.diskReserve: 0 to 1073741824 MiB", "settings.expansionLimit: 0 to 1048576",
        "settings.concurrentTimelines: 1 to 100", "settings.oneEntryPause: at least 1 s",
        "settings.policyFloor: at least 1 s", "settings.policyDelay: 0 to 86400 s",
        "settings.archiveLimit: 1 to 65536 KiB", "settings.archiveDepth: 1 to 240",
        "settings.imageAreaLimit: at least 1 px", "settings.entryLimit: 1 to 10000",
        "settings.contentMargin: 0 to 100 pt", "settings.activityLimit: 1 to 100",
        "settings.activityPushBudget: at least 1", "bus.peerLimit: at least 1", "bus.keyGrace: 0 to 86400 s",
      ])
  }

  // MARK: Files with every key

  private func refusal(_ replacement: ([String]) -> String?) -> String {
    do throws(ClusterError) {
      _ = try ClusterConfiguration(yaml: file(ClusterConfiguration.keys, replacement))
      return "it was read"
    } catch {
      return error.message
    }
  }

  /// The YAML of a mapping with all of these keys.
  ///
  /// - Parameter replacement: what replaces the key at a path and its value; `nil` for the example.
  private func file(
    _ keys: [SettingKey], at path: [String] = [], _ replacement: ([String]) -> String? = { _ in nil }
  ) -> String {
    var entries: [String] = []
    for key in keys {
      let own = path + [key.name]
      entries.append(replacement(own) ?? "\(key.name): \(example(key, own, replacement))")
    }
    return "{\(entries.joined(separator: ", "))}"
  }

  private func example(_ key: SettingKey, _ path: [String], _ replacement: ([String]) -> String?) -> String {
    switch key.initial {
    case .flag(let value): return "\(value)"
    case .number(let value): return SettingRange.text(value)
    case .text(let text): return "\"\(text)\""
    case nil: break
    }
    switch (key.name, key.values) {
    case (_, .part(let keys)): return file(keys, at: path, replacement)
    case (_, .parts(let keys)): return "[\(file(keys, at: path, replacement))]"
    case (_, .count(let range)), (_, .number(let range)), (_, .seconds(let range)):
      return SettingRange.text(range.least)
    case (_, .choice(let names)): return names.first ?? ""
    case (_, .texts), (_, .paths): return "[x]"
    case (_, .dictionary): return "{A: x}"
    case (_, .endpoint): return "\"127.0.0.1:0\""
    case ("bundle", _): return path.contains("extensions") ? "a.b.c" : "a.b"
    case ("timeZone", _): return "Europe/Zurich"
    case ("database", _): return "\"postgres://host/database\""
    default: return "x"
    }
  }

  private struct Place {
    var path: [String]
    var key: SettingKey
  }

  private func places(of keys: [SettingKey], at path: [String] = []) -> [Place] {
    keys.flatMap { key -> [Place] in
      let own = Place(path: path + [key.name], key: key)
      switch key.values {
      case .part(let keys), .parts(let keys): return [own] + places(of: keys, at: own.path)
      default: return [own]
      }
    }
  }
}

extension SettingKey {
  fileprivate var isMapping: Bool {
    switch values {
    case .part, .parts: true
    default: false
    }
  }

  fileprivate var range: SettingRange? {
    switch values {
    case .count(let range), .number(let range), .seconds(let range): range
    default: nil
    }
  }
}
