// The library of the language: where lanes meet, and mathematics.
#pragma once
#include <cmath>
#include <limits>
#include <type_traits>

#include "floats.h"
#include "memory.h"

namespace msl {

template <class T>
constexpr bool word = std::is_same_v<T, float> || std::is_same_v<T, int> || std::is_same_v<T, unsigned>;

/// The values that the lanes of a simdgroup handed over, of those that were there.
template <class T>
struct Lanes {
  T value[LANES];
  bool here[LANES];
};

template <class T>
Lanes<T> hand_over(T mine, const char* what, int line) {
  static_assert(word<T>, "only float, int and uint");
  Meeting& meeting = simdgroup();
  const unsigned turn = meeting.generation & 1, lane = self().place.thread_index_in_simdgroup;
  std::memcpy(&meeting.words[turn][lane], &mine, sizeof(T));
  meeting.here[turn][lane] = true;
  meet(meeting, what, line);
  Lanes<T> lanes;
  std::memcpy(lanes.value, meeting.words[turn], sizeof lanes.value);
  std::memcpy(lanes.here, meeting.here[turn], sizeof lanes.here);
  return lanes;
}

template <class T, class F>
T reduce(T mine, F f, const char* what, int line) {
  auto lanes = hand_over(mine, what, line);
  T left[LANES];
  int count = 0;
  for (int i = 0; i < LANES; ++i) {
    const int lane = options.sum == 2 ? LANES - 1 - i : i;
    if (lanes.here[lane]) left[count++] = lanes.value[lane];
  }
  if (options.sum != 0) {
    T all = left[0];
    for (int i = 1; i < count; ++i) all = f(all, left[i]);
    return all;
  }
  for (; count > 1; count = (count + 1) / 2)
    for (int i = 0; i < count / 2; ++i) left[i] = f(left[i], left[i + (count + 1) / 2]);
  return left[0];
}

template <class T>
T from_lane(T mine, int lane, const char* what, int line) {
  auto lanes = hand_over(mine, what, line);
  if (lane >= 0 && lane < LANES && lanes.here[lane]) return lanes.value[lane];
  T rubbish;
  std::memset(&rubbish, 0xd7, sizeof rubbish);
  return rubbish;
}

inline int lane() { return (int)self().place.thread_index_in_simdgroup; }

}  // namespace msl

namespace metal {

using msl::bfloat;
using msl::half;
using msl::uint3;
using uint = unsigned;
using ushort = uint16_t;
using uchar = uint8_t;

enum class mem_flags { mem_none = 0, mem_device = 1, mem_threadgroup = 2 };
constexpr mem_flags operator|(mem_flags a, mem_flags b) { return mem_flags((int)a | (int)b); }

#define MSL_LINE int line = __builtin_LINE()

inline void threadgroup_barrier(mem_flags flags, MSL_LINE) {
  const unsigned before = msl::threadgroup_meeting.generation;
  msl::meet(msl::threadgroup_meeting, "threadgroup_barrier", line);
  static unsigned counted = ~0u, counted_group = 0;
  // The first one through counts the fence.
  if (counted == before && counted_group == msl::dispatch_group) return;
  counted = before, counted_group = msl::dispatch_group;
  msl::group_fences[msl::DEVICE] += (int)flags & 1;
  msl::group_fences[msl::THREADGROUP] += (int)flags >> 1 & 1;
}

inline void simdgroup_barrier(mem_flags flags, MSL_LINE) {
  msl::Meeting& meeting = msl::simdgroup();
  const unsigned index = msl::self().place.simdgroup_index_in_threadgroup, before = meeting.generation;
  static std::vector<unsigned> counted;
  static unsigned counted_group = 0;
  if (counted_group != msl::dispatch_group) {
    counted.assign(msl::simdgroups.size(), ~0u);
    counted_group = msl::dispatch_group;
  }
  msl::meet(meeting, "simdgroup_barrier", line);
  if (counted[index] == before) return;
  counted[index] = before;
  msl::simd_fences[msl::DEVICE][index] += (int)flags & 1;
  msl::simd_fences[msl::THREADGROUP][index] += (int)flags >> 1 & 1;
}

template <class T> T simd_sum(T x, MSL_LINE) {
  return msl::reduce(x, [](T a, T b) { return a + b; }, "simd_sum", line);
}
template <class T> T simd_max(T x, MSL_LINE) {
  return msl::reduce(x, [](T a, T b) { return b > a ? b : a; }, "simd_max", line);
}
template <class T> T simd_min(T x, MSL_LINE) {
  return msl::reduce(x, [](T a, T b) { return b < a ? b : a; }, "simd_min", line);
}
inline bool simd_any(bool x, MSL_LINE) {
  return msl::reduce((int)x, [](int a, int b) { return a | b; }, "simd_any", line);
}
inline bool simd_all(bool x, MSL_LINE) {
  return msl::reduce((int)x, [](int a, int b) { return a & b; }, "simd_all", line);
}
template <class T> T simd_shuffle(T x, ushort lane, MSL_LINE) { return msl::from_lane(x, lane, "simd_shuffle", line); }
template <class T> T simd_broadcast(T x, ushort lane, MSL_LINE) {
  return msl::from_lane(x, lane, "simd_broadcast", line);
}
template <class T> T simd_shuffle_xor(T x, ushort mask, MSL_LINE) {
  return msl::from_lane(x, msl::lane() ^ mask, "simd_shuffle_xor", line);
}
template <class T> T simd_shuffle_down(T x, ushort by, MSL_LINE) {
  return msl::from_lane(x, msl::lane() + by, "simd_shuffle_down", line);
}
template <class T> T simd_shuffle_up(T x, ushort by, MSL_LINE) {
  return msl::from_lane(x, msl::lane() - by, "simd_shuffle_up", line);
}

#define MSL_UNARY(name) inline float name(float x) { return std::name(x); }
#define MSL_MATH \
  MSL_UNARY(exp) MSL_UNARY(exp2) MSL_UNARY(log) MSL_UNARY(log2) MSL_UNARY(sqrt) MSL_UNARY(sin) MSL_UNARY(cos) \
  MSL_UNARY(tanh) inline float rsqrt(float x) { return 1.0f / std::sqrt(x); } \
  inline float pow(float x, float y) { return std::pow(x, y); }
MSL_MATH MSL_UNARY(floor) MSL_UNARY(ceil) MSL_UNARY(round) MSL_UNARY(rint) MSL_UNARY(trunc) MSL_UNARY(fabs)
namespace precise { MSL_MATH }
// As inexact as the fast ones may be.
namespace fast {
#define MSL_FAST(name) inline float name(float x) { return std::name(x) * (1.0f + 0x1p-22f); }
MSL_FAST(exp) MSL_FAST(exp2) MSL_FAST(log) MSL_FAST(log2) MSL_FAST(sin) MSL_FAST(cos) MSL_FAST(tanh)
inline float rsqrt(float x) { return 1.0f / std::sqrt(x) * (1.0f + 0x1p-22f); }
}  // namespace fast
inline float fma(float a, float b, float c) { return std::fma(a, b, c); }
inline bool isnan(float x) { return x != x; }
inline bool isinf(float x) { return std::isinf(x); }
template <class T> T max(T a, T b) { static_assert(msl::word<T>); return a < b ? b : a; }
template <class T> T min(T a, T b) { static_assert(msl::word<T>); return b < a ? b : a; }
template <class T> T clamp(T x, T low, T high) { return min(max(x, low), high); }
template <class T> T select(T no, T yes, bool which) { return which ? yes : no; }
template <class T> T abs(T x) { return x < T(0) ? -x : x; }
template <class To, class From> To as_type(From x) {
  static_assert(sizeof(To) == sizeof(From));
  To y;
  std::memcpy(&y, &x, sizeof y);
  return y;
}
template <class T> struct numeric_limits : std::numeric_limits<T> {};
inline uint popcount(uint x) { return __builtin_popcount(x); }
inline uint clz(uint x) { return x ? __builtin_clz(x) : 32; }
inline uint mulhi(uint a, uint b) { return (uint64_t)a * b >> 32; }

}  // namespace metal
