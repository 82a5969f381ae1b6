// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
public import Foundation

// The first version of StoreKit. A device here has no App Store: requests and payments fail as on a device that cannot
// reach it, and the diagnosis `not-simulated` names them.

/// Source: `StoreKit.SKErrorDomain`.
public let SKErrorDomain = "SKErrorDomain"

/// Source: `StoreKit.SKError`.
public struct SKError: CustomNSError, LocalizedError, Hashable, Sendable {
  /// Source: `StoreKit.SKError.Code`.
  public enum Code: Int, Sendable {
    case unknown = 0
    case clientInvalid, paymentCancelled, paymentInvalid, paymentNotAllowed, storeProductNotAvailable
    case cloudServicePermissionDenied, cloudServiceNetworkConnectionFailed, cloudServiceRevoked
  }

  public let code: Code
  public init(_ code: Code) { self.code = code }

  public static var errorDomain: String { SKErrorDomain }
  public var errorCode: Int { code.rawValue }
  public var errorDescription: String? {
    code == .paymentNotAllowed ? "Payments are not allowed on this device." : "Cannot connect to the App Store."
  }
}

/// Source: `StoreKit.SKRequestDelegate`.
public protocol SKRequestDelegate: NSObjectProtocol {
  func requestDidFinish(_ request: SKRequest)
  func request(_ request: SKRequest, didFailWithError error: any Error)
}

extension SKRequestDelegate {
  public func requestDidFinish(_ request: SKRequest) {}
  public func request(_ request: SKRequest, didFailWithError error: any Error) {}
}

/// A question to the App Store, which fails. Source: `StoreKit.SKRequest`.
open class SKRequest: NSObject {
  var receiver: (any SKRequestDelegate)? { nil }

  public override init() { super.init() }

  /// Calls the delegate with an error, on another thread.
  open func start() {
    AppStore.notice("\(type(of: self)).start")
    // The author's delegate is called on any thread, as on a phone.
    nonisolated(unsafe) let request = self
    DispatchQueue.global().async { request.receiver?.request(request, didFailWithError: SKError(.unknown)) }
  }
  open func cancel() {}
}

/// Source: `StoreKit.SKProductsRequestDelegate`.
public protocol SKProductsRequestDelegate: SKRequestDelegate {
  /// Never called: there are no products.
  func productsRequest(_ request: SKProductsRequest, didReceive response: SKProductsResponse)
}

/// Source: `StoreKit.SKProductsRequest`.
open class SKProductsRequest: SKRequest {
  open weak var delegate: (any SKProductsRequestDelegate)?
  override var receiver: (any SKRequestDelegate)? { delegate }

  public init(productIdentifiers: Set<String>) { super.init() }
}

/// Source: `StoreKit.SKReceiptRefreshRequest`.
open class SKReceiptRefreshRequest: SKRequest {
  open weak var delegate: (any SKRequestDelegate)?
  override var receiver: (any SKRequestDelegate)? { delegate }

  public init(receiptProperties: [String: Any]? = nil) { super.init() }
}

/// Source: `StoreKit.SKProductsResponse`. Never made here.
open class SKProductsResponse: NSObject {
  open var products: [SKProduct] { [] }
  open var invalidProductIdentifiers: [String] { [] }

  override init() { super.init() }
}

/// Source: `StoreKit.SKProduct`. Never made here.
open class SKProduct: NSObject {
  open var productIdentifier: String { "" }
  open var localizedTitle: String { "" }
  open var localizedDescription: String { "" }
  open var price: NSDecimalNumber { 0 }
  open var priceLocale: Locale { .current }
  open var subscriptionGroupIdentifier: String? { nil }

  override init() { super.init() }
}
