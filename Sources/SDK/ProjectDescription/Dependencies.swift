// SPDX-License-Identifier: Apache-2.0

/// What a target depends on.
public struct TargetDependency: Equatable, Sendable {
  let description: Description

  private init(_ keys: [String: Description?], _ condition: PlatformCondition? = nil) {
    // What counts only for other platforms is no dependency here.
    description = condition?.isForDevice == false ? .map([:]) : .keys(keys)
  }

  public static func target(
    name: String, status: LinkingStatus = .required, condition: PlatformCondition? = nil
  ) -> TargetDependency {
    TargetDependency(["target": .text(name)], condition)
  }
  public static func target(
    _ target: Target, status: LinkingStatus = .required, condition: PlatformCondition? = nil
  ) -> TargetDependency {
    .target(name: target.name, condition: condition)
  }
  public static func project(
    target: String, path: Path, status: LinkingStatus = .required, condition: PlatformCondition? = nil
  ) -> TargetDependency {
    TargetDependency(["target": .text(target), "project": path.description], condition)
  }
  public static func sdk(
    name: String, type: SDKType, status: LinkingStatus = .required, condition: PlatformCondition? = nil
  ) -> TargetDependency {
    TargetDependency(["sdk": .text(name)], condition)
  }
  public static func sdk(
    name: String, status: LinkingStatus = .required, condition: PlatformCondition? = nil
  ) -> TargetDependency {
    TargetDependency(["sdk": .text(name)], condition)
  }
  public static func package(
    product: String, type: PackageType = .runtime, condition: PlatformCondition? = nil
  ) -> TargetDependency {
    TargetDependency(["product": .text(product)], condition)
  }
  public static func external(name: String, condition: PlatformCondition? = nil) -> TargetDependency {
    TargetDependency(["external": .text(name)], condition)
  }
  public static func framework(
    path: Path, status: LinkingStatus = .required, condition: PlatformCondition? = nil
  ) -> TargetDependency {
    TargetDependency(["binary": path.description], condition)
  }
  public static func xcframework(
    path: Path, status: LinkingStatus = .required, condition: PlatformCondition? = nil
  ) -> TargetDependency {
    TargetDependency(["binary": path.description], condition)
  }
  public static func library(
    path: Path, publicHeaders: Path, swiftModuleMap: Path?, condition: PlatformCondition? = nil
  ) -> TargetDependency {
    TargetDependency(["binary": path.description], condition)
  }
  public static func macro(name: String) -> TargetDependency { TargetDependency(["binary": .text(name)]) }
  public static var xctest: TargetDependency { TargetDependency([:]) }

  public enum PackageType: Sendable { case runtime, runtimeEmbedded, plugin, macro }
}

public enum LinkingStatus: Sendable { case required, optional, none }
public enum SDKType: Sendable { case library, framework, swiftLibrary }

/// A Swift package.
public struct Package: Equatable, Sendable {
  let description: Description

  /// Which versions of a package are meant, in SwiftPM's words.
  public struct Requirement: Equatable, Sendable {
    let text: String
    public static func upToNextMajor(from version: Version) -> Requirement {
      Requirement(text: "from: \"\(version.text)\"")
    }
    public static func upToNextMinor(from version: Version) -> Requirement {
      Requirement(text: ".upToNextMinor(from: \"\(version.text)\")")
    }
    public static func range(from: Version, to: Version) -> Requirement {
      Requirement(text: "\"\(from.text)\"..<\"\(to.text)\"")
    }
    public static func exact(_ version: Version) -> Requirement { Requirement(text: "exact: \"\(version.text)\"") }
    public static func branch(_ name: String) -> Requirement { Requirement(text: "branch: \"\(name)\"") }
    public static func revision(_ name: String) -> Requirement { Requirement(text: "revision: \"\(name)\"") }
  }

  public static func package(url: String, _ requirement: Requirement) -> Package {
    remote(url: url, requirement: requirement)
  }
  public static func package(url: String, from version: Version) -> Package {
    remote(url: url, requirement: .upToNextMajor(from: version))
  }
  public static func package(url: String, exact version: Version) -> Package {
    remote(url: url, requirement: .exact(version))
  }
  public static func package(url: String, branch: String) -> Package { remote(url: url, requirement: .branch(branch)) }
  public static func package(url: String, revision: String) -> Package {
    remote(url: url, requirement: .revision(revision))
  }
  public static func package(url: String, _ range: Range<Version>) -> Package {
    remote(url: url, requirement: .range(from: range.lowerBound, to: range.upperBound))
  }
  public static func package(url: String, _ range: ClosedRange<Version>) -> Package {
    let upper = range.upperBound
    return remote(
      url: url,
      requirement: .range(from: range.lowerBound, to: Version(upper.major, upper.minor, upper.patch + 1)))
  }
  public static func package(path: Path) -> Package { local(path: path) }
  public static func remote(url: String, requirement: Requirement) -> Package {
    Package(description: .map(["url": .text(url), "requirement": .text(requirement.text)]))
  }
  public static func local(path: Path) -> Package { Package(description: .map(["path": path.description])) }
}
