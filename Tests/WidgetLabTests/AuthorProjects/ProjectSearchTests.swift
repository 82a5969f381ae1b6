// SPDX-License-Identifier: Apache-2.0

import AuthorProjects
import Testing

@Suite struct `The search for a project` {
  private static let widget = "import WidgetKit\n@main\nstruct Weather: Widget {}\n"

  @Test(arguments: ["/p", "/p/App", "/p/App/Weather.xcodeproj/project.pbxproj", "/p/App/../App/Weather.xcodeproj"])
  func `a project is found from its folder, a folder above and its file`(path: String) throws {
    #expect(try SmallProject().read(path).path == SmallProject.path)
  }

  @Test func `a workspace names its projects`() throws {
    var project = SmallProject()
    project.files.texts["/p/All.xcworkspace/contents.xcworkspacedata"] = """
      <Workspace version = "1.0"><FileRef location = "group:App/Weather.xcodeproj"></FileRef></Workspace>
      """
    #expect(try project.read("/p/All.xcworkspace").name == "Weather")
  }

  @Test func `several projects with a widget are listed`() throws {
    var project = SmallProject()
    project.files.texts["/p/App/Other.xcodeproj/project.pbxproj"] = project.text
    let error = #expect(throws: ProjectError.self) { try project.read("/p") }
    #expect(error?.code == .ambiguous)
    #expect(error?.advice?.contains("/p/App/Other.xcodeproj") == true)
  }

  @Test func `a damaged project beside a good one does not matter`() throws {
    var project = SmallProject()
    project.files.texts["/p/Other.xcodeproj/project.pbxproj"] = "{"
    #expect(try project.read("/p").name == "Weather")
  }

  @Test func `a Project.swift that is no manifest of Tuist is a source`() throws {
    let files = FilesInMemory(texts: ["/p/Project.swift": "struct Project {}", "/p/W/Weather.swift": Self.widget])
    #expect(try AuthorProject.read("/p", files: files).widgets.count == 1)
  }

  @Test func `a folder without a project has a target for each entry point of a widget`() throws {
    let files = FilesInMemory(texts: [
      "/p/ios/Weather/App.swift": "@main struct App {}",
      "/p/targets/widget/Sub/Main.swift": "@main struct All: WidgetBundle {}",
      "/p/targets/widget/Info.plist": SmallProject.infoPlist, "/p/targets/widget/View.swift": "",
      "/p/targets/widget/expo-target.config.js": "",
      "/p/targets/widget/Assets.xcassets/a.json": "",
      "/p/Sources/Second/Deep/W.swift": Self.widget, "/p/Sources/Second/Other.swift": "",
      "/p/node_modules/x/W.swift": Self.widget, "/p/app.json": #"{"expo": {"ios": {"bundleIdentifier": "org.me"}}}"#,
    ])
    let project = try AuthorProject.read("/p", files: files)
    #expect(project.widgets.map(\.name) == ["Second", "widget"])
    #expect(project.widgets[0].sources == ["/p/Sources/Second/Deep/W.swift", "/p/Sources/Second/Other.swift"])
    #expect(project.widgets[1].sources == ["/p/targets/widget/Sub/Main.swift", "/p/targets/widget/View.swift"])
    #expect(project.widgets[1].bundle == "org.me.widget")
    #expect(project.widgets[1].notes.contains { $0.subject == "expo-target.config.js" })
    #expect(project.widgets[1].app.bundle == "org.me")
    #expect(project.widgets[1].infoPlistSettings == ["HOST": ""])
    #expect(project.widgets[1].notes.contains { $0.subject == "$(HOST)" })
    #expect(project.widgets[1].resources == ["Assets.xcassets": "/p/targets/widget/Assets.xcassets"])
  }

  @Test func `a folder without a widget is reported`() {
    let files = FilesInMemory(texts: [
      "/p/App.swift": "@main struct Weather: App {}", "/p/B.swift": "// @main struct B: Widget",
    ])
    let error = #expect(throws: ProjectError.self) { try AuthorProject.read("/p", files: files) }
    #expect(error?.code == .noWidget)
  }
}
