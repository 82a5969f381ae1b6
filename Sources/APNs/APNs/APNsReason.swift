// SPDX-License-Identifier: Apache-2.0
/// Every `reason` of `/3/device`, with its status. Source: Apple's *Handling notification responses from APNs*. The
/// last of the 403s is spelled as on that page (the service itself has been observed without `Id`).
package enum APNsReason: String, Codable, Hashable, Sendable, CaseIterable {
  case badCollapseID = "BadCollapseId"
  case badDeviceToken = "BadDeviceToken"
  case badExpirationDate = "BadExpirationDate"
  case badMessageID = "BadMessageId"
  case badPriority = "BadPriority"
  case badTopic = "BadTopic"
  case deviceTokenNotForTopic = "DeviceTokenNotForTopic"
  case duplicateHeaders = "DuplicateHeaders"
  case idleTimeout = "IdleTimeout"
  case invalidPushType = "InvalidPushType"
  case missingDeviceToken = "MissingDeviceToken"
  case missingTopic = "MissingTopic"
  case payloadEmpty = "PayloadEmpty"
  case topicDisallowed = "TopicDisallowed"
  case badCertificate = "BadCertificate"
  case badCertificateEnvironment = "BadCertificateEnvironment"
  case expiredProviderToken = "ExpiredProviderToken"
  case forbidden = "Forbidden"
  case invalidProviderToken = "InvalidProviderToken"
  case missingProviderToken = "MissingProviderToken"
  case unrelatedKeyIDInToken = "UnrelatedKeyIdInToken"
  case badEnvironmentKeyIDInToken = "BadEnvironmentKeyIdInToken"
  case badPath = "BadPath"
  case methodNotAllowed = "MethodNotAllowed"
  case expiredToken = "ExpiredToken"
  case unregistered = "Unregistered"
  case payloadTooLarge = "PayloadTooLarge"
  case tooManyProviderTokenUpdates = "TooManyProviderTokenUpdates"
  case tooManyRequests = "TooManyRequests"
  case internalServerError = "InternalServerError"
  case serviceUnavailable = "ServiceUnavailable"
  case shutdown = "Shutdown"

  /// The HTTP status of the response.
  package var status: Int {
    switch self {
    case .badCollapseID, .badDeviceToken, .badExpirationDate, .badMessageID, .badPriority, .badTopic,
      .deviceTokenNotForTopic, .duplicateHeaders, .idleTimeout, .invalidPushType, .missingDeviceToken, .missingTopic,
      .payloadEmpty, .topicDisallowed:
      400
    case .badCertificate, .badCertificateEnvironment, .expiredProviderToken, .forbidden, .invalidProviderToken,
      .missingProviderToken, .unrelatedKeyIDInToken, .badEnvironmentKeyIDInToken:
      403
    case .badPath: 404
    case .methodNotAllowed: 405
    case .expiredToken, .unregistered: 410
    case .payloadTooLarge: 413
    case .tooManyProviderTokenUpdates, .tooManyRequests: 429
    case .internalServerError: 500
    case .serviceUnavailable, .shutdown: 503
    }
  }
}

extension APNsReason {
  /// When a request is answered with it, in words. Documentation/apns.md has the same text.
  package var meaning: String {
    switch self {
    case .badCollapseID: "apns-collapse-id has more than 64 bytes"
    case .badDeviceToken:
      "the token was never issued or ended longer ago than endedTokenAge, is not pairs of hexadecimal digits, or belongs "
        + "to the other environment"
    case .badExpirationDate: "apns-expiration is not a whole number of seconds from 0"
    case .badMessageID: "apns-id is not a UUID of the form 8-4-4-4-12, in lower or upper case"
    case .badPriority: "apns-priority is not 10, 5 or 1; or a background push has another priority than 5, or no header"
    case .badTopic: "apns-topic is not a bundle identifier, or lacks the suffix of its push type"
    case .deviceTokenNotForTopic:
      "the token belongs to another app, or to the app's other use: the app's token with the topic of its "
        + "widgets, or the token of the widgets or of a control for an alert"
    case .duplicateHeaders: "any header is repeated"
    case .idleTimeout: "the connection had no request for idleTimeout; sent in a GOAWAY"
    case .invalidPushType: "apns-push-type is not one of the eleven types, case-sensitive"
    case .missingDeviceToken: "the path is /3/device/ or /3/device"
    case .missingTopic: "apns-topic is absent or empty, and the connection has no certificate with exactly one topic"
    case .payloadEmpty: "the request has no body"
    case .topicDisallowed:
      "the provider token's key or the client certificate is for other topics; or the push type is liveactivity or "
        + "location and the connection has a client certificate"
    case .badCertificate:
      "the client certificate was not issued by this push server's CA, is not valid at this time, or has no "
        + "topic; a GOAWAY follows"
    case .badCertificateEnvironment: "the client certificate is for the other environment; a GOAWAY follows"
    case .expiredProviderToken: "iat is more than an hour ago"
    case .forbidden: "the connection's first push was of another team"
    case .invalidProviderToken:
      "the token is not a JSON Web Token with ES256, has no registered key, another team than its key, no "
        + "time, or a signature that does not match the key"
    case .missingProviderToken: "no client certificate, and no authorization with bearer and a token"
    case .unrelatedKeyIDInToken:
      "another key than that of the connection's first push, and unrelated: one is for the whole team and "
        + "the other for topics, or they are for different topics"
    case .badEnvironmentKeyIDInToken: "the key is only for the other environment"
    case .badPath: "the path is neither /3/device/<token> nor that of a broadcast"
    case .methodNotAllowed: "the method is not POST"
    case .expiredToken: "the token was expired with widgetlab token expire"
    case .unregistered: "the token is inactive: rotated, released by the device, or widgetlab token unregister"
    case .payloadTooLarge: "the body has more than 4096 bytes, 5120 for voip"
    case .tooManyProviderTokenUpdates:
      "the connection changes its provider token less than 20 minutes after the first use of the current "
        + "one"
    case .tooManyRequests:
      "more than consecutiveRequests consecutive requests to one token on one connection within "
        + "consecutiveWindow"
    case .internalServerError: "the push server cannot write its database; or widgetlab apns answer"
    case .serviceUnavailable: "more requests wait to be written than queueLimit; or widgetlab apns answer"
    case .shutdown: "the push server shuts down: in a GOAWAY, and for later requests"
    }
  }

  /// The fidelity rule by which it is sent; nil when Apple's page of reasons is the whole rule.
  package var rule: String? {
    switch self {
    case .badCollapseID, .badExpirationDate, .duplicateHeaders, .missingTopic: "APNS-01"
    case .badTopic, .invalidPushType: "APNS-02"
    case .payloadTooLarge: "APNS-03"
    case .badPriority: "APNS-05"
    case .badDeviceToken: "APNS-06"
    case .deviceTokenNotForTopic: "APNS-07"
    case .badMessageID: "APNS-09"
    case .invalidProviderToken: "APNS-12"
    case .expiredProviderToken: "APNS-14"
    case .tooManyProviderTokenUpdates: "APNS-15"
    case .forbidden, .unrelatedKeyIDInToken: "APNS-16"
    case .topicDisallowed, .badEnvironmentKeyIDInToken: "APNS-17"
    case .tooManyRequests: "APNS-19"
    case .missingProviderToken: "APNS-20"
    case .badPath: "APNS-21"
    case .expiredToken, .unregistered: "APNS-32"
    case .idleTimeout: "APNS-37"
    case .serviceUnavailable: "APNS-39"
    case .badCertificate, .badCertificateEnvironment: "APNS-40"
    case .shutdown: "APNS-43"
    case .missingDeviceToken, .payloadEmpty, .methodNotAllowed, .internalServerError: nil
    }
  }
}
