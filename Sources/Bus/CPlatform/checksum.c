// SPDX-License-Identifier: Apache-2.0

#include "CPlatform.h"

#if defined(__x86_64__)

#include <immintrin.h>

// After Gopal and others, "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction", Intel, 2009.
// The constants are powers of x modulo the polynomial, as that paper gives them for CRC-32.

#define FOLDING __attribute__((target("pclmul,sse4.1")))

// Moves the value of a lane ahead by as many bits as the constants state, and adds the value found there.
FOLDING static inline __m128i fold(__m128i lane, __m128i by, __m128i ahead) {
  const __m128i low = _mm_clmulepi64_si128(lane, by, 0x00), high = _mm_clmulepi64_si128(lane, by, 0x11);
  return _mm_xor_si128(_mm_xor_si128(low, high), ahead);
}

FOLDING static inline __m128i load(const uint8_t *bytes) { return _mm_loadu_si128((const __m128i *)bytes); }

FOLDING static uint32_t folded(const uint8_t *bytes, size_t count, uint32_t sum) {
  const __m128i by_512 = _mm_set_epi64x(0x01c6e41596, 0x0154442bd4), by_128 = _mm_set_epi64x(0x00ccaa009e, 0x01751997d0);
  const __m128i by_64 = _mm_set_epi64x(0, 0x0163cd6124), reduction = _mm_set_epi64x(0x01f7011641, 0x01db710641);
  const __m128i low_half = _mm_setr_epi32(-1, 0, -1, 0);
  const uint8_t *end = bytes + count;
  __m128i lanes[4];
  for (int index = 0; index < 4; index++) lanes[index] = load(bytes + 16 * index);
  lanes[0] = _mm_xor_si128(lanes[0], _mm_cvtsi32_si128((int)sum));
  for (bytes += 64; end - bytes >= 64; bytes += 64)
    for (int index = 0; index < 4; index++) lanes[index] = fold(lanes[index], by_512, load(bytes + 16 * index));
  __m128i lane = lanes[0];
  for (int index = 1; index < 4; index++) lane = fold(lane, by_128, lanes[index]);
  for (; end - bytes >= 16; bytes += 16) lane = fold(lane, by_128, load(bytes));
  // 128 bits to 96, to 64, and to the remainder (Barrett).
  lane = _mm_xor_si128(_mm_srli_si128(lane, 8), _mm_clmulepi64_si128(lane, by_128, 0x10));
  lane = _mm_xor_si128(_mm_srli_si128(lane, 4), _mm_clmulepi64_si128(_mm_and_si128(lane, low_half), by_64, 0x00));
  __m128i quotient = _mm_clmulepi64_si128(_mm_and_si128(lane, low_half), reduction, 0x10);
  quotient = _mm_clmulepi64_si128(_mm_and_si128(quotient, low_half), reduction, 0x00);
  return (uint32_t)_mm_extract_epi32(_mm_xor_si128(lane, quotient), 1);
}

size_t checksum_fold(const void *bytes, size_t count, uint32_t *sum) {
  if (count < 64 || !__builtin_cpu_supports("pclmul") || !__builtin_cpu_supports("sse4.1")) return 0;
  const size_t whole = count - count % 16;
  *sum = folded(bytes, whole, *sum);
  return whole;
}

#else

size_t checksum_fold(const void *bytes, size_t count, uint32_t *sum) {
  (void)bytes, (void)count, (void)sum;
  return 0;
}

#endif
