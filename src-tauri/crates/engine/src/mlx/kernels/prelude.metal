// In front of every kernel. Tests that run the kernels elsewhere say themselves what SHARED is.
#ifndef SHARED
#define SHARED(T, name, N) threadgroup T name[N]
#endif
/// ln(1 + x), exact where 1 + x rounds: Metal has no log1p.
inline float log_of_one_and(float x) {
  const float u = 1.0f + x;
  return u == 1.0f ? x : log(u) * (x / (u - 1.0f));
}
inline float sigmoid(float x) { return 1.0f / (1.0f + exp(-x)); }
/// x as a T would hold it.
template <typename T>
inline float rounded(float x) { return static_cast<float>(static_cast<T>(x)); }
/// The sum over a simdgroup in a fixed order, neighbours first: the order inside simd_sum is the device's own.
inline float tree_sum(float x) {
  for (ushort by = 1; by < 32; by *= 2) x += simd_shuffle_xor(x, by);
  return x;
}
