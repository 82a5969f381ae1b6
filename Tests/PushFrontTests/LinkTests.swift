import PushFront
import Testing

@Suite struct `PushFront` {
  @Test func `is linked`() {}
}
