package import Archive

/// A view with one modifier that the archive knows by its name.
nonisolated struct ModifiedView<Content: View>: View, WrappingView {
  typealias Body = Never

  let content: Content
  let name: String
  let arguments: [String: ArchivedValue]
  let views: [any View]
  let environment: ((inout EnvironmentValues) -> Void)?

  @MainActor func unwrapped(
    in context: inout ArchivingContext, adding modifiers: inout [ViewArchive.Modifier]
  ) throws(ArchiveRefusal) -> any View {
    var archives: [ViewArchive] = []
    for view in views { archives.append(try context.archive(of: view)) }
    modifiers.append(ViewArchive.Modifier(name, arguments, views: archives))
    environment?(&context.environment)
    return content
  }
}

extension View {
  /// The view with a modifier.
  ///
  /// - Parameters:
  ///   - name: the modifier's own.
  ///   - arguments: by their labels.
  ///   - views: those that the modifier brings, in the environment around the view.
  ///   - environment: what the views within read because of it.
  nonisolated package func modified(
    _ name: String, _ arguments: [String: ArchivedValue?] = [:], views: [any View] = [],
    environment: ((inout EnvironmentValues) -> Void)? = nil
  ) -> some View {
    ModifiedView(
      content: self, name: name, arguments: arguments.compactMapValues { $0 }, views: views, environment: environment)
  }
}

/// A view whose inner views read other values. It leaves no trace in the archive but theirs.
nonisolated struct EnvironmentView<Content: View>: View, WrappingView {
  typealias Body = Never

  let content: Content
  let change: (inout EnvironmentValues) -> Void

  @MainActor func unwrapped(
    in context: inout ArchivingContext, adding modifiers: inout [ViewArchive.Modifier]
  ) -> any View {
    change(&context.environment)
    return content
  }
}
