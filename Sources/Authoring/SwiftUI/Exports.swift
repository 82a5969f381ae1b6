// What an author's file sees with `import SwiftUI` alone.
@_exported public import BackgroundURLSession
@_exported public import Foundation
@_exported public import UIKit
