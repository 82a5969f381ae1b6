// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AuthorProjects
import Foundation

/// `widgetlab new`.
struct NewCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "new",
    abstract: "Writes a SwiftPM package and widgetlab.yaml for the widget extensions of an Xcode project.",
    discussion: """
      Reads the project, and writes a package beside it: links to the sources, the asset catalogs and the translations \
      of each widget extension, its build settings, identifiers, app groups and entitlements, and an app in place of the \
      one that contains it. Nothing of the project is copied or changed. It lists what it leaves out, with the reason. \
      Run it again after a change of the project: it updates the package, and keeps Package.swift, widgetlab.yaml and \
      the app if you have changed them.

      PATH is a .xcodeproj, a .xcworkspace, a project.yml of XcodeGen, a Project.swift of Tuist, or a folder. A folder \
      without any of these is searched for Swift files with `@main` and a Widget or a WidgetBundle. A manifest of Tuist is \
      compiled and run.

      Targets of local Swift packages become targets of the package, and products of others its dependencies.

      In `#if`, os(iOS) is true: a file with such a condition is not a link, but a view in which the condition is \
      replaced. Errors name the lines of your file. The view is written by this command and by `widgetlab run`.

      With a name and without --from it writes a new package: a widget, an app, a test and widgetlab.yaml.

      EXAMPLES
        widgetlab new Weather && cd Weather && widgetlab run
        widgetlab new --from Weather.xcodeproj
        widgetlab new --from ~/Weather --output /tmp/weather
        cd Weather-WidgetLab && swift build && widgetlab up
      """)

  @Option(help: ArgumentHelp("The project.", valueName: "path"))
  var from: String?

  @Argument(help: ArgumentHelp("The name of a new package, and of its folder.", valueName: "name"))
  var name: String?

  @OptionGroup var options: ProjectOptions

  func validate() throws {
    guard from == nil || name == nil else { throw ValidationError("either a name or --from, not both") }
    guard from != nil || name != nil else { throw ValidationError("a name or --from is missing") }
  }

  func run() async throws {
    try await reporting {
      if let name { return try await write(new: name) }
      guard let from else { return }
      let package = try await ProjectPackage(from, options)
      let changes = try package.write()
      for text in package.report(changes) { Output.printText(text) }
      Output.print("next: `widgetlab run \(from)`, or in \(package.folder.path) `swift build` and `widgetlab up`")
    }
  }

  private func write(new name: String) async throws {
    let folder = options.output ?? name
    let package = try StarterPackage(name, try await WidgetLabPackage.choose(options.widgetlab))
    try package.write(to: URL(fileURLWithPath: folder).standardizedFileURL.path)
    Output.print("wrote \(folder)")
    Output.print("next: `cd \(folder)` and `widgetlab run`")
  }
}
