// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What the sources of a target need.
struct SourceNeeds: Sendable, Hashable {
  /// The modules that they import.
  var modules: Set<String> = []
  /// The imports of modules that do not exist here.
  var missing: [PackagePlan.MissingModule] = []
  /// The modules whose names they use without an import. All files of the target see them.
  var implicit: Set<String> = []

  /// The flags for them, as elements of `swiftSettings`.
  var settings: [String] {
    implicit.sorted().map { module in
      let name = PackageManifest.literal(AuthorModules.aliases[module] ?? module)
      return ".unsafeFlags([\"-Xfrontend\", \"-import-module\", \"-Xfrontend\", \(name)])"
    }
  }
}

extension PackagePlan {
  /// Adds the sources of a target, as links and views. A source that is listed twice, the second time by way of a
  /// symbolic link, is added once.
  mutating func addSources(_ sources: [String], of name: String, _ values: ConditionValues) -> SourceNeeds {
    let base = FilePath.common(sources)
    var needs = SourceNeeds()
    var added: Set<String> = []
    for path in sources where added.insert(files.resolved(path)).inserted {
      let place = "Sources/\(name)/\(FilePath.relative(path, to: base))"
      guard let data = files.contents(path) else {
        notes.append(
          ProjectNote(FilePath.relative(path, to: FilePath.folder(project.path)), "this file cannot be read"))
        continue
      }
      let source = ConditionalSource(data)
      let replaced = addImports(of: source, at: path, values, to: &needs)
        .merging(source.orderOfNumbersAsMember) { $1 }.merging(source.withoutObjectiveC) { $1 }
      if let view = source.view(platform: values.platform, replacing: replaced) {
        let file = String(place.dropLast(".swift".utf8.count)) + Self.viewEnding
        items[file] = .view(SourceView.text(view, of: path), of: path)
        origins[file] = path
      } else {
        items[place] = .link(path)
        origins[place] = path
      }
    }
    return needs
  }

  /// Adds what a file imports.
  ///
  /// - Returns: the names of modules that are replaced in its view, by their places.
  private mutating func addImports(
    of source: ConditionalSource, at path: String, _ values: ConditionValues, to needs: inout SourceNeeds
  ) -> [Range<Int>: String] {
    let names = source.names
    var modules: Set<String> = []
    var replaced: [Range<Int>: String] = [:]
    for line in source.imports(values) {
      if values.modules.contains(line.module) {
        modules.insert(line.module)
      } else if let framework = AppleFramework.known[line.module], !framework.isUsed(names),
        let place = source.moduleName(in: line)
      {
        let other = values.modules.contains(framework.exported) ? framework.exported : "Foundation"
        replaced[place] = other
        modules.insert(other)
        unused[line.module, default: []].insert("\(path):\(line.line)")
      } else {
        modules.insert(line.module)
        needs.missing.append(MissingModule(module: line.module, path: path, line: line.line))
      }
    }
    let own = modules.contains("SwiftUI") ? names.subtracting(AppleFramework.combineOfSwiftUI) : names
    let implicit = source.modulesOfFoundation(own, importing: modules).intersection(values.modules)
    needs.implicit.formUnion(implicit)
    needs.modules.formUnion(modules.union(implicit))
    return replaced
  }

  /// The compiler identifies a file by its name and its module, and a view has the name of the author's file by its
  /// `#sourceLocation`.
  package static let viewEnding = ".view.swift"

  /// One for each module, but not for one that another file uses: its absence is reported then.
  var notesOnUnusedImports: [ProjectNote] {
    let used = Set(missing.values.joined().map(\.module))
    return unused.sorted { $0.key < $1.key }.filter { !used.contains($0.key) }.map { module, places in
      let count = places.count == 1 ? "1 import of it is" : "\(places.count) imports of it are"
      return ProjectNote(module, "\(count) left out: nothing of it is used")
    }
  }
}

/// A view of an author's file: what the compiler sees instead of it.
enum SourceView {
  /// Begins with a directive by which messages of the compiler have the path and the lines of the author's file.
  static func text(_ content: Data, of path: String) -> Data {
    let literal = path.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    return Data("#sourceLocation(file: \"\(literal)\", line: 1)\n".utf8) + content
  }
}
