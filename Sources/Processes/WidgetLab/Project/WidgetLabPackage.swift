// SPDX-License-Identifier: Apache-2.0

import AuthorProjects
import Cluster
import Foundation

/// The package of WidgetLab, on which a package of an author depends: a clone.
struct WidgetLabPackage {
  /// The clone's folder, absolute.
  let folder: String
  /// The libraries that it offers to authors.
  let modules: Set<String>
  /// All names in its manifest, among them those of its targets, which no other package may have.
  let names: Set<String>

  /// The file in the folder of WidgetLab's executables that has the path of the clone. `scripts/install` writes it.
  static let sourceFile = "source"

  /// Finds the clone: the one that is named, `WIDGETLAB_HOME`, the one in which this tool was built, or the one from
  /// which it was installed.
  ///
  /// - Throws: a command error that lists the places.
  static func find(
    _ named: String?, own: String = ExecutableSearch.ownPath,
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws -> WidgetLabPackage {
    var places: [String] = []
    if let named {
      places = [named]
    } else {
      if let home = environment[ExecutableSearch.homeVariable], !home.isEmpty { places.append(home) }
      // A scratch folder such as .build-thread, too.
      if let build = own.firstRange(of: /\/\.build[^\/]*\//) { places.append(String(own[..<build.lowerBound])) }
      let folder = URL(fileURLWithPath: own).deletingLastPathComponent().path
      if let source = try? String(contentsOfFile: "\(folder)/\(sourceFile)", encoding: .utf8) {
        places.append(source.trimmingCharacters(in: .whitespacesAndNewlines))
      }
    }
    for place in places {
      let path = URL(fileURLWithPath: place).standardizedFileURL.path
      if let package = WidgetLabPackage(path) { return package }
    }
    throw CommandError(
      Exit.configuration, "the clone of WidgetLab is not found, which the package needs",
      at: places.isEmpty ? nil : places.joined(separator: ", "),
      advice: "name its folder with --widgetlab, or set \(ExecutableSearch.homeVariable) to it")
  }

  private init?(_ folder: String) {
    guard let manifest = try? String(contentsOfFile: folder + "/Package.swift", encoding: .utf8),
      manifest.contains("name: \"WidgetLab\"")
    else { return nil }
    self.folder = folder
    let libraries = manifest.matches(of: /\.library\(\s*name:\s*"([^"]+)"/).map { String($0.output.1) }
    modules = Set(libraries).subtracting(["WidgetLabTesting"])
    names = Set(manifest.matches(of: /"([A-Za-z0-9_]+)"/).map { String($0.output.1) })
  }
}
