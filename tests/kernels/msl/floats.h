// 16-bit floats: to load, to store and to convert, not to compute with. The language would round each result; a host's
// class would not.
#pragma once
#include <cstdint>
#include <cstring>

namespace msl {

inline uint32_t bits_of(float x) { uint32_t u; std::memcpy(&u, &x, 4); return u; }
inline float float_of(uint32_t u) { float x; std::memcpy(&x, &u, 4); return x; }

struct bfloat {
  uint16_t bits;
  bfloat() = default;
  explicit bfloat(float x) {
    const uint32_t u = bits_of(x);
    bits = (u & 0x7fffffff) > 0x7f800000 ? 0x7fc0 : (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
  }
  explicit bfloat(int x) : bfloat((float)x) {}
  explicit operator float() const { return float_of((uint32_t)bits << 16); }
};

struct half {
  uint16_t bits;
  half() = default;
  explicit half(float x) {
    const uint32_t u = bits_of(x), sign = u >> 16 & 0x8000, mantissa = u & 0x7fffffff;
    if (mantissa > 0x7f800000) bits = sign | 0x7e00;
    else if (mantissa >= 0x477ff000) bits = sign | 0x7c00;
    else if (mantissa >= 0x38800000) bits = sign | ((mantissa - 0x38000000 + 0xfff + (mantissa >> 13 & 1)) >> 13);
    else {
      // Subnormal: the addition rounds at the right place.
      const float shifted = float_of(mantissa) + 0.5f;
      bits = sign | (bits_of(shifted) - 0x3f000000);
    }
  }
  explicit half(int x) : half((float)x) {}
  explicit operator float() const {
    const uint32_t sign = (uint32_t)(bits & 0x8000) << 16, rest = bits & 0x7fff;
    if (rest >= 0x7c00) return float_of(sign | 0x7f800000 | (rest & 0x3ff) << 13);
    if (rest >= 0x0400) return float_of(sign | ((rest << 13) + 0x38000000));
    const float x = (float)rest * 0x1p-24f;
    return sign ? -x : x;
  }
};

}  // namespace msl
