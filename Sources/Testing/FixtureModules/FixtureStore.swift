// SPDX-License-Identifier: Apache-2.0

// A process that saves models in a file until it is killed, or reads them, for the tests of SwiftData.

import SwiftData

@Model final class Entry {
  @Attribute(.unique) var number: Int
  var text: String

  init(number: Int) {
    self.number = number
    text = String(repeating: "\(number) ", count: 200)
  }
}

enum FixtureStore {
  /// Arguments: the file, and the number of the first model to save, or `read`.
  static func main() throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 3 else { fatalError("usage: FixtureModules FILE (NUMBER | read)") }
    let container = try ModelContainer(
      for: Entry.self, configurations: ModelConfiguration(url: URL(filePath: arguments[1])))
    let context = ModelContext(container)
    guard let first = Int(arguments[2]) else {
      let entries = try context.fetch(FetchDescriptor<Entry>(sortBy: [SortDescriptor(\.number)]))
      let whole = entries.filter { $0.text == String(repeating: "\($0.number) ", count: 200) }
      print(whole.map { "\($0.number)" }.joined(separator: " "))
      return
    }
    for number in first... {
      context.insert(Entry(number: number))
      try context.save()
      // The test has the line before it kills this process.
      try FileHandle.standardOutput.write(contentsOf: Data("\(number)\n".utf8))
    }
  }
}
