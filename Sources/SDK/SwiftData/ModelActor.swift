// SPDX-License-Identifier: Apache-2.0

import Dispatch

/// Source: `SwiftData.ModelExecutor`.
public protocol ModelExecutor: Executor {
  var modelContext: ModelContext { get }
}

/// Source: `SwiftData.SerialModelExecutor`.
public protocol SerialModelExecutor: ModelExecutor, SerialExecutor {}

/// Runs the jobs of an actor with a context, in its own queue. Source: `SwiftData.DefaultSerialModelExecutor`.
public final class DefaultSerialModelExecutor: SerialModelExecutor {
  // Used by the jobs of one actor.
  nonisolated(unsafe) public let modelContext: ModelContext
  private let queue = DispatchQueue(label: "SwiftData.DefaultSerialModelExecutor")

  public init(modelContext: ModelContext) { self.modelContext = modelContext }

  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
}

/// An actor with its own context. Source: `SwiftData.ModelActor`.
public protocol ModelActor: Actor {
  nonisolated var modelContainer: ModelContainer { get }
  nonisolated var modelExecutor: any ModelExecutor { get }
}

extension ModelActor {
  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    guard let executor = modelExecutor as? any SerialModelExecutor else {
      fatalError("\(type(of: modelExecutor)) is not a SerialModelExecutor")
    }
    return executor.asUnownedSerialExecutor()
  }

  public var modelContext: ModelContext { modelExecutor.modelContext }

  /// The model with this identifier.
  public subscript<T: PersistentModel>(_ id: PersistentIdentifier, as type: T.Type) -> T? {
    modelContext.find(id) as? T
  }
}
