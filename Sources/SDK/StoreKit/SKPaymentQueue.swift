// SPDX-License-Identifier: Apache-2.0

import AuthorRuntime
@_exported public import Foundation
import Synchronization

/// Source: `StoreKit.SKPayment`.
open class SKPayment: NSObject {
  public let productIdentifier: String
  open var quantity: Int { 1 }
  open var applicationUsername: String? { nil }

  public init(product: SKProduct) { productIdentifier = product.productIdentifier }
}

/// Source: `StoreKit.SKPaymentTransactionState`.
public enum SKPaymentTransactionState: Int, Sendable {
  case purchasing, purchased, failed, restored, deferred
}

/// Source: `StoreKit.SKPaymentTransaction`. Each one has failed.
open class SKPaymentTransaction: NSObject {
  public let payment: SKPayment
  public let error: (any Error)?
  public let transactionState = SKPaymentTransactionState.failed
  open var original: SKPaymentTransaction? { nil }
  open var transactionDate: Date? { nil }
  open var transactionIdentifier: String? { nil }

  init(_ payment: SKPayment) {
    self.payment = payment
    error = SKError(.paymentNotAllowed)
  }
}

/// Source: `StoreKit.SKPaymentTransactionObserver`.
public protocol SKPaymentTransactionObserver: AnyObject {
  func paymentQueue(_ queue: SKPaymentQueue, updatedTransactions transactions: [SKPaymentTransaction])
  func paymentQueue(_ queue: SKPaymentQueue, removedTransactions transactions: [SKPaymentTransaction])
  func paymentQueue(_ queue: SKPaymentQueue, restoreCompletedTransactionsFailedWithError error: any Error)
  func paymentQueueRestoreCompletedTransactionsFinished(_ queue: SKPaymentQueue)
  func paymentQueue(_ queue: SKPaymentQueue, shouldAddStorePayment payment: SKPayment, for product: SKProduct) -> Bool
}

extension SKPaymentTransactionObserver {
  public func paymentQueue(_ queue: SKPaymentQueue, removedTransactions transactions: [SKPaymentTransaction]) {}
  public func paymentQueue(_ queue: SKPaymentQueue, restoreCompletedTransactionsFailedWithError error: any Error) {}
  public func paymentQueueRestoreCompletedTransactionsFinished(_ queue: SKPaymentQueue) {}
  public func paymentQueue(
    _ queue: SKPaymentQueue, shouldAddStorePayment payment: SKPayment, for product: SKProduct
  ) -> Bool { false }
}

/// Source: `StoreKit.SKPaymentQueue`. It is empty: a payment fails at once with `paymentNotAllowed`, and so does the
/// restoration of purchases with `unknown`.
public final class SKPaymentQueue: NSObject, Sendable {
  private struct Observer {
    // The queue keeps no observer alive. It is called on the main thread.
    nonisolated(unsafe) weak var object: (any SKPaymentTransactionObserver)?
  }

  private static let only = SKPaymentQueue()
  private let observers = Mutex<[Observer]>([])

  private override init() { super.init() }

  public class func `default`() -> SKPaymentQueue { only }
  /// `false`.
  public class func canMakePayments() -> Bool {
    AppStore.notice("SKPaymentQueue.canMakePayments")
    return false
  }

  public var transactions: [SKPaymentTransaction] { [] }

  public func add(_ observer: any SKPaymentTransactionObserver) {
    // It is only stored here, and called on the main thread.
    nonisolated(unsafe) let object = observer
    observers.withLock { $0.append(Observer(object: object)) }
  }

  public func remove(_ observer: any SKPaymentTransactionObserver) {
    let removed = ObjectIdentifier(observer)
    observers.withLock {
      $0.removeAll { known in known.object.map { ObjectIdentifier($0) == removed } ?? true }
    }
  }

  public func add(_ payment: SKPayment) {
    AppStore.notice("SKPaymentQueue.add")
    // Only the main thread uses it from here on.
    nonisolated(unsafe) let transaction = SKPaymentTransaction(payment)
    notify { $0.paymentQueue(self, updatedTransactions: [transaction]) }
  }

  /// Has no effect: no transaction stays in the queue.
  public func finishTransaction(_ transaction: SKPaymentTransaction) {}

  public func restoreCompletedTransactions(withApplicationUsername username: String? = nil) {
    AppStore.notice("SKPaymentQueue.restoreCompletedTransactions")
    notify { $0.paymentQueue(self, restoreCompletedTransactionsFailedWithError: SKError(.unknown)) }
  }

  private func notify(_ body: @escaping @Sendable (any SKPaymentTransactionObserver) -> Void) {
    let current = observers.withLock { $0 }
    DispatchQueue.main.async { for observer in current { observer.object.map(body) } }
  }
}

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
