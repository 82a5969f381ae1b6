// SPDX-License-Identifier: Apache-2.0

package import Archive
package import Foundation

/// A view with its own representation in the archive.
@MainActor package protocol ArchivedView {
  /// Returns the view as the host stores and draws it.
  func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive
}

/// A view that is archived as another view, possibly with a changed context or an additional modifier.
@MainActor protocol WrappingView {
  /// Whether it evaluates a body of the author, whose `onAppear` may change its state.
  var hasBody: Bool { get }
  /// Returns the view to archive instead.
  ///
  /// - Parameters:
  ///   - context: the context in which that view is archived; the wrapping view may change it.
  ///   - modifiers: the modifiers of that view, last applied first; the wrapping view may append one.
  func unwrapped(
    in context: inout ArchivingContext, adding modifiers: inout [ViewArchive.Modifier]
  ) throws(ArchiveRefusal) -> any View
}

extension WrappingView {
  var hasBody: Bool { false }
}

/// The environment and limits under which a view is archived.
package struct ArchivingContext {
  /// The values that the views read.
  package var environment: EnvironmentValues
  let limits: ArchiveLimits
  private var depth = 0

  init(environment: EnvironmentValues, limits: ArchiveLimits) {
    self.environment = environment
    self.limits = limits
  }

  /// Archives a view inside the current one.
  @MainActor package func archive(of view: any View) throws(ArchiveRefusal) -> ViewArchive {
    var inner = self
    try inner.descend(into: view)
    return try inner.nested(view)
  }

  /// Archives the views inside the current one. The views of a group are returned separately, since a group has no
  /// layout.
  @MainActor package func children(of view: any View) throws(ArchiveRefusal) -> [ViewArchive] {
    let archive = try archive(of: view)
    return archive.name == .container(.group) && archive.modifiers.isEmpty ? archive.children : [archive]
  }

  /// Follows chains of modifiers and of bodies in a loop, so that they use no stack.
  @MainActor fileprivate func nested(_ view: any View) throws(ArchiveRefusal) -> ViewArchive {
    try nested(view, [], appeared: false)
  }

  /// What is needed to evaluate a body again.
  private struct Place {
    let view: any View
    let context: ArchivingContext
    let modifiers: [ViewArchive.Modifier]
    let closureCount: Int?
    let images: ArchivedImages.State?
  }

  /// - Parameters:
  ///   - modifiers: those around the view.
  ///   - appeared: whether the actions of `onAppear` in its body were called.
  @MainActor private func nested(
    _ view: any View, _ modifiers: [ViewArchive.Modifier], appeared: Bool
  ) throws(ArchiveRefusal) -> ViewArchive {
    var (context, view, modifiers) = (self, view, modifiers)
    var bodies: [Place] = []
    while true {
      if let archived = view as? any ArchivedView {
        var archive = try archived.archive(in: context)
        archive.modifiers += modifiers.reversed()
        for place in bodies.reversed() where place.context.environment.appearing?.end() == true {
          if let count = place.closureCount { place.context.environment.closures?.count = count }
          if let images = place.images { place.context.environment.images?.restore(images) }
          archive = try place.context.nested(place.view, place.modifiers, appeared: true)
        }
        return archive
      }
      let wrapping = view as? any WrappingView
      if let appearing = context.environment.appearing, wrapping?.hasBody != false {
        appearing.begin(again: appeared && bodies.isEmpty)
        bodies.append(
          Place(
            view: view, context: context, modifiers: modifiers, closureCount: context.environment.closures?.count,
            images: context.environment.images?.current))
      }
      if let wrapping {
        view = try wrapping.unwrapped(in: &context, adding: &modifiers)
      } else {
        try context.descend(into: view)
        context.enter(evaluating: view)
        view = context.body(of: view)
      }
    }
  }

  /// Goes one level deeper into the tree, to a view or to a part of one.
  package mutating func descend(into view: Any) throws(ArchiveRefusal) {
    depth += 1
    guard depth <= limits.depth else {
      throw ArchiveRefusal(
        limit: .depth, subject: "\(type(of: view))", found: Double(depth), allowed: Double(limits.depth))
    }
  }

  @MainActor private func body<Content: View>(of view: Content) -> any View {
    guard Content.Body.self != Never.self else {
      if Content.self is any UIViewRepresentable.Type || Content.self is any UIViewControllerRepresentable.Type {
        return UnsupportedUIKitView(name: "\(Content.self)")
      }
      fatalError("\(Content.self) has neither a body nor an archive")
    }
    return environment.during { view.body }
  }
}

extension View {
  /// Returns the view as the host stores and draws it: its archive, or that of its body.
  ///
  /// - Throws: an `ArchiveRefusal` when the views are nested too deep, or one of their images is too large.
  package func archived(
    in environment: EnvironmentValues, limits: ArchiveLimits = ArchiveLimits()
  ) throws(ArchiveRefusal) -> ViewArchive {
    try ArchivingContext(environment: environment, limits: limits).nested(self)
  }
}

/// The reason why a view cannot be archived. Definite.
package struct ArchiveRefusal: Error, Hashable, CustomStringConvertible {
  /// The limit of `ArchiveLimits` that is exceeded.
  package enum Limit: String, Sendable {
    case depth, imageArea, bytes
  }

  package let limit: Limit
  /// The first view beyond the depth limit, the image, or the images.
  package let subject: String
  package let found: Double
  package let allowed: Double

  /// A readable description.
  package var description: String {
    switch limit {
    case .depth:
      "the views are nested deeper than the limit `depth` of \(Int(saturating: allowed)), at \(subject.prefix(80))"
    case .imageArea:
      "\(subject) has \(Int(saturating: found)) pixels, more than the limit `imageArea` of \(allowed)"
    case .bytes:
      "\(subject) have \(Int(saturating: found)) bytes, more than the limit `bytes` of \(Int(saturating: allowed))"
    }
  }
}

/// A value of a modifier or a view that the archive can represent.
package protocol ArchivedArgument {
  /// The value without its Swift type.
  var archived: ArchivedValue { get }
}

extension Bool: ArchivedArgument {
  package var archived: ArchivedValue { .bool(self) }
}

extension Int: ArchivedArgument {
  package var archived: ArchivedValue { .number(Double(self)) }
}

extension Double: ArchivedArgument {
  package var archived: ArchivedValue { .number(self) }
}

extension CGFloat: ArchivedArgument {
  package var archived: ArchivedValue { .number(Double(self)) }
}

extension String: ArchivedArgument {
  package var archived: ArchivedValue { .string(self) }
}

extension Date: ArchivedArgument {
  package var archived: ArchivedValue { .date(self) }
}

extension URL: ArchivedArgument {
  package var archived: ArchivedValue { .string(absoluteString) }
}

extension CGPoint: ArchivedArgument {
  package var archived: ArchivedValue { .list([x.archived, y.archived]) }
}

extension CGSize: ArchivedArgument {
  package var archived: ArchivedValue { .record([.width: width.archived, .height: height.archived]) }
}

extension CGRect: ArchivedArgument {
  package var archived: ArchivedValue { .list([minX.archived, minY.archived, width.archived, height.archived]) }
}

extension Array: ArchivedArgument where Element: ArchivedArgument {
  package var archived: ArchivedValue { .list(map(\.archived)) }
}

/// An argument that is archived by its name, such as an enumeration's case.
protocol NamedArgument: ArchivedArgument {
  var name: String { get }
}

extension NamedArgument {
  package var archived: ArchivedValue { .string(name) }
}

/// An enumeration is archived as the name of its case.
extension NamedArgument {
  var name: String { "\(self)" }
}
