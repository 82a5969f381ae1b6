// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Finds widget extensions in a folder without an Xcode project: the folders that have a Swift file with `@main` and a
/// `Widget` or a `WidgetBundle`.
struct FolderReader {
  private let root: String
  private let files: any ProjectFiles

  init(_ root: String, files: any ProjectFiles) {
    self.root = root
    self.files = files
  }

  /// - Throws: `no-widget`.
  func project() throws(ProjectError) -> AuthorProject {
    var folders: [String] = []
    for entry in SourceSearch(root).entries(files) {
      let folder = target(of: entry)
      if !folders.contains(folder) { folders.append(folder) }
    }
    guard !folders.isEmpty else {
      throw ProjectError(
        .noWidget, "no Xcode project and no Swift file with a widget is here", at: root,
        advice: "name the folder that has `@main` and a type that conforms to Widget or WidgetBundle")
    }
    let name = FilePath.name(root)
    return AuthorProject(
      name: name, path: root, widgets: folders.map { widget(in: $0, others: folders, project: name) })
  }

  /// The folder of the target: that below `Sources`, or the nearest one with an `Info.plist` of a widget extension, or
  /// else that of the file.
  private func target(of entry: String) -> String {
    let ownFolder = FilePath.folder(entry)
    var folder = ownFolder
    while folder.hasPrefix(root) {
      if FilePath.name(FilePath.folder(folder)) == "Sources" { return folder }
      if infoPlist(in: folder) != nil || files.entries(of: folder)?.contains("expo-target.config.js") == true {
        return folder
      }
      guard folder != root else { break }
      folder = FilePath.folder(folder)
    }
    return ownFolder
  }

  private func infoPlist(in folder: String) -> String? {
    let names = (files.entries(of: folder) ?? []).filter { $0.hasSuffix("Info.plist") }
    return names.map { folder + "/" + $0 }.first { path in
      let keys = files.propertyList(path)?["NSExtension"] as? [String: Any]
      return keys?["NSExtensionPointIdentifier"] as? String == "com.apple.widgetkit-extension"
    }
  }

  private func widget(in folder: String, others: [String], project: String) -> WidgetTarget {
    let name = folder == root ? project : FilePath.name(folder)
    var widget = WidgetTarget(name: name, module: XcodeSettings.identifier(name, "_"), bundle: "")
    var members = XcodeMembers()
    let nested = others.filter { $0 != folder && $0.hasPrefix(folder + "/") }
    let plist = infoPlist(in: folder)
    for path in SourceFolder(path: folder).files(files)
    where path != plist && !nested.contains(where: { path.hasPrefix($0 + "/") }) && !isTest(path, in: folder) {
      if FilePath.name(path) != "Package.swift" { members.add(path, isResource: true) }
    }
    widget.sources = members.sources
    widget.resources = members.resources
    widget.definitions = members.definitions
    widget.infoPlist = plist
    let references = plist.flatMap { files.text($0) }.map { XcodeSettings.references(in: $0) } ?? []
    for name in references.subtracting(ClusterFile.knownSettings).sorted() {
      widget.infoPlistSettings[name] = ""
      members.notes.append(
        ProjectNote("$(\(name))", "this build setting is not known without an Xcode project; its value is empty here"))
    }
    widget.compiler.conditions = ["DEBUG"]
    if let package = package(around: folder) {
      // The target of this name in its manifest, which says what it depends on.
      widget.products = [PackageProduct(name: name, place: .local(package))]
      widget.isPackageTarget = true
    }
    widget.notes = members.notes
    if files.entries(of: folder)?.contains("expo-target.config.js") == true {
      widget.notes.append(
        ProjectNote("expo-target.config.js", "is not read; the colours and images that it generates are missing"))
    }
    identify(&widget, folder: folder, project: project)
    return widget
  }

  /// The nearest folder with a manifest of SwiftPM, from a target's folder to the root.
  private func package(around folder: String) -> String? {
    var folder = folder
    while folder.hasPrefix(root) {
      if files.contents(folder + "/Package.swift") != nil { return folder }
      guard folder != root else { break }
      folder = FilePath.folder(folder)
    }
    return nil
  }

  private func isTest(_ path: String, in folder: String) -> Bool {
    FilePath.relative(path, to: folder).split(separator: "/").dropLast().contains { $0.hasSuffix("Tests") }
  }

  private func identify(_ widget: inout WidgetTarget, folder: String, project: String) {
    var settings = XcodeSettings([])
    if let path = (files.entries(of: folder) ?? []).first(where: { $0.hasSuffix(".entitlements") }),
      let keys = files.propertyList(folder + "/" + path)
    {
      widget.entitlements = WidgetEntitlements(keys, &settings)
    }
    let name = XcodeSettings.identifier(widget.name, "-")
    if let (bundle, file) = expoIdentifier(from: folder) {
      widget.app.bundle = bundle
      widget.notes.append(
        ProjectNote("the bundle identifiers", "begin with \(bundle), from \(FilePath.relative(file, to: root))"))
    } else {
      widget.app.bundle = "com.example.\(XcodeSettings.identifier(project, "-"))"
      widget.notes.append(
        ProjectNote("the bundle identifiers", "are not known without an Xcode project; they are in widgetlab.yaml"))
    }
    widget.bundle = "\(widget.app.bundle).\(name)"
    widget.app.displayName = project
  }

  /// `ios.bundleIdentifier` of the nearest `app.json`. Source: Expo, *Configuration with app.json*.
  private func expoIdentifier(from folder: String) -> (bundle: String, file: String)? {
    var folder = folder
    while folder.hasPrefix(root) {
      let file = folder + "/app.json"
      if let data = files.contents(file), let keys = try? JSONSerialization.jsonObject(with: data) as? [String: Any] {
        let expo = keys["expo"] as? [String: Any] ?? keys
        if let bundle = (expo["ios"] as? [String: Any])?["bundleIdentifier"] as? String { return (bundle, file) }
      }
      guard folder != root else { break }
      folder = FilePath.folder(folder)
    }
    return nil
  }
}
