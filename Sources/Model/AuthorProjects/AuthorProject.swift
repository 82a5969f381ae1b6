// SPDX-License-Identifier: Apache-2.0

/// A project with widget extensions, which its author has not written for WidgetLab.
package struct AuthorProject: Sendable, Hashable {
  package let name: String
  /// The path of the `.xcodeproj`, or of the folder.
  package let path: String
  /// The widget extensions, at least one.
  package var widgets: [WidgetTarget]

  /// The folder of the package for WidgetLab, unless another is named: beside the project.
  package var defaultOutput: String { "\(FilePath.folder(path))/\(name)\(Self.outputEnding)" }

  static let outputEnding = "-WidgetLab"

  init(name: String, path: String, widgets: [WidgetTarget]) {
    self.name = name
    self.path = path
    self.widgets = widgets
  }

  /// Reads the project at a path: a `.xcodeproj`, a `.xcworkspace` or a folder.
  ///
  /// A folder is searched for Xcode projects first, and then for Swift files with a widget.
  ///
  /// - Throws: a `ProjectError` when there is no project with a widget, or several.
  package static func read(_ path: String, files: any ProjectFiles = FilesOnDisk()) throws(ProjectError)
    -> AuthorProject
  {
    let path = FilePath.absolute(path, in: "/")
    switch FilePath.ending(path) {
    case "xcodeproj": return try xcode(path, files)
    case "pbxproj": return try xcode(FilePath.folder(path), files)
    case "xcworkspace": return try first(of: projects(ofWorkspace: path, files), at: path, files)
    default: break
    }
    guard files.isFolder(path) else {
      throw ProjectError(
        .notFound, files.contents(path) == nil ? "this path does not exist" : "this is not a project", at: path,
        advice: "name a .xcodeproj, a .xcworkspace, or the folder of a project")
    }
    let projects = SourceSearch(path).projects(files)
    if !projects.isEmpty {
      do {
        return try first(of: projects, at: path, files)
      } catch  where error.code == .noWidget {
        // Such as a project of a cross-platform framework, with a widget in another folder.
        if let folder = try? FolderReader(path, files: files).project() { return folder }
        throw error
      }
    }
    try refuseDescriptions(in: path, files)
    return try FolderReader(path, files: files).project()
  }

  private static func xcode(_ path: String, _ files: any ProjectFiles) throws(ProjectError) -> AuthorProject {
    let widgets = try XcodeProjectReader(path, files: files).widgets()
    guard !widgets.isEmpty else {
      throw ProjectError(
        .noWidget, "the project has no widget extension", at: path,
        advice: "WidgetLab needs a target whose Info.plist has NSExtensionPointIdentifier com.apple.widgetkit-extension"
      )
    }
    return AuthorProject(name: FilePath.stem(path), path: path, widgets: widgets)
  }

  /// The only project with a widget extension.
  private static func first(
    of projects: [String], at path: String, _ files: any ProjectFiles
  ) throws(ProjectError) -> AuthorProject {
    var found: [AuthorProject] = []
    var failure: ProjectError?
    for project in projects {
      do {
        found.append(try xcode(project, files))
      } catch {
        // A damaged project is reported before one without a widget.
        if failure == nil || error.code == .damaged { failure = error }
      }
    }
    guard let project = found.first else {
      throw failure ?? ProjectError(.noWidget, "there is no Xcode project in this workspace", at: path)
    }
    guard found.count == 1 else {
      let list = found.map { "\n           \($0.path)" }.joined()
      throw ProjectError(
        .ambiguous, "\(found.count) projects here have a widget extension", at: path, advice: "name one of\(list)")
    }
    return project
  }

  /// Source: the `contents.xcworkspacedata` that Xcode writes.
  private static func projects(ofWorkspace path: String, _ files: any ProjectFiles) throws(ProjectError) -> [String] {
    guard let text = files.text(path + "/contents.xcworkspacedata") else {
      throw ProjectError(.notFound, "the workspace has no contents.xcworkspacedata", at: path)
    }
    return text.matches(of: /location\s*=\s*"(?:group|container|absolute):([^"]+\.xcodeproj)"/)
      .map { FilePath.absolute(String($0.output.1), in: FilePath.folder(path)) }
      .filter { !$0.contains("/Pods/") }
  }

  /// A description from which another tool generates the Xcode project.
  private static func refuseDescriptions(in folder: String, _ files: any ProjectFiles) throws(ProjectError) {
    let generators = [
      ("project.yml", "XcodeGen", "xcodegen generate"), ("project.yaml", "XcodeGen", "xcodegen generate"),
      ("Project.swift", "Tuist", "tuist generate --no-open"),
    ]
    let names = Set(files.entries(of: folder) ?? [])
    for (name, tool, command) in generators where names.contains(name) {
      throw ProjectError(
        .unsupported, "this description of \(tool) is not read", at: "\(folder)/\(name)",
        advice: "run `\(command)` in \(folder), then this command again")
    }
  }
}

/// Searches a folder for projects and widgets.
struct SourceSearch {
  private let root: String
  /// How deep folders are searched for Xcode projects.
  private static let depth = 5

  init(_ root: String) { self.root = root }

  /// The paths of all `.xcodeproj`, those nearest to the folder first.
  func projects(_ files: any ProjectFiles) -> [String] {
    var found: [String] = []
    var folders = [root]
    for _ in 0..<Self.depth {
      var next: [String] = []
      for folder in folders {
        for name in files.entries(of: folder) ?? [] where Self.isSearched(name) {
          let path = folder + "/" + name
          if FilePath.ending(path) == "xcodeproj" {
            found.append(path)
          } else if !XcodeMembers.opaque.contains(FilePath.ending(path)) {
            next.append(path)
          }
        }
      }
      folders = next
    }
    return found
  }

  /// The Swift files with the entry point of a widget extension.
  func entries(_ files: any ProjectFiles) -> [String] {
    swiftFiles(root, depth: 0, files).filter { path in
      files.contents(path).map { ConditionalSource($0).hasWidgetEntry } ?? false
    }
  }

  private func swiftFiles(_ folder: String, depth: Int, _ files: any ProjectFiles) -> [String] {
    guard depth < 12 else { return [] }
    return (files.entries(of: folder) ?? []).filter(Self.isSearched).flatMap { name -> [String] in
      let path = folder + "/" + name
      if FilePath.ending(path) == "swift" { return [path] }
      return XcodeMembers.opaque.contains(FilePath.ending(path)) ? [] : swiftFiles(path, depth: depth + 1, files)
    }
  }

  private static func isSearched(_ name: String) -> Bool {
    !name.hasPrefix(".") && !SourceFolder.skipped.contains(name) && !name.hasSuffix(AuthorProject.outputEnding)
  }
}
