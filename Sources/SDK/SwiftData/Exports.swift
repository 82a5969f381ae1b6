// SPDX-License-Identifier: Apache-2.0

@_exported public import Foundation
// The modules that `import SwiftData` makes visible to an author's file.
@_exported public import Observation
@_exported public import URLSessionAPI
