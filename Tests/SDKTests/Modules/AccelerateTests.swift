// SPDX-License-Identifier: Apache-2.0

import Accelerate
import Testing

@Suite struct `Vectors and equations of Accelerate` {
  @Test func `a product of matrices, a transposed matrix and a dot product have their values`() {
    let a: [Double] = [1, 2, 3, 4, 5, 6]
    var product = [Double](repeating: 0, count: 4)
    // 2 × 3 by 3 × 2.
    vDSP_mmulD(a, 1, [7, 8, 9, 10, 11, 12], 1, &product, 1, 2, 2, 3)
    #expect(product == [58, 64, 139, 154])
    var transposed = a
    vDSP_mtransD(a, 1, &transposed, 1, 3, 2)
    #expect(transposed == [1, 4, 2, 5, 3, 6])
    var sum: Float = 0
    vDSP_dotpr([1, 9, 2, 9], 2, [3, 4], 1, &sum, 2)
    #expect(sum == 11)
  }

  /// Three equations whose first pivot is not in the first row.
  private let matrix: [Double] = [0, 2, 1, 1, 1, 3, 2, 5, 1]

  private func factored(_ matrix: [Double]) -> (values: [Double], pivots: [__CLPK_integer], info: __CLPK_integer) {
    var (values, info) = (matrix, __CLPK_integer(0))
    var (m, n) = (__CLPK_integer(3), __CLPK_integer(3))
    var (stride, pivots) = (n, [__CLPK_integer](repeating: 0, count: 3))
    dgetrf_(&m, &n, &values, &stride, &pivots, &info)
    return (values, pivots, info)
  }

  @Test(arguments: ["N", "T"]) func `equations are solved, also with the transposed matrix`(form: String) {
    var (values, pivots, info) = factored(matrix)
    #expect(info == 0 && pivots == [2, 3, 3])
    let solution: [Double] = [1, -2, 3]
    var right: [Double] = [0, 0, 0]
    for row in 0..<3 {
      for column in 0..<3 {
        let factor = form == "N" ? matrix[row + column * 3] : matrix[column + row * 3]
        right[row] += factor * solution[column]
      }
    }
    var (n, sides, stride, rightStride) = (__CLPK_integer(3), __CLPK_integer(1), __CLPK_integer(3), __CLPK_integer(3))
    var text = Array(form.utf8CString)
    dgetrs_(&text, &n, &sides, &values, &stride, &pivots, &right, &rightStride, &info)
    #expect(info == 0)
    #expect(zip(right, solution).allSatisfy { abs($0 - $1) < 1e-12 })
  }

  @Test func `a matrix is inverted, and one without an inverse is named`() {
    var (values, pivots, info) = factored(matrix)
    var (n, stride, size, work) = (__CLPK_integer(3), __CLPK_integer(3), __CLPK_integer(-1), 0.0)
    dgetri_(&n, &values, &stride, &pivots, &work, &size, &info)
    #expect(work == 3)
    size = 3
    var place = [Double](repeating: 0, count: 3)
    dgetri_(&n, &values, &stride, &pivots, &place, &size, &info)
    var unit = [Double](repeating: 0, count: 9)
    // The transposed product of transposed matrices, whose columns are rows here.
    vDSP_mmulD(values, 1, matrix, 1, &unit, 1, 3, 3, 3)
    #expect(zip(unit, [1, 0, 0, 0, 1, 0, 0, 0, 1]).allSatisfy { abs($0 - $1) < 1e-12 })
    #expect(factored([1, 2, 3, 2, 4, 6, 0, 0, 1]).info == 2)
    stride = 2
    dgetri_(&n, &values, &stride, &pivots, &place, &size, &info)
    #expect(info == -3)
  }
}
