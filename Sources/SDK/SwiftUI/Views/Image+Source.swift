// SPDX-License-Identifier: Apache-2.0

import Archive
import AssetCatalogs
import Foundation
import UIKit

extension Image {
  /// Where the pixels of an image come from.
  enum Source: Sendable, Equatable {
    case asset(BundleAssets.Name)
    case file(UIImage)

    static func == (lhs: Source, rhs: Source) -> Bool {
      switch (lhs, rhs) {
      case (.asset(let left), .asset(let right)): left == right
      case (.file(let left), .file(let right)): left === right || left.data == right.data
      default: false
      }
    }

    /// The arguments of the archived image. An image that cannot be used has the reason instead of its bytes.
    ///
    /// - Throws: an `ArchiveRefusal` when it is too large, or all images together are.
    @MainActor func arguments(in context: ArchivingContext) throws(ArchiveRefusal) -> [String: ArchivedValue] {
      switch self {
      case .file(let image):
        if let asset = image.asset { return try Source.asset(asset).arguments(in: context) }
        if image.data.isEmpty { return ["pixelWidth": 0, "pixelHeight": 0, "problem": "it is an empty UIImage"] }
        let check = image.check
        let facts = ArchivedImages.Facts(
          digest: check.digest, content: .pixels(image.file), damage: check.damage.map { "\($0)" })
        return try Source.arguments(facts, image.data, scale: Double(image.scale), in: context)
      case .asset(let name):
        do {
          return try Source.arguments(of: name, in: context)
        } catch let refusal as ArchiveRefusal {
          throw refusal
        } catch {
          return ["problem": .string("\(error)")]
        }
      }
    }

    @MainActor private static func arguments(
      of name: BundleAssets.Name, in context: ArchivingContext
    ) throws -> [String: ArchivedValue] {
      let environment = context.environment
      var traits = AssetTraits(environment)
      var image = try BundleAssets.shared.image(name, for: traits)
      if image.dependsOnScheme, environment.colorScheme == .dark {
        traits.isDark = true
        image = try BundleAssets.shared.image(name, for: traits)
      }
      var data: Data?
      let read = { () -> Result<ArchivedImages.Facts, ImageProblem> in
        Result { () throws(ImageProblem) in
          let bytes = try Source.read(image)
          data = bytes.data
          return ArchivedImages.Facts(
            digest: ContentDigest.hexadecimal(of: bytes.data), content: bytes.content,
            damage: bytes.content.damage(in: bytes.data).map { "\(image.file.lastPathComponent): \($0)" })
        }
      }
      let result = environment.images?.facts(of: image.file, read) ?? read()
      switch result {
      case .failure(let problem): return ["problem": .string(problem.text)]
      case .success(let facts):
        var arguments = try Source.arguments(facts, data, scale: image.scale ?? 1, in: context)
        if let intent = image.renderingIntent { arguments["intent"] = .string(intent) }
        return arguments
      }
    }

    private static func read(
      _ image: AssetCatalog.Image
    ) throws(ImageProblem) -> (data: Data, content: ArchivedImages.Content) {
      do {
        let data = try BoundedFile.read(image.file, limit: BundleAssets.fileLimit)
        if image.isSymbol { return (data, .symbol(try SymbolTemplate(data))) }
        if VectorFile.isLikely(data) { return (data, .vector(try VectorFile(checking: data))) }
        return (data, .pixels(try ImageFile(header: data)))
      } catch {
        throw ImageProblem(text: "\(image.file.lastPathComponent): \(error)")
      }
    }

    /// - Parameter data: the bytes, unless the images of the timeline have them already.
    @MainActor private static func arguments(
      _ facts: ArchivedImages.Facts, _ data: Data?, scale: Double, in context: ArchivingContext
    ) throws(ArchiveRefusal) -> [String: ArchivedValue] {
      let limits = context.limits
      var arguments = facts.content.arguments(scale: scale, display: context.environment.displayScale)
      let area = (arguments["pixelWidth"]?.number ?? 0) * (arguments["pixelHeight"]?.number ?? 0)
      guard area <= limits.imageArea else {
        throw ArchiveRefusal(limit: .imageArea, subject: "an image", found: area, allowed: limits.imageArea)
      }
      if let damage = facts.damage {
        arguments["problem"] = .string(damage)
        return arguments
      }
      if let data, let images = context.environment.images {
        images.add(data, digest: facts.digest)
        guard images.total <= limits.bytes else {
          throw ArchiveRefusal(
            limit: .bytes, subject: "the images", found: Double(images.total), allowed: Double(limits.bytes))
        }
      }
      arguments["image"] = facts.digest.archived
      return arguments
    }
  }
}

extension AssetTraits {
  /// Whether the device is an iPad, as the agent says.
  private static let isPad =
    ProcessInfo.processInfo.environment["SIMULATOR_DEVICE_NAME"]?.hasPrefix("iPad") ?? false

  /// The device of this process, in the light scheme.
  static var ofDevice: AssetTraits { AssetTraits(isPad: isPad) }

  /// The light scheme: the environment's is read only for an asset that depends on it.
  init(_ environment: EnvironmentValues) {
    self.init(
      isPad: Self.isPad, scale: environment.displayScale,
      hasIncreasedContrast: environment.colorSchemeContrast == .increased,
      isRightToLeft: environment.layoutDirection == .rightToLeft)
  }
}
