// The residual and the norm behind it: h = x + y, or x ALONE; n = RMSNorm(h) * weight. A threadgroup makes one token; a
// thread has four neighbours at a time, in the order in which MLX's own norm adds them up.
constexpr int TIMES = (H + 4 * THREADS - 1) / (4 * THREADS);
SHARED(float, sums, THREADS / 32);
const int me = thread_position_in_threadgroup.x;
const int lane = thread_index_in_simdgroup;
const int base = int(thread_position_in_grid.y) * H;
float values[TIMES][4];
float squares = 0.0f;
for (int j = 0; j < TIMES; ++j)
  for (int i = 0; i < 4; ++i) {
    const int at = 4 * (j * THREADS + me) + i;
    values[j][i] = at < H ? static_cast<float>(x[base + at]) : 0.0f;
    if (!ALONE && at < H) values[j][i] = rounded<T>(values[j][i] + static_cast<float>(y[base + at]));
    squares += values[j][i] * values[j][i];
  }
squares = simd_sum(squares);
if (lane == 0) sums[simdgroup_index_in_threadgroup] = squares;
threadgroup_barrier(mem_flags::mem_threadgroup);
const float total = simd_sum(lane < THREADS / 32 ? float(sums[lane]) : 0.0f);
const float norm = precise::rsqrt(total / H + eps[0]);
for (int j = 0; j < TIMES; ++j)
  for (int i = 0; i < 4; ++i) {
    const int at = 4 * (j * THREADS + me) + i;
    if (at < H) {
      h[base + at] = static_cast<T>(values[j][i]);
      n[base + at] = static_cast<T>(rounded<T>(values[j][i] * norm) * static_cast<float>(weight[at]));
    }
  }
