// SPDX-License-Identifier: Apache-2.0

import AuthorProjects
import ChildProcesses
import Foundation

/// Finds out whether SwiftPM can get a remote package that a project needs. One that it cannot get would prevent the build of
/// all others.
struct PackageProbe {
  enum State {
    /// The folder of the package's files.
    case available(String)
    case unavailable(String)
  }

  /// The folder in which packages are resolved, each on its own.
  let folder: String

  private static let patience = Duration.seconds(60)

  func state(of product: PackageProduct) async -> State {
    switch product.place {
    case .local(let path): return .unavailable("the package in \(path) is not read by SwiftPM")
    case .remote(let url, let requirement):
      return await resolve(url, product, "url: \(Self.literal(url)), \(requirement)")
    case .unknown:
      return .unavailable(
        "the project does not say which package has this product, and no local package near it declares it")
    }
  }

  /// Resolves a package that depends only on this one. What was resolved is not asked for again.
  ///
  /// - Parameters:
  ///   - url: of the package.
  ///   - product: one of its products. SwiftPM does not get a package of which no product is used.
  ///   - dependency: the arguments of `.package(…)`.
  private func resolve(_ url: String, _ product: PackageProduct, _ dependency: String) async -> State {
    let last = url.split(separator: "/").last.map(String.init) ?? "package"
    let name = last.hasSuffix(".git") ? String(last.dropLast(4)) : last
    // A package in a folder of the dependency's name would have its identity, and SwiftPM would not get the dependency.
    let package = "\(folder)/probe-\(name)-\(product.name)"
    let used = "name: \(Self.literal(product.name)), package: \(Self.literal(product.place.identity))"
    let manifest = """
      // swift-tools-version: 6.0
      import PackageDescription
      let package = Package(
        name: "Probe", dependencies: [.package(\(dependency))],
        targets: [
          .target(name: "Probe", dependencies: [.product(\(used))], path: ".", sources: ["Probe.swift"])
        ])

      """
    let checkout = "\(package)/.build/checkouts/\(name)"
    let file = package + "/Package.swift"
    let isKnown = (try? String(contentsOfFile: file, encoding: .utf8)) == manifest
    let resolved = package + "/Package.resolved"
    if isKnown, [resolved, checkout].allSatisfy(FileManager.default.fileExists(atPath:)) {
      return .available(checkout)
    }
    do {
      unlink(resolved)
      try FileManager.default.createDirectory(atPath: package, withIntermediateDirectories: true)
      try manifest.write(toFile: file, atomically: true, encoding: .utf8)
      try "".write(toFile: package + "/Probe.swift", atomically: true, encoding: .utf8)
      let swift = try SwiftTool()
      let log = package + "/resolve.log"
      let ending = try await Deadline.within(Self.patience, "SwiftPM did not get \(url)", at: package) {
        try await swift.run(["package", "--package-path", package, "resolve"], log: log)
      }
      guard ending == .exited(code: 0), FileManager.default.fileExists(atPath: checkout) else {
        return .unavailable("SwiftPM cannot get \(url): see \(log)")
      }
      return .available(checkout)
    } catch {
      return .unavailable("SwiftPM cannot get \(url): \(error)")
    }
  }

  private static func literal(_ text: String) -> String {
    "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
  }
}
