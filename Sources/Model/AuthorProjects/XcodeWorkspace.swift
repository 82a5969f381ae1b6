// SPDX-License-Identifier: Apache-2.0

/// The projects, packages and folders that a workspace names.
///
/// Source: the `contents.xcworkspacedata` that Xcode writes; Apple does not document the format.
struct XcodeWorkspace {
  /// Absolute paths, in the order of the workspace.
  let places: [String]

  /// - Parameter path: of the `.xcworkspace`, absolute.
  /// - Returns: `nil` when the workspace has no contents.
  init?(_ path: String, files: any ProjectFiles) {
    guard let text = files.text(path + "/contents.xcworkspacedata") else { return nil }
    let folder = FilePath.folder(path)
    var places: [String] = []
    var groups = [folder]
    for match in text.matches(of: /<(\/?)(Group|FileRef)\b([^>]*)>/) {
      let (isEnd, kind, attributes) = (!match.output.1.isEmpty, match.output.2, match.output.3)
      if isEnd {
        if kind == "Group", groups.count > 1 { groups.removeLast() }
        continue
      }
      let place = Self.place(attributes, in: groups.last ?? folder, folder)
      if kind == "FileRef" {
        if let place { places.append(place) }
      } else if !attributes.hasSuffix("/") {
        groups.append(place ?? groups.last ?? folder)
      }
    }
    self.places = places
  }

  private static func place(_ attributes: Substring, in group: String, _ folder: String) -> String? {
    guard let match = attributes.firstMatch(of: /location\s*=\s*"(\w+):([^"]*)"/) else { return nil }
    let path = String(match.output.2.replacing("&amp;", with: "&").replacing("&apos;", with: "'"))
    return switch match.output.1 {
    case "group": FilePath.absolute(path, in: group)
    case "absolute": FilePath.absolute(path, in: "/")
    case "container": FilePath.absolute(path, in: folder)
    // Such as `self:` of the workspace in a project, and `developer:`.
    default: nil
    }
  }
}

/// Searches local Swift packages for a product that a target links, and whose package the project does not name. Xcode
/// finds it in the workspace.
struct PackageSearch {
  /// The folders with a manifest and its text, in the order of precedence.
  private var manifests: [(folder: String, text: String)] = []

  /// How many folders above the project are searched for workspaces.
  private static let levels = 4
  /// How deep folders are searched for packages.
  private static let depth = 5

  /// Finds nothing.
  init() {}

  init(_ project: XcodeProject, files: any ProjectFiles) {
    var folders = project.all("XCLocalSwiftPackageReference").compactMap { $0.text("relativePath") }
      .map { FilePath.absolute($0, in: project.folder) }
    folders += project.paths.values.sorted()
    // The workspaces of the folders up to the repository's root.
    var top = FilePath.folder(project.path)
    var above = top
    for _ in 0...Self.levels {
      for name in files.entries(of: above) ?? [] where FilePath.ending(name) == "xcworkspace" {
        guard let places = XcodeWorkspace("\(above)/\(name)", files: files)?.places else { continue }
        folders += places
        if places.contains(project.path) { top = above }
      }
      if files.entries(of: above)?.contains(".git") == true {
        top = above
        break
      }
      guard above != "/" else { break }
      above = FilePath.folder(above)
    }
    for folder in folders { add(folder, files) }
    // A workspace can name a folder of packages. A package can also be near the project, unnamed.
    for folder in folders where files.isFolder(folder) && XcodeMembers.isSearched(folder) {
      search(folder, depth: 2, files)
    }
    search(top, depth: Self.depth, files)
  }

  /// The folder of the package with a product.
  func folder(of product: String) -> String? {
    // A manifest can compute its products, so that the name alone also counts.
    manifests.first { Self.declares(product, $0.text) }?.folder
      ?? manifests.first { $0.text.contains("\"\(product)\"") }?.folder
  }

  private static func declares(_ product: String, _ manifest: String) -> Bool {
    manifest.matches(of: /\.(?:library|executable)\(\s*name:\s*"([^"]+)"/).contains { $0.output.1 == product }
  }

  private mutating func add(_ folder: String, _ files: any ProjectFiles) {
    guard let text = files.text(folder + "/Package.swift"), !manifests.contains(where: { $0.folder == folder }) else {
      return
    }
    manifests.append((folder, text))
  }

  private mutating func search(_ root: String, depth: Int, _ files: any ProjectFiles) {
    var folders = [root]
    for _ in 0..<depth {
      var next: [String] = []
      for folder in folders {
        for name in files.entries(of: folder) ?? [] where SourceSearch.isSearched(name) {
          let path = "\(folder)/\(name)"
          if name == "Package.swift" {
            add(folder, files)
          } else if FilePath.ending(path) != "swift", XcodeMembers.isSearched(path) {
            next.append(path)
          }
        }
      }
      folders = next
    }
  }
}
