import Pushes
import Testing

@Suite struct `Pushes` {
  @Test func `is linked`() {}
}
