// SPDX-License-Identifier: Apache-2.0

/// A configuration with an addition to its description.
nonisolated package struct ModifiedConfiguration<Content: WidgetConfiguration>: WidgetConfiguration,
  DescribedConfiguration
{
  private let content: Content
  private let modify: (inout WidgetDescription) -> Void

  package init(content: Content, modify: @escaping (inout WidgetDescription) -> Void) {
    self.content = content
    self.modify = modify
  }

  @MainActor package var body: Never { fatalError("a modified configuration has no body") }

  @MainActor package func describe(_ description: inout WidgetDescription) {
    content.add(to: &description)
    modify(&description)
  }
}
