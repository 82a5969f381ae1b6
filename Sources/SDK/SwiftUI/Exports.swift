// SPDX-License-Identifier: Apache-2.0

@_exported public import Foundation
@_exported public import Observation
@_exported public import UIKit
// The modules that an author's file gets from `import SwiftUI`.
@_exported public import URLSessionAPI

@_exported public import protocol OpenCombine.ObservableObject
// What SwiftUI exports of Combine. Archived views observe no changes: the system requests new views.
@_exported public import class OpenCombine.ObservableObjectPublisher
@_exported public import struct OpenCombine.Published
