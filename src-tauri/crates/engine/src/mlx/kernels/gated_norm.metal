// The output norm of Gated DeltaNet with its gate: silu(z) * RMSNorm(y). A simdgroup makes one head of one token.
constexpr int EACH = Dv / 32;
const int lane = thread_index_in_simdgroup;
const int head = thread_position_in_grid.y;
const int t = thread_position_in_grid.z;
auto in = y + (t * Hv + head) * Dv + lane * EACH;
auto gate = z + t * Z_STRIDE + head * Dv + lane * EACH;
float values[EACH];
float squares = 0.0f;
for (int i = 0; i < EACH; ++i) {
  values[i] = static_cast<float>(in[i]);
  squares = fma(values[i], values[i], squares);
}
const float norm = precise::rsqrt(simd_sum(squares) / Dv + eps[0]);
for (int i = 0; i < EACH; ++i) {
  const float scaled = rounded<T>(rounded<T>(values[i] * norm) * static_cast<float>(weight[lane * EACH + i]));
  const float x = static_cast<float>(gate[i]);
  out[(t * Hv + head) * Dv + lane * EACH + i] = static_cast<T>(x * sigmoid(x) * scaled);
}
