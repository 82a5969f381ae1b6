// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The words and phrases that no file of the project may contain, each with a plain replacement. The project's first
/// version used them. The first text of each pair is a quotation of the old word. The list may only grow.
enum PlainEnglish {
  /// Phrases in lower case, as words separated by single spaces.
  static let phrases: [(phrase: String, instead: String)] = [
    ("anew", "again"),
    ("anybody", "any process, any user"),
    ("birth", "launch"),
    ("births", "launches"),
    ("by whose word", "the source"),
    ("by its word", "according to it"),
    ("came to nothing", "had no effect"),
    ("comes to nothing", "has no effect"),
    ("everybody", "every receiver"),
    ("heard", "received, learned"),
    ("hears", "receives, learns"),
    ("him", "the user, the process"),
    ("his", "the user's, the process's"),
    ("keeper", "service"),
    ("keepers", "services"),
    ("lives", "runs, is in, process instances"),
    ("a life", "a process instance"),
    ("each life", "each process instance"),
    ("former life", "earlier process instance"),
    ("its life", "its process instance"),
    ("last life", "last process instance"),
    ("next life", "next process instance"),
    ("the life", "the process instance"),
    ("meanwhile", "during that time"),
    ("nobody", "no process, no user"),
    ("of itself", "its own"),
    ("of its own", "its own"),
    ("of their own", "their own"),
    ("of which there is", "use a direct sentence"),
    ("one after another", "in order"),
    ("one after the other", "in order"),
    ("owed", "due, pending"),
    ("says so", "reports, documents"),
    ("somebody", "a process, a user"),
    ("speaks of", "announces, mentions"),
    ("spoken of", "announced, mentioned"),
    ("stands in", "is in, replaces"),
    ("stands for", "represents"),
    ("stumbles", "encounters"),
    ("the house", "the repository"),
    ("thereby", "so"),
    ("there is none", "delete the comment"),
    ("told", "receives, is notified"),
    ("trips over", "encounters"),
    ("walks into", "encounters"),
    ("what becomes of", "the result of"),
    ("what came of", "the result of"),
    ("what comes of", "the result of"),
    ("who are", "name the actor"),
    ("who asks", "name the actor"),
    ("who comes", "name the actor"),
    ("who has", "name the actor"),
    ("who is", "name the actor"),
    ("who needs", "name the actor"),
    ("who reads", "name the actor"),
    ("who says", "name the actor"),
    ("who waits", "name the actor"),
    ("who wants", "name the actor"),
    ("who was", "name the actor"),
    ("whoever", "the client, any process that"),
    ("wing", "layer"),
    ("wings", "layers"),
  ]

  /// Identifiers that were replaced: types, modules, commands of the first vocabulary.
  static let retired: [(name: String, instead: String)] = [
    ("AddressBook", "InstanceRegistry"),
    ("AuthoredProcess", "AuthorRuntime"),
    ("BackgroundURLSession", "URLSessionAPI"),
    ("BirthCertificate", "LaunchContext"),
    ("Complaint", "CommandError"),
    ("Conversations", "Messages"),
    ("ConversationTable", "MessageTable"),
    ("ForegroundURLSession", "URLSessionAPI"),
    ("GalleryKeeper", "GalleryService"),
    ("KeptProcess", "SupervisedProcess"),
    ("LaunchDecision", "LaunchStateMachine"),
    ("PushFront", "APNsServer"),
    ("PushKeeper", "PushService, PushDeliveryService"),
    ("RoomExecutor", "ServiceExecutor"),
    ("TimelineDecision", "TimelineStateMachine"),
    ("TimelineKeeper", "TimelineService"),
    ("TransferDaemon", "TransferService"),
    ("WhoAreYou", "HelloRequired"),
  ]

  private struct Entry {
    let words: [String]
    let advice: String
  }

  /// The phrases by their first word, so that a line costs one lookup for each of its words.
  private static let index: [String: [Entry]] = Dictionary(
    grouping: phrases.map { phrase, instead in
      Entry(words: phrase.split(separator: " ").map(String.init), advice: "\"\(phrase)\": write \(instead)")
    }
      + retired.map { name, instead in Entry(words: [name.lowercased()], advice: "\(name) is now \(instead)") },
    by: { $0.words[0] })

  /// Returns an advice for each listed phrase in a line of prose.
  static func advice(on line: String) -> [String] {
    let words = line.lowercased().split { !$0.isLetter && !$0.isNumber && $0 != "'" }.map(String.init)
    return words.indices.flatMap { start in
      (index[words[start]] ?? []).filter { words[start...].starts(with: $0.words) }.map(\.advice)
    }
  }

  /// Returns the findings of a document, and of any file that is read as a whole.
  static func findings(in path: String, _ text: String) -> [Finding] {
    zip(1..., text.split(separator: "\n", omittingEmptySubsequences: false)).flatMap { number, line in
      advice(on: String(line)).map { Finding(path: path, line: number, advice: $0) }
    }
  }

  /// Files that quote the old words.
  private static let exempt: Set<String> = ["CHANGELOG.md", "Tests/RepositoryTests/PlainEnglishRule.swift"]

  /// Whether a tracked file has prose for people: Swift files, documents, scripts and their data.
  static func applies(to path: String) -> Bool {
    guard !exempt.contains(path), !path.contains("/corpus/") else { return false }
    return [".swift", ".md", ".py", ".sh", ".yml", ".yaml", ".txt", "Dockerfile"].contains { path.hasSuffix($0) }
      || path.split(separator: "/").last?.contains(".") == false
  }
}
