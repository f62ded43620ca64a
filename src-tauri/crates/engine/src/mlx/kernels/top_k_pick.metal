constant constexpr uint NO_ID = 0xffffffffu;
struct Picked {
  float value;
  uint id;
};
/// Takes the largest value out of those of a threadgroup of 256 threads, with the lowest id among equals; a value whose
/// id is NO_ID is not there. `tops` and `firsts` are 8 places of shared memory.
template <int N, typename Floats, typename Uints>
inline Picked pick(thread const float (&values)[N], thread uint (&ids)[N], Floats tops, Uints firsts, uint lane,
                   uint simd) {
  float top = -INFINITY;
  for (int i = 0; i < N; ++i)
    if (ids[i] != NO_ID) top = max(top, values[i]);
  top = simd_max(top);
  uint first = NO_ID;
  for (int i = 0; i < N; ++i)
    if (ids[i] != NO_ID && values[i] == top) first = min(first, ids[i]);
  first = simd_min(first);
  if (lane == 0) {
    tops[simd] = top;
    firsts[simd] = first;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const float best = lane < 8 ? float(tops[lane]) : -INFINITY;
  const float largest = simd_max(best);
  const uint winner = simd_min(lane < 8 && best == largest ? uint(firsts[lane]) : NO_ID);
  for (int i = 0; i < N; ++i)
    if (ids[i] == winner) ids[i] = NO_ID;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  return {largest, winner};
}
/// The sum over a threadgroup of 256 threads, by way of 8 places of shared memory.
template <typename Floats>
inline float sum_of_group(float x, Floats sums, uint lane, uint simd) {
  x = simd_sum(x);
  if (lane == 0) sums[simd] = x;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  return simd_sum(lane < 8 ? float(sums[lane]) : 0.0f);
}
