// SPDX-License-Identifier: Apache-2.0

@_exported public import Foundation
@_exported public import UIKit
// The modules that an author's file gets from `import SwiftUI`.
@_exported public import URLSessionAPI
