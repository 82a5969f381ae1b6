// SPDX-License-Identifier: Apache-2.0

@_exported public import Foundation
// OpenCombine has Combine's declarations. This module adds those of Foundation.
@_exported public import OpenCombine
@_exported public import OpenCombineDispatch
