// SPDX-License-Identifier: Apache-2.0

// `CGFloat`, `CGPoint`, `CGSize` and `CGRect` are Foundation's.
@_exported public import Foundation
