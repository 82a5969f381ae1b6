import PushStore
import Testing

@Suite struct `PushStore` {
  @Test func `is linked`() {}
}
