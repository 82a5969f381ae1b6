import Archive

/// A label that a style puts where it wants: the view that the author gave for it.
@MainActor protocol StyleLabel: WrappingView {
  nonisolated var view: any View { get }
}

extension StyleLabel {
  func unwrapped(in context: inout ArchivingContext, adding modifiers: inout [ViewArchive.Modifier]) -> any View {
    view
  }
}
