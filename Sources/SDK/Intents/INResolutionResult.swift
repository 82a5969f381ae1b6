// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// What a handler answers about a parameter. Source: `Intents.INIntentResolutionResult`. Handlers are never called here.
open class INIntentResolutionResult: NSObject {
  public required override init() { super.init() }
  open class func needsValue() -> Self { Self() }
  open class func notRequired() -> Self { Self() }
  open class func unsupported() -> Self { Self() }
}

/// Source: `Intents.INObjectResolutionResult`.
open class INObjectResolutionResult: INIntentResolutionResult {
  open class func success(with resolvedObject: INObject) -> Self { Self() }
  open class func disambiguation(with objectsToDisambiguate: [INObject]) -> Self { Self() }
  open class func confirmationRequired(with objectToConfirm: INObject?) -> Self { Self() }
}

/// Source: `Intents.INEnumResolutionResult`.
open class INEnumResolutionResult: INIntentResolutionResult {
  open class func success(with resolvedValue: Int) -> Self { Self() }
  open class func confirmationRequired(with valueToConfirm: Int) -> Self { Self() }
}

/// Source: `Intents.INStringResolutionResult`.
open class INStringResolutionResult: INIntentResolutionResult {
  open class func success(with resolvedString: String) -> Self { Self() }
  open class func disambiguation(with stringsToDisambiguate: [String]) -> Self { Self() }
  open class func confirmationRequired(with stringToConfirm: String?) -> Self { Self() }
}

/// Source: `Intents.INBooleanResolutionResult`.
open class INBooleanResolutionResult: INIntentResolutionResult {
  open class func success(with resolvedValue: Bool) -> Self { Self() }
  open class func confirmationRequired(with valueToConfirm: NSNumber?) -> Self { Self() }
}

/// Source: `Intents.INIntegerResolutionResult`.
open class INIntegerResolutionResult: INIntentResolutionResult {
  open class func success(with resolvedValue: Int) -> Self { Self() }
  open class func confirmationRequired(with valueToConfirm: NSNumber?) -> Self { Self() }
}

/// Source: `Intents.INDoubleResolutionResult`.
open class INDoubleResolutionResult: INIntentResolutionResult {
  open class func success(with resolvedValue: Double) -> Self { Self() }
  open class func confirmationRequired(with valueToConfirm: NSNumber?) -> Self { Self() }
}

/// Source: `Intents.INDateComponentsResolutionResult`.
open class INDateComponentsResolutionResult: INIntentResolutionResult {
  open class func success(with resolvedDateComponents: DateComponents) -> Self { Self() }
}

/// Source: `Intents.INURLResolutionResult`.
open class INURLResolutionResult: INIntentResolutionResult {
  open class func success(with resolvedURL: URL) -> Self { Self() }
}
