// Queries and keys on their way to attention: the norm of each head, then the rotation of its first ROPE entries in
// pairs of halves; and values beside the keys, as the caches hold both. A simdgroup makes one head of one token; lane l
// has the entries l, l + 32, ..., so that both of a pair are in one lane, or less than 32 lanes apart.
constexpr int EACH = D / 32;
constexpr int HALF = ROPE / 2;
const int lane = thread_index_in_simdgroup;
const int unit = thread_position_in_grid.y;
const int t = thread_position_in_grid.z;
const int tokens = threads_per_grid.z;
float values[EACH];
if (unit >= Hq + Hkv) {
  const int head = unit - Hq - Hkv;
  for (int i = 0; i < EACH; ++i)
    kv[((Hkv + head) * tokens + t) * D + i * 32 + lane] = v_in[t * V_STRIDE + head * D + i * 32 + lane];
} else {
  const bool is_key = unit >= Hq;
  const int head = is_key ? unit - Hq : unit;
  float squares = 0.0f;
  for (int i = 0; i < EACH; ++i) {
    const int at = head * D + i * 32 + lane;
    values[i] = static_cast<float>(is_key ? k_in[t * K_STRIDE + at] : q_in[t * Q_STRIDE + at]);
    squares = fma(values[i], values[i], squares);
  }
  const float norm = precise::rsqrt(simd_sum(squares) / D + eps[0]);
  for (int i = 0; i < EACH; ++i) {
    const float scale = static_cast<float>(is_key ? k_norm[i * 32 + lane] : q_norm[i * 32 + lane]);
    values[i] = rounded<T>(rounded<T>(values[i] * norm) * scale);
  }
  const float position = static_cast<float>(positions[t]);
  for (int i = 0; i < HALF / 32; ++i) {
    const float angle = position * inverse_periods[i * 32 + lane];
    const float c = precise::cos(angle), s = precise::sin(angle);
    const float one = values[i], other = values[i + HALF / 32];
    values[i] = one * c - other * s;
    values[i + HALF / 32] = one * s + other * c;
  }
  if (HALF < 32) {
    const float other = simd_shuffle_xor(values[0], HALF);
    if (lane < ROPE) {
      const float angle = position * inverse_periods[lane % HALF];
      const float c = precise::cos(angle), s = precise::sin(angle);
      values[0] = lane < HALF ? values[0] * c - other * s : other * s + values[0] * c;
    }
  }
  for (int i = 0; i < EACH; ++i) {
    const T made = static_cast<T>(values[i]);
    if (is_key) kv[(head * tokens + t) * D + i * 32 + lane] = made;
    else q[(t * Hq + head) * D + i * 32 + lane] = made;
  }
}
