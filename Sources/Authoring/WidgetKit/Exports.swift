// What an author's file sees with `import WidgetKit` alone.
@_exported public import BackgroundURLSession
@_exported public import Foundation
