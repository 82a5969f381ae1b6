import ArgumentParser
import Foundation
import Testing

@testable import WidgetLab

@Suite struct `the address book` {
  private func withBook<T>(_ body: (AddressBook) throws -> T) throws -> T {
    let folder = FileManager.default.temporaryDirectory.appending(path: "widgetlab-book-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    return try body(AddressBook(folder: folder))
  }

  private func files(_ book: AddressBook) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: book.folder)) ?? []
  }

  private func mode(_ path: String) throws -> Int? {
    (try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber)?.intValue
  }

  @Test func `who is up stands in it until it leaves`() throws {
    try withBook { book in
      #expect(try book.running() == [])
      var entry = AddressBook.Entry(instance: "/somewhere/.widgetlab/second", configuration: "/somewhere/w.yaml")
      let file = try BookFile(entry, in: book)
      #expect(try book.running() == [entry])
      #expect(entry.name == "second")
      entry.endpoint = "tcp://127.0.0.1:1"
      try file.write(entry)
      #expect(try book.running().first?.isReady == true)
      #expect(try mode(book.folder) == 0o700)
      #expect(try mode(book.file(of: entry.instance)) == 0o600)
      file.remove()
      #expect(try book.running() == [])
      #expect(files(book) == [])
    }
  }

  @Test func `what nobody holds is removed by the next reader`() throws {
    try withBook { book in
      try book.open()
      let entry = AddressBook.Entry(instance: "/dead", configuration: "/dead.yaml")
      try Output.jsonData(entry).write(to: URL(fileURLWithPath: book.file(of: "/dead")))
      #expect(try book.running() == [])
      #expect(files(book) == [])
    }
  }

  @Test func `a pid that was given away again is not the one that was meant`() throws {
    try withBook { book in
      let entry = AddressBook.Entry(instance: "/a", configuration: "/a.yaml")
      let file = try BookFile(entry, in: book)
      var text = String(decoding: try Output.jsonData(entry), as: UTF8.self)
      text.replace("\"startTime\":\(entry.startTime)", with: "\"startTime\":\(entry.startTime + 1)")
      try file.write(try JSONDecoder().decode(AddressBook.Entry.self, from: Data(text.utf8)))
      #expect(try book.running() == [])
      file.remove()
    }
  }

  @Test func `a name means the running cluster of that name, if there is one only`() throws {
    try withBook { book in
      let options = try InstanceOptions.parse(["--instance", "second"])
      #expect(try options.running(in: book) == nil)
      let one = try BookFile(AddressBook.Entry(instance: "/one/second", configuration: "/c"), in: book)
      #expect(try options.running(in: book) == "/one/second")
      let two = try BookFile(AddressBook.Entry(instance: "/two/second", configuration: "/c"), in: book)
      let complaint = #expect(throws: Complaint.self) { try options.running(in: book) }
      #expect(complaint?.exit == Exit.usage)
      #expect(complaint?.advice?.contains("/two/second") == true)
      one.remove()
      two.remove()
    }
  }

  @Test func `a book that others can write to is not believed`() throws {
    try withBook { book in
      try book.open()
      try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: book.folder)
      #expect(throws: Complaint.self) { try book.running() }
    }
  }

  @Test func `a lock whose holder is dead is nobody's`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "widgetlab-lock-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try "\(Int32.max)\n".write(toFile: InstanceLock.file(in: folder), atomically: true, encoding: .utf8)
    #expect(InstanceLock.holder(in: folder) == nil)
    let lock = try InstanceLock(instance: folder)
    #expect(InstanceLock.holder(in: folder) == getpid())
    lock.release()
    #expect(!FileManager.default.fileExists(atPath: InstanceLock.file(in: folder)))
  }
}
