// SPDX-License-Identifier: Apache-2.0

import AuthorProjects
import ChildProcesses
import Cluster
import Foundation

/// Reads the manifests of packages with SwiftPM, which evaluates them. Nothing in their folders is changed.
struct PackageReader {
  /// The folder in which descriptions are kept, each for one text of a manifest.
  let folder: String

  private static let patience = Duration.seconds(60)

  private struct Description: Codable {
    var manifest: String
    var json: Data
  }

  /// Adds the description of a package, or the reason for its absence.
  func describe(_ package: String, in packages: inout LocalPackages) async {
    let path = package + "/Package.swift"
    guard let manifest = try? String(contentsOfFile: path, encoding: .utf8) else {
      packages.failures[package] = "there is no package in \(package)"
      return
    }
    let name = URL(fileURLWithPath: package).lastPathComponent
    // Two packages can have the same name.
    let place = "\(folder)/descriptions/\(name)-\(String(FNV1a.hash(package.utf8), radix: 36))"
    let kept = try? JSONFile.read(Description.self, at: place + ".json")
    do {
      let json: Data
      if let kept, kept.manifest == manifest {
        json = kept.json
      } else {
        json = try await dump(package, log: place + ".log")
        try JSONFile.write(Description(manifest: manifest, json: json), to: place + ".json")
      }
      guard let found = SwiftPackage(json, folder: package) else {
        packages.failures[package] = "SwiftPM's description of \(path) is not known: see \(place).log"
        return
      }
      packages.packages[package] = found
    } catch {
      packages.failures[package] = (error as? CommandError)?.what ?? "\(error)"
    }
  }

  /// The output of `swift package dump-package`.
  private func dump(_ package: String, log: String) async throws -> Data {
    let swift = try SwiftTool()
    let arguments = ["package", "--package-path", package, "--scratch-path", folder + "/scratch", "dump-package"]
    let ending = try await Deadline.within(Self.patience, "SwiftPM did not read \(package)/Package.swift", at: log) {
      try await swift.run(arguments, log: log)
    }
    let output = FileManager.default.contents(atPath: log) ?? Data()
    let lines = output.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    guard ending == .exited(code: 0), let first = lines.firstIndex(where: { $0.elementsEqual("{".utf8) }),
      let last = lines.lastIndex(where: { $0.elementsEqual("}".utf8) }), first < last
    else {
      let errors = lines.map { String(decoding: $0, as: UTF8.self) }.filter { $0.contains("error: ") }
      // The compiler's message has the line of the manifest; SwiftPM's own has the command that it ran.
      let error = errors.first { $0.contains("Package.swift:") } ?? errors.first
      throw CommandError(
        Exit.configuration,
        "SwiftPM cannot read \(package)/Package.swift: \(error ?? "see \(log)")")
    }
    return Data(lines[first...last].joined(separator: [UInt8(ascii: "\n")]))
  }
}
