// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// A project with widget extensions, which its author has not written for WidgetLab.
package struct AuthorProject: Sendable, Hashable {
  package let name: String
  /// The path of the `.xcodeproj`, of the description of another tool, or of the folder.
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
  /// A folder is searched for Xcode projects first, then for descriptions of XcodeGen and Tuist, and then for Swift files with
  /// a widget.
  ///
  /// - Parameter manifests: what the manifests of Tuist have printed, by their absolute paths.
  /// - Throws: a `ProjectError` when there is no project with a widget, or several; `unevaluated` when a manifest of Tuist
  ///   has to run first.
  package static func read(
    _ path: String, manifests: [String: Data] = [:], files: any ProjectFiles = FilesOnDisk()
  ) throws(ProjectError) -> AuthorProject {
    let path = FilePath.absolute(path, in: "/")
    switch FilePath.ending(path) {
    case "xcodeproj": return try xcode(path, files)
    case "pbxproj": return try xcode(FilePath.folder(path), files)
    case "xcworkspace": return try first(of: projects(ofWorkspace: path, files), at: path, files)
    case "yml", "yaml": return try XcodeGenReader(path, files: files).project()
    case "swift" where TuistReader.isManifest(path, files):
      return try TuistReader(path, manifests: manifests, files: files).project(path).project
    default: break
    }
    guard files.isFolder(path) else {
      throw ProjectError(
        .notFound, files.contents(path) == nil ? "this path does not exist" : "this is not a project", at: path,
        advice: "name a .xcodeproj, a .xcworkspace, a project.yml, a Project.swift, or the folder of a project")
    }
    let projects = SourceSearch(path).projects(files)
    if !projects.isEmpty {
      do {
        return try first(of: projects, at: path, files)
      } catch  where error.code == .noWidget {
        if let described = try described(in: path, files) { return described }
        if let project = try tuist(in: path, manifests, files) { return project }
        // Such as a project of a cross-platform framework, with a widget in another folder.
        if let folder = try? FolderReader(path, files: files).project() { return folder }
        throw error
      }
    }
    do {
      if let described = try described(in: path, files) { return described }
    } catch  where error.code == .noWidget || error.code == .damaged && FilePath.folder(error.path) != path {
      // A file of this name can also belong to another tool, or be a template below the folder.
      if let folder = try? FolderReader(path, files: files).project() { return folder }
      throw error
    }
    if let project = try tuist(in: path, manifests, files) { return project }
    return try FolderReader(path, files: files).project()
  }

  /// The root of a project of Tuist: the nearest folder with the folder `Tuist`, a plugin or a repository.
  package static func tuistRoot(of folder: String, files: any ProjectFiles = FilesOnDisk()) -> String {
    TuistReader.root(of: folder, files)
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

  /// The only Xcode project with a widget extension.
  private static func first(
    of projects: [String], at path: String, _ files: any ProjectFiles
  ) throws(ProjectError) -> AuthorProject {
    guard
      let project = try only(of: projects, at: path, { path throws(ProjectError) in try xcode(path, files) })
    else { throw ProjectError(.noWidget, "there is no Xcode project in this workspace", at: path) }
    return project
  }

  /// The only project with a widget extension; `nil` without paths.
  private static func only(
    of paths: [String], at path: String, _ read: (String) throws(ProjectError) -> AuthorProject
  ) throws(ProjectError) -> AuthorProject? {
    var foundProjects: [AuthorProject] = []
    var failure: ProjectError?
    for path in paths {
      do {
        foundProjects.append(try read(path))
      } catch {
        // A damaged project is reported before one without a widget.
        if failure == nil || error.code == .damaged { failure = error }
      }
    }
    guard let project = foundProjects.first else {
      if let failure { throw failure }
      return nil
    }
    guard foundProjects.count == 1 else {
      let list = foundProjects.map { "\n           \($0.path)" }.joined()
      throw ProjectError(
        .ambiguous, "\(foundProjects.count) projects here have a widget extension", at: path,
        advice: "name one of\(list)")
    }
    return project
  }

  private static func projects(ofWorkspace path: String, _ files: any ProjectFiles) throws(ProjectError) -> [String] {
    guard let workspace = XcodeWorkspace(path, files: files) else {
      throw ProjectError(.notFound, "the workspace has no contents.xcworkspacedata", at: path)
    }
    return workspace.places.filter { FilePath.ending($0) == "xcodeproj" && !$0.contains("/Pods/") }
  }

  /// The project with a widget that manifests of Tuist in a folder or below it describe; `nil` without a manifest.
  private static func tuist(
    in folder: String, _ manifests: [String: Data], _ files: any ProjectFiles
  ) throws(ProjectError) -> AuthorProject? {
    let paths = SourceSearch(folder).files(named: [TuistReader.name], files).filter {
      TuistReader.isManifest($0, files)
    }
    var foundProjects: [AuthorProject] = []
    // The widget of a project belongs to the app of the project that names it.
    var parts: Set<String> = []
    var failure: ProjectError?
    for path in paths {
      do {
        let (project, others) = try TuistReader(path, manifests: manifests, files: files).project(path)
        foundProjects.append(project)
        parts.formUnion(others)
      } catch {
        guard error.code != .unevaluated else { throw error }
        if failure == nil || error.code == .damaged { failure = error }
      }
    }
    foundProjects.removeAll { parts.contains($0.path) }
    if foundProjects.isEmpty, let failure { throw failure }
    return try only(of: foundProjects.map(\.path), at: folder) { path throws(ProjectError) in
      if let project = foundProjects.first(where: { $0.path == path }) { return project }
      throw ProjectError(.noWidget, "this manifest of Tuist has no widget extension", at: path)
    }
  }

  /// The project with a widget that a description in a folder or below it describes; `nil` without a description.
  private static func described(
    in folder: String, _ files: any ProjectFiles
  ) throws(ProjectError) -> AuthorProject? {
    try only(
      of: SourceSearch(folder).files(named: ["project.yml", "project.yaml"], files), at: folder
    ) { path throws(ProjectError) in try XcodeGenReader(path, files: files).project() }
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
    paths(files) { FilePath.ending($0) == "xcodeproj" }
  }

  /// The paths of all files with one of some names, those nearest to the folder first.
  func files(named names: Set<String>, _ files: any ProjectFiles) -> [String] {
    paths(files) { names.contains(FilePath.name($0)) }
  }

  private func paths(_ files: any ProjectFiles, _ isWanted: (String) -> Bool) -> [String] {
    var foundPaths: [String] = []
    var folders = [root]
    for _ in 0..<Self.depth {
      var next: [String] = []
      for folder in folders {
        for name in files.entries(of: folder) ?? [] where Self.isSearched(name) {
          let path = folder + "/" + name
          if isWanted(path) {
            foundPaths.append(path)
          } else if !XcodeMembers.opaque.contains(FilePath.ending(path)) {
            next.append(path)
          }
        }
      }
      folders = next
    }
    return foundPaths
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

  static func isSearched(_ name: String) -> Bool {
    !name.hasPrefix(".") && !SourceFolder.skipped.contains(name) && !name.hasSuffix(AuthorProject.outputEnding)
  }
}

/// A widget extension of an author's project, as the project describes it. All paths are absolute.
package struct WidgetTarget: Sendable, Hashable {
  /// The target's name in the project.
  package var name: String
  /// The name of its Swift module, and of its executable here.
  package var module: String
  /// Swift files.
  package var sources: [String] = []
  /// Files `.intentdefinition`.
  package var definitions: [String] = []
  /// The language in which Xcode generates their classes.
  package var intentLanguage = IntentDefinition.Language.swift
  /// Files and folders of the bundle, by the name that they have in it, such as `de.lproj/Localizable.strings`.
  package var resources: [String: String] = [:]
  package var bundle: String
  /// `CFBundleDisplayName`; `nil` for the name.
  package var displayName: String?
  /// `MARKETING_VERSION` and `CURRENT_PROJECT_VERSION`.
  package var version: String?
  package var build: String?
  /// The target's own `Info.plist`; `nil` when Xcode generates it.
  package var infoPlist: String?
  /// The content of `infoPlist` when the project's tool writes it and it is not there yet.
  package var generatedInfoPlist: Data?
  /// The values of the build settings that `infoPlist` refers to.
  package var infoPlistSettings: [String: String] = [:]
  package var entitlements = WidgetEntitlements()
  /// The app that contains it.
  package var app = ContainingAppFacts(bundle: "")
  /// `iOS`, `watchOS`, `macOS` or `visionOS`: the name in `os(…)`.
  package var platform = "iOS"
  package var compiler = CompilerSettings()
  /// The lowest version of the system, such as `17.0`.
  package var deploymentTarget: String?
  /// The products of Swift packages that the target links.
  package var products: [PackageProduct] = []
  /// Whether the target is one of a Swift package, whose manifest describes it.
  package var isPackageTarget = false
  /// The libraries of the project whose modules it may import, by module.
  package var libraries: [String: LibraryTarget] = [:]
  /// Whether Xcode generates symbols from asset catalogs, and members of SwiftUI's and UIKit's types with their names.
  package var hasAssetSymbols = true
  package var hasAssetExtensions = false
  package var notes: [ProjectNote] = []

  package init(name: String, module: String, bundle: String) {
    self.name = name
    self.module = module
    self.bundle = bundle
  }
}

/// What is needed of the app that contains a widget extension.
package struct ContainingAppFacts: Sendable, Hashable {
  package var bundle: String
  package var displayName: String?
  package var version: String?
  package var build: String?
  package var entitlements = WidgetEntitlements()
  /// The Swift files that the targets of both the app and the extension have.
  package var sharedSources: [String] = []
  /// How the app's target compiles them.
  package var compiler = CompilerSettings()
}

/// The entitlements of a target that WidgetLab knows.
package struct WidgetEntitlements: Sendable, Hashable {
  /// `com.apple.security.application-groups`.
  package var groups: [String] = []
  /// `keychain-access-groups`.
  package var keychainGroups: [String] = []
  /// `aps-environment`.
  package var pushEnvironment: String?
  /// `com.apple.developer.default-data-protection`, in the words of `widgetlab.yaml`.
  package var dataProtection: String?
  /// The keys of others.
  package var others: [String] = []

  package init() {}

  /// Source: Apple, *Entitlements*, and `NSFileProtection`.
  init(_ keys: [String: Any], _ settings: inout XcodeSettings) {
    for (key, value) in keys.sorted(by: { $0.key < $1.key }) {
      switch key {
      case "com.apple.security.application-groups":
        groups = ((value as? [Any]) ?? []).compactMap { $0 as? String }.map { settings.expand($0) }
      case "keychain-access-groups":
        keychainGroups = ((value as? [Any]) ?? []).compactMap { $0 as? String }.map { settings.expand($0) }
      case "aps-environment": pushEnvironment = (value as? String).map { settings.expand($0) }
      case "com.apple.developer.default-data-protection":
        switch value as? String {
        case "NSFileProtectionComplete": dataProtection = "complete"
        case "NSFileProtectionCompleteUnlessOpen": dataProtection = "completeUnlessOpen"
        case "NSFileProtectionCompleteUntilFirstUserAuthentication":
          dataProtection = "completeUntilFirstUserAuthentication"
        default: others.append(key)
        }
      default: others.append(key)
      }
    }
  }
}

/// A product of a Swift package.
package struct PackageProduct: Sendable, Hashable {
  /// Where the package is.
  package enum Place: Sendable, Hashable {
    /// An absolute path.
    case local(String)
    /// A repository, and the requirement as SwiftPM writes it, such as `from: "1.2.3"`.
    case remote(url: String, requirement: String)
    /// The project does not say.
    case unknown
  }

  package let name: String
  package let place: Place

  package init(name: String, place: Place) {
    self.name = name
    self.place = place
  }
}
