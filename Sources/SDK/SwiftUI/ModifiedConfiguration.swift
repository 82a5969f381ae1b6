// SPDX-License-Identifier: Apache-2.0

/// A configuration with an addition to its description.
nonisolated package struct ModifiedConfiguration<Content: WidgetConfiguration>: WidgetConfiguration {
  private let content: Content
  private let modify: (inout WidgetDescription) -> Void

  package init(content: Content, modify: @escaping (inout WidgetDescription) -> Void) {
    self.content = content
    self.modify = modify
  }

  @MainActor package var body: Never { fatalError("a modified configuration has no body") }

  @MainActor package func _describe(in holder: _DescriptionHolder) {
    content._describe(in: holder)
    modify(&holder.description)
  }
}
