// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Synchronization
import Testing

@testable import AuthorRuntime
@testable import StoreKit

/// What an author's code receives.
private final class Buyer: NSObject, SKProductsRequestDelegate, SKPaymentTransactionObserver, Sendable {
  private let sender: AsyncStream<String>.Continuation
  let events: AsyncStream<String>

  override init() { (events, sender) = AsyncStream.makeStream() }

  func productsRequest(_ request: SKProductsRequest, didReceive response: SKProductsResponse) {
    sender.yield("products")
  }
  func request(_ request: SKRequest, didFailWithError error: any Error) {
    sender.yield("request failed: \((error as? SKError)?.code.rawValue ?? -1)")
  }
  func paymentQueue(_ queue: SKPaymentQueue, updatedTransactions transactions: [SKPaymentTransaction]) {
    for transaction in transactions {
      sender.yield("\(transaction.transactionState): \((transaction.error as? SKError)?.code.rawValue ?? -1)")
      queue.finishTransaction(transaction)
    }
  }
  func paymentQueue(_ queue: SKPaymentQueue, restoreCompletedTransactionsFailedWithError error: any Error) {
    sender.yield("restore failed")
  }
}

@Suite(.timeLimit(.minutes(1))) struct `Purchases` {
  @Test(.rule("DIAGNOSIS-11")) func `fail without an App Store, and are reported as not simulated`() async throws {
    let fixture = try SDKFixture()
    try await fixture.begin()
    let buyer = Buyer()
    fixture.process.asCurrent {
      let request = SKProductsRequest(productIdentifiers: ["a"])
      request.delegate = buyer
      request.start()
      let queue = SKPaymentQueue.default()
      queue.add(buyer)
      queue.add(SKPayment(product: SKProduct()))
      queue.restoreCompletedTransactions()
      #expect(!SKPaymentQueue.canMakePayments() && queue.transactions.isEmpty)
    }
    var events: Set<String> = []
    for await text in buyer.events where events.insert(text).inserted && events.count == 3 { break }
    #expect(events == ["request failed: 0", "failed: 4", "restore failed"])
    SKPaymentQueue.default().remove(buyer)
    let reported = await fixture.sent(FaultNoticed.self).filter { $0.fault == .notSimulated }
    #expect(
      Set(reported.map(\.subject)) == [
        "SKProductsRequest.start", "SKPaymentQueue.add", "SKPaymentQueue.restoreCompletedTransactions",
        "SKPaymentQueue.canMakePayments",
      ])
  }

  @Test func `the transaction of the app throws an error`() async {
    await #expect(throws: StoreKitError.self) { try await AppTransaction.shared.payloadValue }
    await #expect(throws: StoreKitError.self) { try await AppTransaction.refresh() }
    #expect(!AppStore.canMakePayments)
    let unverified = VerificationResult.unverified(7, .invalidSignature)
    #expect(unverified.unsafePayloadValue == 7)
    #expect(throws: VerificationResult<Int>.VerificationError.invalidSignature) { try unverified.payloadValue }
  }
}
