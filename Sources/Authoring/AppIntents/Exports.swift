// What an author's file sees with `import AppIntents` alone.
@_exported public import BackgroundURLSession
@_exported public import Foundation
