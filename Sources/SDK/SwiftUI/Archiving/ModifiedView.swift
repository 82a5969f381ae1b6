// SPDX-License-Identifier: Apache-2.0

package import Archive

/// A view with one modifier, which is archived by its name.
nonisolated struct ModifiedView<Content: View>: View, WrappingView {
  typealias Body = Never

  let content: Content
  let name: ModifierName
  let arguments: [String: ArchivedValue]
  let texts: [String: Text]
  let views: [any View]
  let environment: ((inout EnvironmentValues) -> Void)?

  @MainActor func unwrapped(
    in context: inout ArchivingContext, adding modifiers: inout [ViewArchive.Modifier]
  ) throws(ArchiveRefusal) -> any View {
    var archives: [ViewArchive] = []
    for view in views { archives.append(try context.archive(of: view)) }
    var arguments = arguments
    for (label, text) in texts { arguments[label] = .string(text.resolved(in: context.environment)) }
    modifiers.append(ViewArchive.Modifier(name, arguments, views: archives))
    environment?(&context.environment)
    return content
  }
}

extension View {
  /// Returns the view with a modifier.
  ///
  /// - Parameters:
  ///   - name: the modifier's name in the archive.
  ///   - arguments: the arguments by their labels.
  ///   - texts: arguments in the language of the environment outside this view.
  ///   - views: the modifier's views, archived in the environment outside this view.
  ///   - environment: changes the values that the views inside read.
  nonisolated package func modified(
    _ name: ModifierName, _ arguments: [String: ArchivedValue?] = [:], texts: [String: Text] = [:],
    views: [any View] = [], environment: ((inout EnvironmentValues) -> Void)? = nil
  ) -> some View {
    ModifiedView(
      content: self, name: name, arguments: arguments.compactMapValues { $0 }, texts: texts, views: views,
      environment: environment)
  }
}

/// A view that changes the environment of the views inside it. The archive contains only those views.
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
