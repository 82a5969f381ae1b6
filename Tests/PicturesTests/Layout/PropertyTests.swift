// SPDX-License-Identifier: Apache-2.0

import Archive
import Testing

@testable import Layout

@Suite(.timeLimit(.minutes(1))) struct `Properties of every layout` {
  /// Random trees, the same for the same seed.
  private struct Trees {
    var random: Numbers

    struct Numbers: RandomNumberGenerator {
      var state: UInt64
      mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        var value = state
        value = (value ^ (value >> 31)) &* 0x9E37_79B9_7F4A_7C15
        return value ^ (value >> 29)
      }
    }

    mutating func number(_ range: ClosedRange<Double>) -> ArchivedValue {
      .number(Double.random(in: range, using: &random).rounded())
    }

    /// - Parameter isSimple: without modifiers whose content may be larger than its frame.
    mutating func view(depth: Int, isSimple: Bool) -> ViewArchive {
      var view = depth == 0 ? leaf() : stack(depth: depth, isSimple: isSimple)
      for _ in 0..<Int.random(in: 0...2, using: &random) { view = modified(view, isSimple: isSimple) }
      return view
    }

    private mutating func leaf() -> ViewArchive {
      switch Int.random(in: 0..<7, using: &random) {
      case 0: .color()
      case 1: ViewArchive(.leaf(.spacer))
      case 2: ViewArchive(.leaf(.divider))
      case 3: ViewArchive(.shape(.circle))
      case 4: ViewArchive(.leaf(.image), [.systemName: "star"])
      default:
        .text(
          (0..<Int.random(in: 1...9, using: &random)).map { String(repeating: "w", count: 1 + $0 % 5) }
            .joined(separator: " "))
      }
    }

    private mutating func stack(depth: Int, isSimple: Bool) -> ViewArchive {
      let names: [ContainerView] =
        isSimple ? [.hStack, .vStack] : [.hStack, .vStack, .zStack, .viewThatFits, .geometryReader]
      var children: [ViewArchive] = []
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        children.append(view(depth: Int.random(in: 0..<depth, using: &random), isSimple: isSimple))
      }
      return ViewArchive.stack(names.randomElement(using: &random) ?? .hStack, children)
    }

    private mutating func modified(_ view: ViewArchive, isSimple: Bool) -> ViewArchive {
      switch Int.random(in: 0..<(isSimple ? 3 : 9), using: &random) {
      case 0: view.modified(.layout(.padding), [.length: number(0...9)])
      case 1: view.modified(.layout(.layoutPriority), [.value: number(-1...1)])
      case 2: view.modified(.style(.font), [.font: "caption"])
      case 3: view.modified(.layout(.frame), [.width: number(0...90)])
      case 4: view.modified(.layout(.frame), [.minWidth: number(0...50), .maxHeight: .number(.infinity)])
      case 5: view.modified(.layout(.fixedSize))
      case 6: view.modified(.layout(.aspectRatio), [.ratio: number(1...3), .contentMode: "fit"])
      case 7: view.modified(.layer(.overlay), [.alignment: "top"], views: [leaf()])
      default: view.modified(.layout(.offset), [.x: number(-9...9)])
      }
    }
  }

  @Test(arguments: 1...60) func `no frame has a number that is not finite, and no size is negative`(seed: Int) {
    var trees = Trees(random: .init(state: UInt64(seed)))
    let view = trees.view(depth: 4, isSimple: false)
    for (width, height) in [(158.0, 158.0), (338, 158), (20, 20), (0, 0)] {
      for placed in view.layout(width, height).views {
        placed.walk { view in
          #expect(view.frame.isFinite)
          #expect(view.frame.size.width >= 0 && view.frame.size.height >= 0)
        }
      }
    }
  }

  @Test(arguments: 1...20) func `the same view has the same layout`(seed: Int) {
    var (one, other) = (
      Trees(random: .init(state: UInt64(seed))), Trees(random: .init(state: UInt64(seed)))
    )
    let first = one.view(depth: 4, isSimple: false).layout(158, 158)
    let second = other.view(depth: 4, isSimple: false).layout(158, 158)
    #expect(first == second)
  }

  @Test(arguments: 1...60) func `the children of a stack are within it, in order and without overlap`(seed: Int) {
    var trees = Trees(random: .init(state: UInt64(seed)))
    let view = trees.view(depth: 4, isSimple: true)
    for placed in view.layout(158, 158).views {
      placed.walk { stack in
        guard stack.name == "HStack" || stack.name == "VStack" else { return }
        let frame = stack.frame
        for child in stack.children {
          #expect(child.frame.minX >= frame.minX - 0.01 && child.frame.maxX <= frame.maxX + 0.01)
          #expect(child.frame.minY >= frame.minY - 0.01 && child.frame.maxY <= frame.maxY + 0.01)
        }
        let axis = stack.name == "HStack" ? Axis.horizontal : .vertical
        for (child, next) in zip(stack.children, stack.children.dropFirst()) {
          #expect(next.frame.origin[axis] >= child.frame.origin[axis] + child.frame.size[axis] - 0.01)
        }
      }
    }
  }
}
