/// `push-server`.
package enum PushServerProgram {
  /// Runs until it is ended.
  package static func main() async {}
}
