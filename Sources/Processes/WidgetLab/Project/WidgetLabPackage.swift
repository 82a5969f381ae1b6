// SPDX-License-Identifier: Apache-2.0

import AuthorProjects
import Cluster
import Foundation

/// What a package of an author is built with: an installed SDK, or a clone or the sources of an archive, whose modules are
/// compiled.
struct WidgetLabPackage {
  /// The folder of the clone, of the sources or of the SDK, absolute.
  let folder: String
  /// The folder with the flags of the SDK; `nil` for sources.
  let flags: String?
  /// The libraries that it offers to authors.
  let modules: Set<String>
  /// Names that no target of an author may have: all names in the clone's manifest, or those of the SDK's modules.
  let names: Set<String>

  /// The file in the folder of WidgetLab's executables that has the path of the clone, which `scripts/install` writes. In an
  /// archive, the folder beside the SDK with the sources.
  static let sourceFile = "source"

  /// The folder for what is compiled of manifests. The sources of a Debian package belong to root.
  var manifests: String {
    if let flags { return flags + "/manifests" }
    guard access(folder, W_OK) != 0, let cache = InstalledSDK.cache(ProcessInfo.processInfo.environment) else {
      return folder + "/.build/manifests"
    }
    return cache + "/widgetlab/manifests"
  }

  /// Chooses the SDK of the tool's archive if the compiler is the one that made it, and its sources or a clone otherwise.
  /// Says why when there is an SDK and it is not used.
  ///
  /// - Parameter named: a clone that is used in any case.
  /// - Throws: a command error when there is neither.
  static func choose(
    _ named: String?, own: String = ExecutableSearch.ownPath,
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) async throws -> WidgetLabPackage {
    let installed = named == nil ? InstalledSDK.find(own: own, environment: environment) : []
    guard let first = installed.first else { return try find(named, own: own, environment: environment) }
    let swift = try SwiftTool(environment: environment)
    let compiler = try await swift.compiler()
    if let sdk = installed.first(where: { $0.obstacle(for: compiler) == nil }) {
      let flags = try sdk.writeFlags(runtime: swift.runtime, environment: environment)
      return WidgetLabPackage(sdk, flags: flags)
    }
    let reason = first.obstacle(for: compiler) ?? ""
    do {
      let package = try find(nil, own: own, environment: environment)
      Output.printText("\(reason): WidgetLab's modules are compiled from \(package.folder)")
      return package
    } catch let error as CommandError {
      throw CommandError(
        error.exit, "\(reason), and there are no sources of WidgetLab that it could compile", at: error.place,
        advice: "install \(first.facts.compiler), or name a clone of WidgetLab with --widgetlab")
    }
  }

  /// An SDK.
  init(_ sdk: InstalledSDK, flags: String) {
    folder = sdk.folder
    self.flags = flags
    modules = Set(sdk.facts.libraries)
    names = Set(sdk.facts.names)
  }

  /// Finds the clone or the sources: those that are named, `WIDGETLAB_HOME`, the clone in which this tool was built or from
  /// which it was installed, or the sources in the archive of this tool.
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
      if let home = environment[ExecutableSearch.homeVariable], !home.isEmpty {
        places += [home, "\(home)/\(sourceFile)"]
      }
      // A scratch folder such as .build-thread, too.
      if let build = own.firstRange(of: /\/\.build[^\/]*\//) { places.append(String(own[..<build.lowerBound])) }
      let folder = URL(fileURLWithPath: own).deletingLastPathComponent().path
      if let source = try? String(contentsOfFile: "\(folder)/\(sourceFile)", encoding: .utf8) {
        places.append(source.trimmingCharacters(in: .whitespacesAndNewlines))
      }
      if folder.hasSuffix("/libexec/widgetlab") { places.append("\(folder)/../../\(sourceFile)") }
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
    flags = nil
    let libraries = manifest.matches(of: /\.library\(\s*name:\s*"([^"]+)"/).map { String($0.output.1) }
    modules = Set(libraries).subtracting(["WidgetLabTesting"])
    names = Set(manifest.matches(of: /"([A-Za-z0-9_]+)"/).map { String($0.output.1) })
  }
}
