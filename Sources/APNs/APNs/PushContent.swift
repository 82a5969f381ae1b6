// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Messages

/// What a valid push says, apart from its device token. A provider often sends the same to many device tokens, and what was
/// checked for the first one is not checked again.
final class PushContent: Sendable {
  let topic: PushTopic
  let type: PushType
  let priority: Int
  /// `nil`: set by the storage policy. The epoch: one attempt.
  let expiration: Date?
  let collapseID: String?
  let payload: String
  /// What is wrong with the payload although it was accepted.
  let remark: String?
  /// Without repetitions.
  private let headers: [APNsRequest.Header]

  /// - Parameter request: passed all checks that do not depend on its device token.
  init(
    of request: APNsRequest, topic: PushTopic, type: PushType, priority: Int, expiration: Date?, collapseID: String?,
    remark: String?
  ) {
    self.topic = topic
    self.type = type
    self.priority = priority
    self.expiration = expiration
    self.collapseID = collapseID
    self.remark = remark
    payload = String(decoding: request.body, as: UTF8.self)
    headers = request.headers
  }

  /// Whether a request has this payload and the same headers in the same order. Its id and its authorization may differ.
  func isContent(of request: APNsRequest) -> Bool {
    guard !request.isTruncated, headers.count == request.headers.count, payload.utf8.count == request.body.count else {
      return false
    }
    for (header, other) in zip(headers, request.headers) {
      // Equal texts of other lengths have another form of Unicode.
      if header == other, header.value.utf8.count == other.value.utf8.count { continue }
      guard header.name == other.name, header.isNamed("apns-id") || header.isNamed("authorization") else {
        return false
      }
    }
    var payload = payload
    return payload.withUTF8 { own in
      request.body.withUnsafeBytes { other in
        guard let start = own.baseAddress, let otherStart = other.baseAddress else { return own.isEmpty }
        return memcmp(start, otherStart, own.count) == 0
      }
    }
  }
}
