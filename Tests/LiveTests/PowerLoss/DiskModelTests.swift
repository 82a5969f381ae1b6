// SPDX-License-Identifier: Apache-2.0

import ChaosCampaign
import Foundation
import Testing

/// What a disk may have after a power failure, for each way in which a program may write.
@Suite struct `The model of a disk` {
  private static let root = "/disk"
  private static let file = "/disk/file"

  /// A disk with one file of two pages.
  private func disk(ignoring: @escaping (String) -> Bool = { _ in false }) -> DiskModel {
    let start = DiskModel.State(contents: [Self.file: pages(1, 1)])
    return DiskModel(root: Self.root, start: start, ignoring: ignoring)
  }

  private func pages(_ numbers: UInt8...) -> [UInt8] {
    numbers.flatMap { [UInt8](repeating: $0, count: DiskFile.page) }
  }

  /// What each page has, by its first byte; `nil` when the file is missing.
  private func outcomes(_ model: DiskModel, _ path: String = file) -> Set<[UInt8]?> {
    var generator = SplitMix64(seed: 1)
    return Set(
      (0..<300).map { _ in
        let content = model.afterFailure(.any, using: &generator).contents[path]
        return content.map { content in stride(from: 0, to: content.count, by: DiskFile.page).map { content[$0] } }
      })
  }

  private func perform(_ changes: DiskModel.Change..., on model: inout DiskModel, from first: Int = 1) throws {
    for (call, change) in zip(first..., changes) {
      try model.begin(call, change)
      model.end(call)
    }
  }

  @Test func `of writes that are not synchronised, the disk has any pages`() throws {
    var model = disk()
    try perform(.write(Self.file, at: 0, pages(2, 2)), on: &model)
    #expect(outcomes(model) == [[1, 1], [1, 2], [2, 1], [2, 2]])
    #expect(model.content(Self.file) == pages(2, 2))
  }

  @Test func `a page has any of its versions, and a later page may be on the disk before an earlier one`() throws {
    var model = disk()
    try perform(.write(Self.file, at: 0, pages(2)), .write(Self.file, at: 0, pages(3, 3)), on: &model)
    #expect(outcomes(model) == [[1, 1], [2, 1], [3, 1], [1, 3], [2, 3], [3, 3]])
  }

  @Test func `a synchronisation keeps what was written before it, and nothing that came later`() throws {
    var model = disk()
    try perform(
      .write(Self.file, at: 0, pages(2)), .synchronize(Self.file), .write(Self.file, at: DiskFile.page, pages(3)),
      on: &model)
    #expect(outcomes(model) == [[2, 1], [2, 3]])
  }

  @Test func `a synchronisation counts from its end, and for writes that had ended at its begin`() throws {
    var model = disk()
    try model.begin(1, .write(Self.file, at: 0, pages(2)))
    try model.begin(2, .synchronize(Self.file))
    model.end(1)
    model.end(2)
    #expect(outcomes(model) == [[1, 1], [2, 1]])
    try model.begin(3, .synchronize(Self.file))
    #expect(outcomes(model) == [[1, 1], [2, 1]])
    model.end(3)
    #expect(outcomes(model) == [[2, 1]])
  }

  @Test func `an appended file has any length since its last synchronisation, and missing pages are 0`() throws {
    var model = disk()
    try perform(.append(Self.file, pages(2)), .append(Self.file, pages(3)), on: &model)
    #expect(
      outcomes(model) == [[1, 1], [1, 1, 0], [1, 1, 2], [1, 1, 0, 0], [1, 1, 2, 0], [1, 1, 0, 3], [1, 1, 2, 3]])
  }

  @Test func `a truncation and what is written after it may be on the disk without each other`() throws {
    var model = disk()
    try perform(.resize(Self.file, to: 0), .append(Self.file, pages(2)), on: &model)
    let found = outcomes(model)
    #expect(found.isSuperset(of: [[1, 1], [], [2], [0], [1]]))
    try perform(.synchronize(Self.file), on: &model, from: 3)
    #expect(outcomes(model) == [[2]])
  }

  @Test func `a new file may lose its name although its content is synchronised, until its folder is`() throws {
    var model = disk()
    try perform(.create("/disk/new"), .append("/disk/new", pages(5)), .synchronize("/disk/new"), on: &model)
    #expect(outcomes(model, "/disk/new") == [nil, [5]])
    try perform(.synchronize(Self.root), on: &model, from: 4)
    #expect(outcomes(model, "/disk/new") == [[5]])
  }

  @Test func `a file is lost with each folder above it whose name is not synchronised`() throws {
    var model = disk()
    try perform(
      .makeFolder("/disk/a"), .makeFolder("/disk/a/b"), .create("/disk/a/b/new"), .synchronize("/disk/a/b/new"),
      .synchronize("/disk/a/b"), on: &model)
    #expect(outcomes(model, "/disk/a/b/new") == [nil, []])
    try perform(.synchronize("/disk/a"), on: &model, from: 6)
    #expect(outcomes(model, "/disk/a/b/new") == [nil, []])
    try perform(.synchronize(Self.root), on: &model, from: 7)
    #expect(outcomes(model, "/disk/a/b/new") == [[]])
  }

  @Test func `names change in order, and a renamed file has one of its two names`() throws {
    var model = disk()
    try perform(
      .create("/disk/draft"), .append("/disk/draft", pages(7)), .synchronize("/disk/draft"),
      .rename("/disk/draft", to: Self.file), .remove("/disk/none"), on: &model)
    var generator = SplitMix64(seed: 1)
    for _ in 0..<100 {
      let contents = model.afterFailure(.any, using: &generator).contents
      #expect([pages(1, 1), pages(7)].contains(contents[Self.file]))
      #expect(contents[Self.file] == pages(1, 1) || contents["/disk/draft"] == nil)
    }
    try perform(.synchronize(Self.root), on: &model, from: 6)
    #expect(outcomes(model) == [[7]])
  }

  @Test func `a rename between two folders needs the earlier changes of both`() throws {
    var model = disk()
    try perform(
      .makeFolder("/disk/a"), .makeFolder("/disk/b"), .synchronize(Self.root), .create("/disk/b/other"),
      .create("/disk/a/new"), .rename("/disk/a/new", to: "/disk/b/new"), .synchronize("/disk/a"), on: &model)
    // The folder `a` was synchronised, so the rename is on the disk, and with it the earlier name in `b`.
    #expect(outcomes(model, "/disk/b/new") == [[]])
    #expect(outcomes(model, "/disk/b/other") == [[]])
    #expect(outcomes(model, "/disk/a/new") == [nil])
  }

  @Test func `a copy has what its source has at that time`() throws {
    var model = disk()
    try perform(
      .write(Self.file, at: 0, pages(2)), .create("/disk/copy"),
      .copy(from: Self.file, start: 0, count: DiskFile.page, to: "/disk/copy", at: 0),
      .copy(from: Self.file, start: 0, count: nil, to: "/disk/copy", at: DiskFile.page), on: &model)
    #expect(model.content("/disk/copy") == pages(2, 2, 1))
  }

  @Test func `a disk that ignores a synchronisation may lose what it covers`() throws {
    var model = disk { $0 == Self.file }
    try perform(.write(Self.file, at: 0, pages(2)), .synchronize(Self.file), on: &model)
    #expect(outcomes(model) == [[1, 1], [2, 1]])
  }

  @Test func `a disk can have nothing, or everything, of what is not synchronised`() throws {
    var model = disk()
    try perform(.write(Self.file, at: 0, pages(2)), .create("/disk/new"), on: &model)
    var generator = SplitMix64(seed: 1)
    #expect(model.afterFailure(.nothing, using: &generator).contents == [Self.file: pages(1, 1)])
    #expect(model.afterFailure(.everything, using: &generator).contents == [Self.file: pages(2, 1), "/disk/new": []])
  }

  @Test func `a change of an unknown file is refused`() throws {
    var model = disk()
    #expect(throws: DiskModel.Unknown.self) { try model.begin(1, .append("/disk/none", [1])) }
    #expect(throws: DiskModel.Unknown.self) {
      try model.begin(2, .copy(from: "/disk/none", start: 0, count: nil, to: Self.file, at: 0))
    }
  }
}
