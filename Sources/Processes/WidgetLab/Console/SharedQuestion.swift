// SPDX-License-Identifier: Apache-2.0

/// One question that several callers ask at a time. At most one is being answered, and at most one waits: a caller that
/// comes while an answer is being made gets the next one, which is not older than its question.
actor SharedQuestion<Answer: Sendable> {
  private var current: Task<Answer, any Error>?
  private var next: Task<Answer, any Error>?

  /// Asks, or waits for the same answer as another caller.
  func ask(_ question: @escaping @Sendable () async throws -> Answer) async throws -> Answer {
    if let next { return try await next.value }
    guard let running = current else {
      let task = Task { try await question() }
      current = task
      return try await finish(task)
    }
    let task = Task {
      _ = try? await running.value
      self.begin()
      return try await question()
    }
    next = task
    return try await finish(task)
  }

  /// The waiting question is asked now: later callers wait for another one.
  private func begin() {
    current = next
    next = nil
  }

  private func finish(_ task: Task<Answer, any Error>) async throws -> Answer {
    defer { if current == task { current = nil } }
    return try await task.value
  }
}

/// Equal questions by key.
actor SharedQuestions<Key: Hashable & Sendable, Answer: Sendable> {
  private var questions: [Key: SharedQuestion<Answer>] = [:]

  /// Asks, or waits for the same answer as another caller with an equal key.
  func ask(_ key: Key, _ question: @escaping @Sendable () async throws -> Answer) async throws -> Answer {
    let shared = questions[key] ?? SharedQuestion()
    questions[key] = shared
    return try await shared.ask(question)
  }
}
