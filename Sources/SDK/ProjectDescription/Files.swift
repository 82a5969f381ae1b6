// SPDX-License-Identifier: Apache-2.0

/// A pattern of source files.
public struct SourceFileGlob: ExpressibleByStringInterpolation, Equatable, Sendable {
  let pattern: Path
  let excluding: [Path]

  public static func glob(
    _ pattern: Path, excluding: [Path] = [], compilerFlags: String? = nil, codeGen: FileCodeGen? = nil,
    compilationCondition: PlatformCondition? = nil
  ) -> SourceFileGlob {
    make(pattern, excluding: excluding, condition: compilationCondition)
  }
  public static func generated(
    _ path: Path, compilerFlags: String? = nil, codeGen: FileCodeGen? = nil,
    compilationCondition: PlatformCondition? = nil
  ) -> SourceFileGlob {
    make(path, excluding: [], condition: compilationCondition)
  }

  /// What counts only for other platforms names no file.
  static func make(_ pattern: Path, excluding: [Path], condition: PlatformCondition?) -> SourceFileGlob {
    SourceFileGlob(pattern: condition?.isForDevice == false ? "" : pattern, excluding: excluding)
  }

  init(pattern: Path, excluding: [Path]) { (self.pattern, self.excluding) = (pattern, excluding) }
  public init(stringLiteral value: String) { self.init(pattern: Path(value), excluding: []) }

  var description: Description {
    .map(["pattern": pattern.description, "excluding": .list(excluding.map(\.description))])
  }
}

public struct SourceFilesList: ExpressibleByArrayLiteral, ExpressibleByStringInterpolation, Equatable, Sendable {
  let globs: [SourceFileGlob]

  public static func sourceFilesList(globs: [SourceFileGlob]) -> SourceFilesList { SourceFilesList(globs) }
  public static func paths(_ paths: [Path]) -> SourceFilesList {
    SourceFilesList(paths.map { SourceFileGlob(pattern: $0, excluding: []) })
  }

  init(_ globs: [SourceFileGlob]) { self.globs = globs }
  public init(arrayLiteral elements: SourceFileGlob...) { self.init(elements) }
  public init(stringLiteral value: String) { self.init([SourceFileGlob(stringLiteral: value)]) }
}

/// A pattern of resources, or a folder that keeps its structure.
public struct ResourceFileElement: ExpressibleByStringInterpolation, Equatable, Sendable {
  let description: Description

  public static func glob(
    pattern: Path, excluding: [Path] = [], tags: [String] = [], inclusionCondition: PlatformCondition? = nil
  ) -> ResourceFileElement {
    ResourceFileElement(
      description: SourceFileGlob.make(pattern, excluding: excluding, condition: inclusionCondition).description)
  }
  public static func folderReference(
    path: Path, tags: [String] = [], inclusionCondition: PlatformCondition? = nil
  ) -> ResourceFileElement {
    inclusionCondition?.isForDevice == false ? "" : ResourceFileElement(description: .map(["folder": path.description]))
  }

  init(description: Description) { self.description = description }
  public init(stringLiteral value: String) { self = .glob(pattern: Path(value)) }
}

public struct ResourceFileElements: ExpressibleByArrayLiteral, ExpressibleByStringInterpolation, Equatable, Sendable {
  let elements: [ResourceFileElement]

  public static func resources(
    _ resources: [ResourceFileElement], privacyManifest: PrivacyManifest? = nil
  ) -> ResourceFileElements {
    ResourceFileElements(resources)
  }

  init(_ elements: [ResourceFileElement]) { self.elements = elements }
  public init(arrayLiteral elements: ResourceFileElement...) { self.init(elements) }
  public init(stringLiteral value: String) { self.init([ResourceFileElement(stringLiteral: value)]) }
}

/// A folder that Xcode synchronises with a target.
public struct BuildableFolder: ExpressibleByStringInterpolation, Equatable, Sendable {
  let description: Description

  public static func folder(_ path: Path, exceptions: BuildableFolderExceptions = []) -> BuildableFolder {
    BuildableFolder(description: .map(["folder": path.description, "excluding": .texts(exceptions.excluded)]))
  }

  init(description: Description) { self.description = description }
  public init(stringLiteral value: String) { self = .folder(Path(value)) }
}

public struct BuildableFolderException: Equatable, Sendable {
  let excluded: [Path]
  public static func exception(excluded: [Path] = [], compilerFlags: [Path: String] = [:]) -> BuildableFolderException {
    BuildableFolderException(excluded: excluded)
  }
}

public struct BuildableFolderExceptions: ExpressibleByArrayLiteral, Equatable, Sendable {
  let excluded: [String]
  public static func exceptions(_ exceptions: [BuildableFolderException]) -> BuildableFolderExceptions {
    BuildableFolderExceptions(excluded: exceptions.flatMap { $0.excluded.map(\.pathString) })
  }
  init(excluded: [String]) { self.excluded = excluded }
  public init(arrayLiteral elements: BuildableFolderException...) { self = .exceptions(elements) }
}

public struct FileElement: ExpressibleByStringInterpolation, Equatable, Sendable {
  public static func glob(pattern: Path) -> FileElement { FileElement() }
  public static func folderReference(path: Path) -> FileElement { FileElement() }
  init() {}
  public init(stringLiteral value: String) {}
}

public enum FileCodeGen: Sendable { case `public`, `private`, project, disabled }

/// The platforms for which something counts.
public struct PlatformCondition: Equatable, Sendable {
  let platforms: [String]
  public static func when(_ platforms: Set<PlatformFilter>) -> PlatformCondition? {
    platforms.isEmpty ? nil : PlatformCondition(platforms: platforms.map(\.rawValue).sorted())
  }
  var isForDevice: Bool { platforms.contains("ios") || platforms.contains("watchos") }
}

public enum PlatformFilter: String, Sendable { case ios, macos, tvos, catalyst, driverkit, watchos, visionos }
