// SPDX-License-Identifier: Apache-2.0

public import SwiftUI

private struct ModelContextKey: EnvironmentKey {
  /// Without a container, a context that has no types: fetches fail.
  static var defaultValue: ModelContext {
    do {
      return ModelContext(
        try ModelContainer(for: Schema(), configurations: [ModelConfiguration(isStoredInMemoryOnly: true)]))
    } catch {
      fatalError("no ModelContext for the environment: \(error)")
    }
  }
}

extension EnvironmentValues {
  public var modelContext: ModelContext {
    get { self[ModelContextKey.self] }
    set { self[ModelContextKey.self] = newValue }
  }
}

/// A container for a modifier. An error ends the process, as on a phone.
@MainActor private func container(
  _ types: [any PersistentModel.Type], inMemory: Bool, isAutosaveEnabled: Bool,
  onSetup: (Result<ModelContainer, any Error>) -> Void
) -> ModelContainer {
  do {
    let container = try ModelContainer(
      for: Schema(types), configurations: [ModelConfiguration(isStoredInMemoryOnly: inMemory)])
    container.mainContext.autosaveEnabled = isAutosaveEnabled
    onSetup(.success(container))
    return container
  } catch {
    onSetup(.failure(error))
    fatalError("modelContainer(for:) has no container: \(error)")
  }
}

extension View {
  nonisolated public func modelContext(_ modelContext: ModelContext) -> some View {
    environment(\.modelContext, modelContext)
  }

  @MainActor public func modelContainer(_ container: ModelContainer) -> some View {
    environment(\.modelContext, container.mainContext)
  }

  @MainActor public func modelContainer(
    for modelType: any PersistentModel.Type, inMemory: Bool = false, isAutosaveEnabled: Bool = true,
    isUndoEnabled: Bool = false, onSetup: @escaping (Result<ModelContainer, any Error>) -> Void = { _ in }
  ) -> some View {
    modelContainer(
      for: [modelType], inMemory: inMemory, isAutosaveEnabled: isAutosaveEnabled, isUndoEnabled: isUndoEnabled,
      onSetup: onSetup)
  }

  @MainActor public func modelContainer(
    for modelTypes: [any PersistentModel.Type], inMemory: Bool = false, isAutosaveEnabled: Bool = true,
    isUndoEnabled: Bool = false, onSetup: @escaping (Result<ModelContainer, any Error>) -> Void = { _ in }
  ) -> some View {
    modelContainer(
      container(modelTypes, inMemory: inMemory, isAutosaveEnabled: isAutosaveEnabled, onSetup: onSetup))
  }
}

extension Scene {
  nonisolated public func modelContext(_ modelContext: ModelContext) -> some Scene {
    EnvironmentScene(content: self) { $0.modelContext = modelContext }
  }

  @MainActor public func modelContainer(_ container: ModelContainer) -> some Scene {
    let context = container.mainContext
    return EnvironmentScene(content: self) { $0.modelContext = context }
  }

  @MainActor public func modelContainer(
    for modelType: any PersistentModel.Type, inMemory: Bool = false, isAutosaveEnabled: Bool = true,
    isUndoEnabled: Bool = false, onSetup: @escaping (Result<ModelContainer, any Error>) -> Void = { _ in }
  ) -> some Scene {
    modelContainer(
      for: [modelType], inMemory: inMemory, isAutosaveEnabled: isAutosaveEnabled, isUndoEnabled: isUndoEnabled,
      onSetup: onSetup)
  }

  @MainActor public func modelContainer(
    for modelTypes: [any PersistentModel.Type], inMemory: Bool = false, isAutosaveEnabled: Bool = true,
    isUndoEnabled: Bool = false, onSetup: @escaping (Result<ModelContainer, any Error>) -> Void = { _ in }
  ) -> some Scene {
    modelContainer(
      container(modelTypes, inMemory: inMemory, isAutosaveEnabled: isAutosaveEnabled, onSetup: onSetup))
  }
}
