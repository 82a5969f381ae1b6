// SPDX-License-Identifier: Apache-2.0

@_exported public import Foundation

// Vectors and matrices of vDSP. A matrix is stored by rows. The parameters have Apple's order.

/// A number of elements. Source: `Accelerate.vDSP_Length`.
// swift-format-ignore: TypeNamesShouldBeCapitalized
public typealias vDSP_Length = UInt
/// The distance between two elements. Source: `Accelerate.vDSP_Stride`.
// swift-format-ignore: TypeNamesShouldBeCapitalized
public typealias vDSP_Stride = Int

/// The sum of the products of two vectors. Source: `Accelerate.vDSP_dotprD`.
public func vDSP_dotprD(
  _ a: UnsafePointer<Double>, _ strideA: vDSP_Stride, _ b: UnsafePointer<Double>, _ strideB: vDSP_Stride,
  _ result: UnsafeMutablePointer<Double>, _ count: vDSP_Length
) { result.pointee = dot(a, strideA: strideA, b: b, strideB: strideB, count: Int(count)) }

/// Source: `Accelerate.vDSP_dotpr`.
public func vDSP_dotpr(
  _ a: UnsafePointer<Float>, _ strideA: vDSP_Stride, _ b: UnsafePointer<Float>, _ strideB: vDSP_Stride,
  _ result: UnsafeMutablePointer<Float>, _ count: vDSP_Length
) { result.pointee = dot(a, strideA: strideA, b: b, strideB: strideB, count: Int(count)) }

/// Exchanges rows and columns. Source: `Accelerate.vDSP_mtransD`.
///
/// - Parameter rows: of the result.
public func vDSP_mtransD(
  _ a: UnsafePointer<Double>, _ strideA: vDSP_Stride, _ result: UnsafeMutablePointer<Double>, _ stride: vDSP_Stride,
  _ rows: vDSP_Length, _ columns: vDSP_Length
) { transpose(a, strideA: strideA, result: result, stride: stride, rows: Int(rows), columns: Int(columns)) }

/// Source: `Accelerate.vDSP_mtrans`.
public func vDSP_mtrans(
  _ a: UnsafePointer<Float>, _ strideA: vDSP_Stride, _ result: UnsafeMutablePointer<Float>, _ stride: vDSP_Stride,
  _ rows: vDSP_Length, _ columns: vDSP_Length
) { transpose(a, strideA: strideA, result: result, stride: stride, rows: Int(rows), columns: Int(columns)) }

/// The product of two matrices. Source: `Accelerate.vDSP_mmulD`.
///
/// - Parameters:
///   - rows: of the first matrix and of the result.
///   - columns: of the second matrix and of the result.
///   - inner: the columns of the first matrix, and the rows of the second.
public func vDSP_mmulD(
  _ a: UnsafePointer<Double>, _ strideA: vDSP_Stride, _ b: UnsafePointer<Double>, _ strideB: vDSP_Stride,
  _ result: UnsafeMutablePointer<Double>, _ stride: vDSP_Stride, _ rows: vDSP_Length, _ columns: vDSP_Length,
  _ inner: vDSP_Length
) {
  multiply(
    a, strideA: strideA, b: b, strideB: strideB, result: result, stride: stride,
    size: (Int(rows), Int(columns), Int(inner)))
}

/// Source: `Accelerate.vDSP_mmul`.
public func vDSP_mmul(
  _ a: UnsafePointer<Float>, _ strideA: vDSP_Stride, _ b: UnsafePointer<Float>, _ strideB: vDSP_Stride,
  _ result: UnsafeMutablePointer<Float>, _ stride: vDSP_Stride, _ rows: vDSP_Length, _ columns: vDSP_Length,
  _ inner: vDSP_Length
) {
  multiply(
    a, strideA: strideA, b: b, strideB: strideB, result: result, stride: stride,
    size: (Int(rows), Int(columns), Int(inner)))
}

private func dot<Value: FloatingPoint>(
  _ a: UnsafePointer<Value>, strideA: Int, b: UnsafePointer<Value>, strideB: Int, count: Int
) -> Value {
  var sum: Value = 0
  for index in 0..<count { sum += a[index * strideA] * b[index * strideB] }
  return sum
}

private func transpose<Value>(
  _ a: UnsafePointer<Value>, strideA: Int, result: UnsafeMutablePointer<Value>, stride: Int, rows: Int,
  columns: Int
) {
  // The result may be the matrix itself.
  let values = (0..<rows * columns).map { a[$0 * strideA] }
  for row in 0..<rows {
    for column in 0..<columns { result[(row * columns + column) * stride] = values[column * rows + row] }
  }
}

private func multiply<Value: FloatingPoint>(
  _ a: UnsafePointer<Value>, strideA: Int, b: UnsafePointer<Value>, strideB: Int,
  result: UnsafeMutablePointer<Value>, stride: Int, size: (rows: Int, columns: Int, inner: Int)
) {
  for row in 0..<size.rows {
    for column in 0..<size.columns {
      result[(row * size.columns + column) * stride] = dot(
        a + row * size.inner * strideA, strideA: strideA, b: b + column * strideB, strideB: size.columns * strideB,
        count: size.inner)
    }
  }
}

// Linear equations with LAPACK's functions. A matrix is stored by columns, and rows are counted from 1.
// Source of the rules: LAPACK's descriptions of DGETRF, DGETRI and DGETRS.

/// Source: `Accelerate.__CLPK_integer`.
public typealias __CLPK_integer = Int32
/// Source: `Accelerate.__CLPK_doublereal`.
public typealias __CLPK_doublereal = Double

/// A matrix in the memory of the caller.
private struct Columns {
  let values: UnsafeMutablePointer<Double>
  /// The distance between two columns.
  let stride: Int

  subscript(row: Int, column: Int) -> Double {
    get { values[row + column * stride] }
    nonmutating set { values[row + column * stride] = newValue }
  }

  func exchange(_ row: Int, _ other: Int, columns: Int) {
    guard row != other else { return }
    for column in 0..<columns {
      let value = self[row, column]
      self[row, column] = self[other, column]
      self[other, column] = value
    }
  }
}

/// Factors a matrix as P · L · U, with pivots in the rows. Source: LAPACK, DGETRF.
///
/// - Parameters:
///   - stride: the distance between two columns.
///   - pivots: the row with which each row was exchanged.
///   - info: 0; −i if the parameter i is not valid; i if U has a zero in the diagonal, first at i.
@discardableResult
public func dgetrf_(
  _ rows: UnsafeMutablePointer<__CLPK_integer>, _ columns: UnsafeMutablePointer<__CLPK_integer>,
  _ matrix: UnsafeMutablePointer<__CLPK_doublereal>, _ stride: UnsafeMutablePointer<__CLPK_integer>,
  _ pivots: UnsafeMutablePointer<__CLPK_integer>, _ info: UnsafeMutablePointer<__CLPK_integer>
) -> Int32 {
  let (m, n) = (Int(rows.pointee), Int(columns.pointee))
  info.pointee = m < 0 ? -1 : n < 0 ? -2 : Int(stride.pointee) < max(1, m) ? -4 : 0
  guard info.pointee == 0 else { return 0 }
  let a = Columns(values: matrix, stride: Int(stride.pointee))
  for step in 0..<min(m, n) {
    // The first of the largest, as IDAMAX chooses.
    let pivot = (step..<m).reduce(step) { abs(a[$1, step]) > abs(a[$0, step]) ? $1 : $0 }
    pivots[step] = __CLPK_integer(pivot + 1)
    guard a[pivot, step] != 0 else {
      if info.pointee == 0 { info.pointee = __CLPK_integer(step + 1) }
      continue
    }
    a.exchange(step, pivot, columns: n)
    for row in step + 1..<max(m, step + 1) {
      a[row, step] /= a[step, step]
      for column in step + 1..<max(n, step + 1) { a[row, column] -= a[row, step] * a[step, column] }
    }
  }
  return 0
}

/// Solves equations with the factors of `dgetrf_`. Source: LAPACK, DGETRS.
///
/// - Parameters:
///   - transposed: `N`, or `T` or `C` for the transposed matrix.
///   - right: the right-hand sides, a column each; then the solutions.
///   - info: 0; −i if the parameter i is not valid.
@discardableResult
public func dgetrs_(
  _ transposed: UnsafeMutablePointer<CChar>!, _ order: UnsafeMutablePointer<__CLPK_integer>,
  _ count: UnsafeMutablePointer<__CLPK_integer>, _ matrix: UnsafeMutablePointer<__CLPK_doublereal>,
  _ stride: UnsafeMutablePointer<__CLPK_integer>, _ pivots: UnsafeMutablePointer<__CLPK_integer>,
  _ right: UnsafeMutablePointer<__CLPK_doublereal>, _ rightStride: UnsafeMutablePointer<__CLPK_integer>,
  _ info: UnsafeMutablePointer<__CLPK_integer>
) -> Int32 {
  let (n, sides) = (Int(order.pointee), Int(count.pointee))
  let form = transposed.map { Character(UnicodeScalar(UInt8(bitPattern: $0.pointee))).uppercased() } ?? ""
  info.pointee =
    !["N", "T", "C"].contains(form)
    ? -1
    : n < 0 ? -2 : sides < 0 ? -3 : Int(stride.pointee) < max(1, n) ? -5 : Int(rightStride.pointee) < max(1, n) ? -8 : 0
  guard info.pointee == 0 else { return 0 }
  let a = Columns(values: matrix, stride: Int(stride.pointee))
  let b = Columns(values: right, stride: Int(rightStride.pointee))
  let rows = (0..<n).map { Int(pivots[$0]) - 1 }
  if form == "N" {
    for row in 0..<n { b.exchange(row, rows[row], columns: sides) }
    for side in 0..<sides {
      for row in 0..<n { for k in 0..<row { b[row, side] -= a[row, k] * b[k, side] } }
      for row in (0..<n).reversed() {
        for k in row + 1..<max(n, row + 1) { b[row, side] -= a[row, k] * b[k, side] }
        b[row, side] /= a[row, row]
      }
    }
  } else {
    for side in 0..<sides {
      for row in 0..<n {
        for k in 0..<row { b[row, side] -= a[k, row] * b[k, side] }
        b[row, side] /= a[row, row]
      }
      for row in (0..<n).reversed() { for k in row + 1..<max(n, row + 1) { b[row, side] -= a[k, row] * b[k, side] } }
    }
    for row in (0..<n).reversed() { b.exchange(row, rows[row], columns: sides) }
  }
  return 0
}

/// Inverts a matrix with the factors of `dgetrf_`. Source: LAPACK, DGETRI.
///
/// - Parameters:
///   - work: not used, except that the size that a caller asks for with a size of −1 is written into it.
///   - info: 0; −i if the parameter i is not valid; i if the matrix has no inverse, because U has a zero at i.
@discardableResult
public func dgetri_(
  _ order: UnsafeMutablePointer<__CLPK_integer>, _ matrix: UnsafeMutablePointer<__CLPK_doublereal>,
  _ stride: UnsafeMutablePointer<__CLPK_integer>, _ pivots: UnsafeMutablePointer<__CLPK_integer>,
  _ work: UnsafeMutablePointer<__CLPK_doublereal>, _ workSize: UnsafeMutablePointer<__CLPK_integer>,
  _ info: UnsafeMutablePointer<__CLPK_integer>
) -> Int32 {
  let n = Int(order.pointee)
  let isQuestion = workSize.pointee == -1
  info.pointee =
    n < 0 ? -1 : Int(stride.pointee) < max(1, n) ? -3 : !isQuestion && Int(workSize.pointee) < max(1, n) ? -6 : 0
  guard info.pointee == 0, !isQuestion else {
    if isQuestion { work.pointee = Double(max(1, n)) }
    return 0
  }
  let a = Columns(values: matrix, stride: Int(stride.pointee))
  if let zero = (0..<n).first(where: { a[$0, $0] == 0 }) {
    info.pointee = __CLPK_integer(zero + 1)
    return 0
  }
  var inverse = [Double](repeating: 0, count: n * n)
  for index in 0..<n { inverse[index * n + index] = 1 }
  var form = CChar(bitPattern: UInt8(ascii: "N"))
  var (sides, rows) = (order.pointee, max(1, order.pointee))
  dgetrs_(&form, order, &sides, matrix, stride, pivots, &inverse, &rows, info)
  for column in 0..<n { for row in 0..<n { a[row, column] = inverse[column * n + row] } }
  return 0
}
