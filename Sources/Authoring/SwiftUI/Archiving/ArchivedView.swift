package import Archive

/// A view that the archive knows by itself.
@MainActor package protocol ArchivedView {
  /// The view as the host keeps and draws it.
  func archive(in context: ArchivingContext) throws(ArchiveRefusal) -> ViewArchive
}

/// A view that stands for another, and may say something about it.
@MainActor protocol WrappingView {
  /// The view that it stands for, which is archived in its place.
  ///
  /// - Parameters:
  ///   - context: what that view is archived in: the wrapping view may change it.
  ///   - modifiers: the modifiers of that view, the last applied first: the wrapping view may add one at the end.
  func unwrapped(
    in context: inout ArchivingContext, adding modifiers: inout [ViewArchive.Modifier]
  ) throws(ArchiveRefusal) -> any View
}

/// What a view is archived in.
package struct ArchivingContext {
  /// What the views in it read.
  package var environment: EnvironmentValues
  let limits: ArchiveLimits
  private var depth = 0

  init(environment: EnvironmentValues, limits: ArchiveLimits) {
    self.environment = environment
    self.limits = limits
  }

  /// A view within the one that is archived.
  @MainActor package func archive(of view: any View) throws(ArchiveRefusal) -> ViewArchive {
    var inner = self
    try inner.descend(into: view)
    return try inner.nested(view)
  }

  /// The views within the one that is archived: those of a group one by one, since a group has no place of its own.
  @MainActor package func children(of view: any View) throws(ArchiveRefusal) -> [ViewArchive] {
    let archive = try archive(of: view)
    return archive.name == "Group" && archive.modifiers.isEmpty ? archive.children : [archive]
  }

  /// Neither a chain of modifiers nor a chain of bodies takes stack: those within each other are walked in a loop.
  @MainActor fileprivate func nested(_ view: any View) throws(ArchiveRefusal) -> ViewArchive {
    var context = self
    var view = view
    var modifiers: [ViewArchive.Modifier] = []
    while true {
      if let archived = view as? any ArchivedView {
        var archive = try archived.archive(in: context)
        archive.modifiers += modifiers.reversed()
        return archive
      }
      if let wrapping = view as? any WrappingView {
        view = try wrapping.unwrapped(in: &context, adding: &modifiers)
      } else {
        try context.descend(into: view)
        view = context.body(of: view)
      }
    }
  }

  /// One step down the tree.
  mutating func descend(into view: any View) throws(ArchiveRefusal) {
    depth += 1
    guard depth <= limits.depth else {
      throw ArchiveRefusal(
        limit: .depth, subject: "\(type(of: view))", found: Double(depth), allowed: Double(limits.depth))
    }
  }

  @MainActor private func body<Content: View>(of view: Content) -> any View {
    guard Content.Body.self != Never.self else {
      preconditionFailure("\(Content.self) has neither a body nor an archive")
    }
    return environment.during { view.body }
  }
}

extension View {
  /// The view as the host keeps and draws it: its own archive, or that of its body.
  ///
  /// - Throws: an `ArchiveRefusal` when the views are nested too deep, or one of their images is too large.
  package func archived(
    in environment: EnvironmentValues, limits: ArchiveLimits = ArchiveLimits()
  ) throws(ArchiveRefusal) -> ViewArchive {
    try ArchivingContext(environment: environment, limits: limits).nested(self)
  }
}

/// Why a view has no archive. Definite.
package struct ArchiveRefusal: Error, Hashable, CustomStringConvertible {
  /// Which of `ArchiveLimits` it is over.
  package enum Limit: String, Sendable {
    case depth, imageArea
  }

  package let limit: Limit
  /// The view that is one too many, or the image.
  package let subject: String
  package let found: Double
  package let allowed: Double

  /// For a person.
  package var description: String {
    switch limit {
    case .depth:
      "the views are nested deeper than the limit `depth` of \(Int(allowed)): \(subject.prefix(80)) is one too many"
    case .imageArea:
      "\(subject) has \(Int(found)) pixels, more than the limit `imageArea` of \(allowed)"
    }
  }
}
