// The experts of a token: softmax over its E logits, the K most probable in ascending order, and their weights. Among
// equals the higher index comes last, as behind a stable sort. A simdgroup has one token.
constexpr int EACH = (E + 31) / 32;
const int lane = thread_index_in_simdgroup;
const int t = thread_position_in_grid.y;
float p[EACH];
float most = -INFINITY;
for (int i = 0; i < EACH; ++i) {
  p[i] = i * 32 + lane < E ? static_cast<float>(logits[t * E + i * 32 + lane]) : -INFINITY;
  most = max(most, p[i]);
}
most = simd_max(most);
float sum = 0.0f;
for (int i = 0; i < EACH; ++i) {
  p[i] = exp(p[i] - most);
  sum += p[i];
}
const float normalizer = 1.0f / simd_sum(sum);
for (int i = 0; i < EACH; ++i) p[i] = i * 32 + lane < E ? rounded<T>(p[i] * normalizer) : -2.0f;

// Lane j keeps what stands at place j.
int id = 0;
float score = 0.0f;
for (int place = K - 1; place >= 0; --place) {
  float top = -1.0f;
  for (int i = 0; i < EACH; ++i) top = max(top, p[i]);
  top = simd_max(top);
  int chosen = -1;
  for (int i = 0; i < EACH; ++i)
    if (p[i] == top) chosen = i * 32 + lane;
  chosen = simd_max(chosen);
  for (int i = 0; i < EACH; ++i)
    if (i * 32 + lane == chosen) p[i] = -2.0f;
  if (lane == place) {
    // Where logits are not numbers nobody is chosen; there must be an expert, and its weight tells.
    id = max(chosen, 0);
    score = chosen < 0 ? NAN : top;
  }
}
float total = 0.0f;
for (int j = 0; j < K; ++j) total = rounded<T>(total + simd_broadcast(score, j));
if (lane < K) {
  ids[t * K + lane] = static_cast<uint>(id);
  scores[t * K + lane] = static_cast<T>(NORMALIZE ? score / total : score);
}
