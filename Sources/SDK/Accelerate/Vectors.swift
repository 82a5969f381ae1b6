// SPDX-License-Identifier: Apache-2.0

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
) { result.pointee = dot(a, strideA, b, strideB, Int(count)) }

/// Source: `Accelerate.vDSP_dotpr`.
public func vDSP_dotpr(
  _ a: UnsafePointer<Float>, _ strideA: vDSP_Stride, _ b: UnsafePointer<Float>, _ strideB: vDSP_Stride,
  _ result: UnsafeMutablePointer<Float>, _ count: vDSP_Length
) { result.pointee = dot(a, strideA, b, strideB, Int(count)) }

/// Exchanges rows and columns. Source: `Accelerate.vDSP_mtransD`.
///
/// - Parameter rows: of the result.
public func vDSP_mtransD(
  _ a: UnsafePointer<Double>, _ strideA: vDSP_Stride, _ result: UnsafeMutablePointer<Double>, _ stride: vDSP_Stride,
  _ rows: vDSP_Length, _ columns: vDSP_Length
) { transpose(a, strideA, result, stride, Int(rows), Int(columns)) }

/// Source: `Accelerate.vDSP_mtrans`.
public func vDSP_mtrans(
  _ a: UnsafePointer<Float>, _ strideA: vDSP_Stride, _ result: UnsafeMutablePointer<Float>, _ stride: vDSP_Stride,
  _ rows: vDSP_Length, _ columns: vDSP_Length
) { transpose(a, strideA, result, stride, Int(rows), Int(columns)) }

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
) { multiply(a, strideA, b, strideB, result, stride, (Int(rows), Int(columns), Int(inner))) }

/// Source: `Accelerate.vDSP_mmul`.
public func vDSP_mmul(
  _ a: UnsafePointer<Float>, _ strideA: vDSP_Stride, _ b: UnsafePointer<Float>, _ strideB: vDSP_Stride,
  _ result: UnsafeMutablePointer<Float>, _ stride: vDSP_Stride, _ rows: vDSP_Length, _ columns: vDSP_Length,
  _ inner: vDSP_Length
) { multiply(a, strideA, b, strideB, result, stride, (Int(rows), Int(columns), Int(inner))) }

private func dot<Value: FloatingPoint>(
  _ a: UnsafePointer<Value>, _ strideA: Int, _ b: UnsafePointer<Value>, _ strideB: Int, _ count: Int
) -> Value {
  var sum: Value = 0
  for index in 0..<count { sum += a[index * strideA] * b[index * strideB] }
  return sum
}

private func transpose<Value>(
  _ a: UnsafePointer<Value>, _ strideA: Int, _ result: UnsafeMutablePointer<Value>, _ stride: Int, _ rows: Int,
  _ columns: Int
) {
  // The result may be the matrix itself.
  let values = (0..<rows * columns).map { a[$0 * strideA] }
  for row in 0..<rows {
    for column in 0..<columns { result[(row * columns + column) * stride] = values[column * rows + row] }
  }
}

private func multiply<Value: FloatingPoint>(
  _ a: UnsafePointer<Value>, _ strideA: Int, _ b: UnsafePointer<Value>, _ strideB: Int,
  _ result: UnsafeMutablePointer<Value>, _ stride: Int, _ size: (rows: Int, columns: Int, inner: Int)
) {
  for row in 0..<size.rows {
    for column in 0..<size.columns {
      result[(row * size.columns + column) * stride] = dot(
        a + row * size.inner * strideA, strideA, b + column * strideB, size.columns * strideB, size.inner)
    }
  }
}
