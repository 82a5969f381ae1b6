// SPDX-License-Identifier: Apache-2.0

import Foundation
import Messages

/// The notifications that one fleet must receive: in batches that fit into an envelope, few at a time. What waits
/// for them goes together into the next batch.
struct FleetSender: Sendable {
  struct Batch: Sendable {
    let run: UUID
    let epoch: Int64
    let number: Int64
    let settled: Int64
    let notifications: [PushedNotification]
  }

  /// Batches without a reply at a time.
  static let window = 4
  /// Notifications of a batch.
  static let most = 500
  /// Bytes of a batch, of the 262,144 that an envelope may have.
  static let room = 240_000
  /// From so many notifications on, others are stored, which bounds the memory.
  static let full = 20_000
  /// Stored ones are handed over while there are fewer.
  static let low = 4_000

  /// Identifies the batches since this push server became responsible for the fleet.
  let run = UUID()
  /// The epoch of the fleet's route; 0 without replicas.
  let epoch: Int64
  private var waitingPushes: [PushedNotification] = []
  private var head = 0
  private var last: Int64 = 0
  /// The batches without a reply, or whose reply is not on the disk.
  private var open: [Int64: Int] = [:]
  private var inFlight = 0
  /// The device after which the hand-over continues; `nil` when none is under way.
  var place: String?
  /// The hand-over waits until there is room.
  var isPaused = false
  /// Something was stored that no report of the device announces.
  var hasHeld = false
  /// Something that other replicas have accepted was left to them.
  var hasArrivals = false

  /// Notifications that wait or have no reply.
  private(set) var count = 0

  init(epoch: Int64 = 0) { self.epoch = epoch }

  var isFull: Bool { count >= Self.full }
  var isLow: Bool { count < Self.low }

  mutating func add(_ notification: PushedNotification) {
    waitingPushes.append(notification)
    count += 1
  }

  /// Whether more notifications can be sent soon. What other replicas have accepted waits until then in the database, where
  /// it costs a new owner nothing: what is handed over, the next owner must send again.
  var hasRoom: Bool { isLow && place == nil }

  /// The next batch; `nil` when nothing waits, or as many as may are without a reply.
  mutating func next() -> Batch? {
    guard inFlight < Self.window, head < waitingPushes.count else { return nil }
    var bytes = 0
    var end = head
    while end < waitingPushes.count, end - head < Self.most {
      bytes += waitingPushes[end].longestJSON
      if bytes > Self.room, end > head { break }
      end += 1
    }
    let batch = Array(waitingPushes[head..<end])
    head = end
    if head > waitingPushes.count / 2 {
      waitingPushes.removeFirst(head)
      head = 0
    }
    last += 1
    inFlight += 1
    open[last] = batch.count
    return Batch(run: run, epoch: epoch, number: last, settled: settled, notifications: batch)
  }

  /// All batches up to this one are recorded.
  private var settled: Int64 { (open.keys.min() ?? last + 1) - 1 }

  /// The reply to a batch arrived. It counts as open until `record`.
  mutating func replied() { inFlight -= 1 }

  /// Notifications that are on the fleet's disk. A copy that waits, because a transaction has failed, is not sent: the
  /// fleet forgets their ids when it receives a later batch.
  mutating func drop(_ ids: Set<UUID>) {
    guard head < waitingPushes.count else { return }
    let left = waitingPushes[head...].filter { !ids.contains($0.uniqueID) }
    count -= waitingPushes.count - head - left.count
    (waitingPushes, head) = (left, 0)
  }

  /// The reply to a batch is on the disk.
  mutating func record(_ number: Int64) { count -= open.removeValue(forKey: number) ?? 0 }
}

extension PushedNotification {
  /// An upper bound of its length as JSON.
  var longestJSON: Int {
    let payload = payload.utf8.reduce(0) { length, byte in
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): length + 2
      case 0..<0x20, 0x7f: length + 6
      default: length + 1
      }
    }
    return payload + 700 + 6 * (collapseID?.utf8.count ?? 0) + subject.bundle.utf8.count + subject.device.utf8.count
      + apnsID.utf8.count
  }
}
