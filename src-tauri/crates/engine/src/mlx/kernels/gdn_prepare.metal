// What the recurrence reads, from the projections of a packed step: causal convolution, SiLU, unit queries and keys,
// decay and write strength; and the convolution's committed tail. A simdgroup makes one head of one token, or all
// gates of a token, or copies a part of the tail of a row. Rounds where the operations round that it stands for.
constexpr int KEYS = Hk * Dk;
constexpr int C = 2 * KEYS + Hv * Dv;
const int lane = thread_index_in_simdgroup;
const int unit = thread_position_in_grid.y;
const int place = thread_position_in_grid.z;
const int b = row_of[place] < 0 ? -1 - row_of[place] : row_of[place];
auto row = plan + 8 * b;
const int kept = row[3] - row[2];
// The committed inputs of the convolution are the tail's K - 1 and then the kept tokens of the step before.
auto tail_x = tail + row[4] * (K - 1) * C;
auto kept_x = old_x + row[2] * X_STRIDE;
// New tokens that are kept at once.
const int settled = row[5] != 0 ? row[1] - row[0] : 0;

if (row_of[place] < 0) {
  for (int j = unit * 32 + lane; j < (K - 1) * C; j += 32 * int(threads_per_grid.y)) {
    const int from = kept + settled + j / C;
    const int behind = from - (K - 1);
    new_tail[b * (K - 1) * C + j] = behind < 0      ? tail_x[from * C + j % C]
                                    : behind < kept ? kept_x[behind * X_STRIDE + j % C]
                                                    : x_in[(row[0] + behind - kept) * X_STRIDE + j % C];
  }
} else if (unit == 2 * Hk + Hv) {
  for (int h = lane; h < Hv; h += 32) {
    beta[place * Hv + h] = static_cast<T>(sigmoid(static_cast<float>(b_in[place * B_STRIDE + h])));
    const float raw = rounded<T>(static_cast<float>(a_in[place * A_STRIDE + h]) + static_cast<float>(dt_bias[h]));
    const float soft = rounded<T>(max(raw, 0.0f) + log_of_one_and(exp(-abs(raw))));
    decay[place * Hv + h] = exp(soft * rate[h]);
  }
} else {
  const int first = row[0];
  const bool is_value = unit >= 2 * Hk;
  const int each = (is_value ? Dv : Dk) / 32;
  const int base = is_value ? 2 * KEYS + (unit - 2 * Hk) * Dv : unit * Dk;
  float made[MOST];
  float squares = 0.0f;
  for (int i = 0; i < each; ++i) {
    const int channel = base + lane * each + i;
    float sum = 0.0f;
    for (int tap = 0; tap < K; ++tap) {
      const int token = place + tap - (K - 1);
      const int from = kept + place - first + tap;
      const float x = static_cast<float>(token >= first ? x_in[token * X_STRIDE + channel]
                                         : from < K - 1 ? tail_x[from * C + channel]
                                                        : kept_x[(from - (K - 1)) * X_STRIDE + channel]);
      sum = fma(static_cast<float>(weight[channel * K + tap]), x, sum);
    }
    const float mixed = rounded<T>(sum);
    made[i] = rounded<T>(mixed * rounded<T>(sigmoid(mixed)));
    squares = fma(made[i], made[i], squares);
  }
  squares = simd_sum(squares);
  if (is_value) {
    for (int i = 0; i < each; ++i)
      v[(place * Hv + unit - 2 * Hk) * Dv + lane * each + i] = static_cast<T>(made[i]);
  } else {
    const float norm = precise::rsqrt(squares / Dk + 1e-6f / Dk);
    const float inv = 1.0f / precise::sqrt(float(Dk));
    const float scale = rounded<T>(unit < Hk ? inv * inv : inv);
    for (int i = 0; i < each; ++i) {
      const T one = static_cast<T>(rounded<T>(made[i] * norm) * scale);
      if (unit < Hk) q[(place * Hk + unit) * Dk + lane * each + i] = one;
      else k[(place * Hk + unit - Hk) * Dk + lane * each + i] = one;
    }
  }
}
