// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
public import Foundation

// The second version of StoreKit, as far as the transaction of the app: products and purchases do not compile.

/// Source: `StoreKit.StoreKitError`.
public enum StoreKitError: Error, Sendable {
  case unknown
  case userCancelled
  case networkError(URLError)
  case systemError(any Error)
  case notAvailableInStorefront
  case notEntitled
  case unsupported
}

/// Source: `StoreKit.VerificationResult`.
public enum VerificationResult<SignedType> {
  case unverified(SignedType, VerificationError)
  case verified(SignedType)

  /// Source: `StoreKit.VerificationResult.VerificationError`.
  public enum VerificationError: Error, Hashable, Sendable {
    case revokedCertificate, invalidCertificateChain, invalidDeviceVerification, invalidEncoding, invalidSignature
    case missingRequiredProperties
  }

  public var payloadValue: SignedType {
    get throws {
      switch self {
      case .verified(let value): return value
      case .unverified(_, let error): throw error
      }
    }
  }
  public var unsafePayloadValue: SignedType {
    switch self {
    case .verified(let value), .unverified(let value, _): value
    }
  }
}

extension VerificationResult: Sendable where SignedType: Sendable {}
extension VerificationResult: Equatable where SignedType: Equatable {}

/// Source: `StoreKit.AppStore`.
public enum AppStore: Sendable {
  /// Source: `StoreKit.AppStore.Environment`.
  public struct Environment: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public static let production = Environment(rawValue: "Production")
    public static let sandbox = Environment(rawValue: "Sandbox")
    public static let xcode = Environment(rawValue: "Xcode")
  }

  /// `false`: no one can pay here.
  public static var canMakePayments: Bool { false }

  /// Records the use of what the App Store would answer.
  static func notice(_ declaration: String) {
    HostedProcess.current?.noticeUnsimulated(
      declaration, "the device has no App Store: nothing is offered or bought, and requests fail")
  }
}

/// The purchase of the app. Source: `StoreKit.AppTransaction`. There is no App Store here: `shared` throws, and the
/// diagnosis `not-simulated` names it.
public struct AppTransaction: Hashable, Sendable {
  public let bundleID: String
  public let appVersion: String
  public let originalAppVersion: String
  public let originalPurchaseDate: Date
  public let environment: AppStore.Environment

  /// - Throws: `StoreKitError.notAvailableInStorefront`.
  public static var shared: VerificationResult<AppTransaction> {
    get async throws { throw unavailable("AppTransaction.shared") }
  }

  /// - Throws: `StoreKitError.notAvailableInStorefront`.
  public static func refresh() async throws -> VerificationResult<AppTransaction> {
    throw unavailable("AppTransaction.refresh")
  }

  private static func unavailable(_ name: String) -> StoreKitError {
    AppStore.notice(name)
    return .notAvailableInStorefront
  }
}
