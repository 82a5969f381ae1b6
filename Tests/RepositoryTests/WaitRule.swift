// SPDX-License-Identifier: Apache-2.0

import Foundation

extension SourceRules {
  /// A file with waits that a time limit cannot end.
  struct UnendingWaits {
    var path: String
    /// The number of such waits in the file.
    var count: Int
    var reason: String

    init(_ path: String, _ count: Int, _ reason: String) {
      (self.path, self.count, self.reason) = (path, count, reason)
    }
  }

  /// A time limit cancels the task of a test, and the test ends only when its code returns. So each wait looks at the
  /// cancellation: a loop that asks again, a thread that blocks, a continuation that another thread resumes.
  static func endingWaits(_ file: SourceFile) -> [Finding] {
    guard file.path.hasPrefix("Tests/") || file.path.hasPrefix("Sources/Testing/"),
      !file.path.hasPrefix("Sources/Testing/Fixture")
    else { return [] }
    let allowed = unendingWaits.first { $0.path == file.path }?.count ?? 0
    let lines = unendingLoops(file.code) + blockingLines(file.code)
    if lines.count < allowed {
      let advice =
        "\(lines.count) waits that nothing ends, and the list of WaitRule.swift has \(allowed): shorten the list"
      return [Finding(path: file.path, line: 1, advice: advice)]
    }
    guard lines.count > allowed else { return [] }
    return lines.sorted().map { line in
      Finding(
        path: file.path, line: line + 1,
        advice:
          "a wait that a time limit cannot end: look at Task.isCancelled in a loop, give a blocking wait a limit, or "
          + "resume a continuation in a cancellation handler")
    }
  }

  /// Loops that ask an actor or another thread again, and do not look at the cancellation or a clock.
  private static func unendingLoops(_ code: [String]) -> [Int] {
    code.indices.filter { start in
      let line = code[start].drop { $0 == " " }
      guard line.hasPrefix("while ") || line.hasPrefix("repeat ") || line.contains("{ while ") else { return false }
      let body = loop(at: start, code)
      let asksAgain =
        body.contains("Task.yield()")
        // The end of a sequence, which comes at the latest with the cancellation, ends the loop.
        || code[start].contains("await") && !code[start].contains("let ") && !code[start].contains("next")
      let looks = ["isCancelled", "checkCancellation", "Task.sleep", "deadline", "ContinuousClock.now"]
      return asksAgain && !looks.contains { body.contains($0) }
    }
  }

  /// The text of the loop that begins on a line: until its braces are closed and, for `repeat`, its condition.
  private static func loop(at start: Int, _ code: [String]) -> String {
    var depth = 0
    var text = ""
    for line in code[start...] {
      text += line + "\n"
      depth += line.count { $0 == "{" } - line.count { $0 == "}" }
      if depth <= 0, text.contains("{") { return text }
    }
    return text
  }

  /// Calls that block a thread without a limit, and continuations in a file without a cancellation handler.
  private static func blockingLines(_ code: [String]) -> [Int] {
    let handles = code.contains { $0.contains("withTaskCancellationHandler") }
    let blocking = ["waitUntilExit()", ".wait()", "readLine(", "readToEnd()", "readDataToEndOfFile()"]
    let continuations = [
      "withCheckedContinuation", "withCheckedThrowingContinuation", "withUnsafeContinuation",
      "withUnsafeThrowingContinuation",
    ]
    return code.indices.filter { line in
      blocking.contains { code[line].contains($0) }
        || !handles && continuations.contains { code[line].contains($0) }
    }
  }
}

extension SourceRules {
  private static let callback = "a callback of the code under test, in this process"
  private static let tool = "a tool that reads no input, and ends by itself"
  private static let file = "a file on the disk, or a pipe whose writer has ended"

  /// The list may only become shorter: an entry that names more waits than the file has is a finding.
  static let unendingWaits: [UnendingWaits] = [
    UnendingWaits("Tests/APNsTests/PushDelivery/FleetTests.swift", 1, callback),
    UnendingWaits("Tests/APNsTests/PushDelivery/PushDeliveryFixture.swift", 1, callback),
    UnendingWaits("Tests/APNsTests/PushDelivery/PushDeliveryServiceTests.swift", 1, callback),
    UnendingWaits("Tests/APNsTests/PushDelivery/PushMemoryTests.swift", 1, callback),
    UnendingWaits("Tests/APNsTests/PushDelivery/ReplicaContentionTests.swift", 1, callback),
    UnendingWaits("Tests/APNsTests/PushDelivery/SharedFleetTests.swift", 2, callback),
    UnendingWaits("Tests/APNsTests/PushDelivery/SharedStoreTests.swift", 3, callback),
    UnendingWaits("Tests/BusTests/FaultPoints/FaultPointsTests.swift", 1, callback),
    UnendingWaits("Tests/BusTests/ZeroMQ/LoopTests.swift", 3, callback),
    UnendingWaits("Tests/BusTests/ZeroMQ/SocketFixture.swift", 2, callback),
    UnendingWaits("Tests/BusTests/ZeroMQ/SocketTests.swift", 1, callback),
    UnendingWaits("Tests/DeviceTests/Timelines/TimelineServiceTests.swift", 1, callback),
    UnendingWaits("Tests/DeviceTests/Transfers/IdleLimitTests.swift", 1, callback),
    UnendingWaits("Tests/LiveTests/Chaos/FollowedTail.swift", 1, file),
    UnendingWaits("Tests/LiveTests/LiveTrait.swift", 1, callback),
    UnendingWaits("Tests/ModelTests/Timekeeping/ServiceExecutorTests.swift", 1, callback),
    UnendingWaits("Tests/ObservabilityTests/Chaos/FailureFileTests.swift", 1, tool),
    UnendingWaits("Tests/ProcessesTests/ChildProcesses/SpawnedProcessTests.swift", 1, file),
    UnendingWaits("Tests/ProcessesTests/ProcessAgent/AgentEndTests.swift", 1, callback),
    UnendingWaits("Tests/ProcessesTests/PushServer/QueueLimitTests.swift", 1, callback),
    UnendingWaits("Tests/RepositoryTests/RepositoryTests.swift", 2, tool),
    UnendingWaits("Tests/SDKTests/CurlURLLoading/InlineRequestTests.swift", 2, callback),
    UnendingWaits("Tests/SDKTests/CurlURLLoading/SecureServer.swift", 2, callback),
    UnendingWaits("Tests/SDKTests/InlineDownloadTests.swift", 3, callback),
    UnendingWaits("Tests/SDKTests/InlineSessionTests.swift", 4, callback),
    UnendingWaits("Tests/SDKTests/Modules/CalendarTests.swift", 1, callback),
    UnendingWaits("Tests/SDKTests/Modules/CombineTests.swift", 1, callback),
    UnendingWaits("Tests/SDKTests/Modules/FrameworkPartTests.swift", 1, callback),
    UnendingWaits("Tests/SDKTests/Modules/ReverseGeocodingTests.swift", 2, callback),
    UnendingWaits("Tests/SDKTests/PerformerModel.swift", 1, callback),
    UnendingWaits("Tests/SDKTests/PreviewTests.swift", 3, tool),
    UnendingWaits("Tests/SDKTests/SDKFixture.swift", 3, callback),
    UnendingWaits("Tests/SDKTests/SwiftData/StoreTests.swift", 2, tool),
    UnendingWaits("Tests/WidgetLabTests/PackageProbeTests.swift", 1, tool),
  ]
}
