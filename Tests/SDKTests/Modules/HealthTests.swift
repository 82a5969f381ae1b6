// SPDX-License-Identifier: Apache-2.0

import FidelityRules
import Foundation
import Messages
import Testing

@testable import AuthorRuntime
@testable import HealthKit

@Suite(.timeLimit(.minutes(1))) struct `Health data` {
  private let steps = HKQuantityType(.stepCount)

  @Test(.rule("DIAGNOSIS-11")) func `a device has none: every question fails, and the use is reported`() async throws {
    let fixture = try SDKFixture()
    try await fixture.begin()
    fixture.process.asCurrent { #expect(!HKHealthStore.isHealthDataAvailable()) }
    let reported = await fixture.sent(FaultNoticed.self).filter { $0.fault == .notSimulated }
    #expect(reported.map(\.subject) == ["HKHealthStore"])
    let store = HKHealthStore()
    #expect(store.authorizationStatus(for: steps) == .notDetermined)
    await #expect(throws: HKError(.errorHealthDataUnavailable)) {
      try await store.requestAuthorization(toShare: [], read: [HKQuantityType(.stepCount)])
    }
    let sample = HKQuantitySample(
      type: steps, quantity: HKQuantity(unit: .count(), doubleValue: 7), start: .now, end: .now)
    await #expect(throws: HKError.self) { try await store.save(sample) }
  }

  @Test func `each query ends with the error`() async {
    let store = HKHealthStore()
    let errors = AsyncStream<Int?> { continuation in
      let answer = { @Sendable (error: (any Error)?) in _ = continuation.yield((error as? HKError)?.errorCode) }
      store.execute(
        HKSampleQuery(sampleType: steps, predicate: nil, limit: HKObjectQueryNoLimit, sortDescriptors: nil) {
          answer($1 == nil ? $2 : nil)
        })
      store.execute(
        HKStatisticsQuery(quantityType: steps, quantitySamplePredicate: nil, options: .cumulativeSum) { answer($2) })
      let collection = HKStatisticsCollectionQuery(
        quantityType: steps, quantitySamplePredicate: nil, options: .cumulativeSum, anchorDate: .now,
        intervalComponents: DateComponents(day: 1))
      collection.initialResultsHandler = { answer($2) }
      store.execute(collection)
      store.execute(HKAnchoredObjectQuery(type: steps, predicate: nil, anchor: nil, limit: 1) { answer($4) })
      store.execute(HKObserverQuery(sampleType: steps, predicate: nil) { answer($2) })
    }
    var codes: [Int?] = []
    for await code in errors.prefix(5) { codes.append(code) }
    #expect(codes == Array(repeating: 1, count: 5))
  }

  @Test(arguments: [
    ("mg/dL", "mmol<180.1558800000541>/L", 90.0, 4.9957), ("lb", "kg", 150, 68.0389), ("count/min", "count/s", 90, 1.5),
    ("degF", "degC", 98.6, 37), ("kcal", "kJ", 2, 8.368), ("%", "count", 12, 0.12), ("mi/hr", "m/s", 10, 4.4704),
    ("mL/(kg*min)", "L/(kg·hr)", 50, 3), ("m^2", "cm^2", 1, 10_000), ("IU/hr", "IU/min", 6, 0.1),
  ])
  func `a quantity is converted between units of the same kind`(from: String, to: String, value: Double, result: Double)
  {
    let quantity = HKQuantity(unit: HKUnit(from: from), doubleValue: value)
    let unit = HKUnit(from: to)
    #expect(quantity.is(compatibleWith: unit) && abs(quantity.doubleValue(for: unit) - result) < abs(result) * 1e-5)
    #expect(quantity.doubleValue(for: HKUnit(from: from)) == value)
  }

  @Test func `a unit has its text, and equals one of another form`() {
    let concentration = HKUnit.gramUnit(with: .milli).unitDivided(by: .literUnit(with: .deci))
    #expect(concentration.unitString == "mg/dL" && concentration == HKUnit(from: "mg/dL"))
    #expect(HKUnit.kilocalorie() == HKUnit.largeCalorie() && HKUnit.pound() != HKUnit.ounce())
    #expect(!HKQuantity(unit: .count(), doubleValue: 1).is(compatibleWith: .gram()))
    let heavier = HKQuantity(unit: .gramUnit(with: .kilo), doubleValue: 1)
    #expect(heavier.compare(HKQuantity(unit: .gram(), doubleValue: 999)) == .orderedDescending)
    #expect(heavier.compare(HKQuantity(unit: .gram(), doubleValue: 1000)) == .orderedSame)
    #expect(HKUnit.count().unitDivided(by: .minute()).reciprocal().unitString == "1/(count/min)")
  }

  @Test func `a predicate selects samples by their time`() {
    let start = Date(timeIntervalSinceReferenceDate: 0)
    let sample = HKCategorySample(
      type: HKCategoryType(.mindfulSession), value: 0, start: start, end: start.addingTimeInterval(60))
    func accepts(_ begin: TimeInterval, _ end: TimeInterval, options: HKQueryOptions = []) -> Bool {
      HKQuery.predicateForSamples(
        withStart: start.addingTimeInterval(begin), end: start.addingTimeInterval(end), options: options
      ).evaluate(with: sample)
    }
    #expect(accepts(-1, 90) && accepts(30, 90) && !accepts(61, 90) && !accepts(-9, 0))
    #expect(!accepts(30, 90, options: .strictStartDate) && accepts(0, 30) && !accepts(0, 30, options: .strictEndDate))
    #expect(sample.sampleType.identifier == "HKCategoryTypeIdentifierMindfulSession")
    #expect(HKQuantityTypeIdentifier.vo2Max.rawValue == "HKQuantityTypeIdentifierVO2Max")
  }
}
