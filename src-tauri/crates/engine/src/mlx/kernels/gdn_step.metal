// One packed step of Gated DeltaNet. A simdgroup owns ROWS value rows of one head of one row of the batch: first it
// folds the tokens that the row kept of the step before into the state and stores that, then it runs the new tokens
// from there without storing where they lead; or, where all of them are kept at once, it stores that instead.
constexpr int EACH = Dk / 32;
const int lane = thread_index_in_simdgroup;
const int b = thread_position_in_grid.z / Hv;
const int hv = thread_position_in_grid.z % Hv;
const int hk = hv / (Hv / Hk);
const int first = thread_position_in_grid.y * ROWS;
auto row = plan + 8 * b;
const bool settles = row[5] != 0;

float s[ROWS][EACH];
const int from = ((row[4] * Hv + hv) * Dv + first) * Dk + lane * EACH;
for (int r = 0; r < ROWS; ++r)
  for (int i = 0; i < EACH; ++i) s[r][i] = state[from + r * Dk + i];

// The operations of the loop below, spelled out so that no compiler joins others here than there: the same bits.
for (int t = row[2]; t < row[3]; ++t) {
  const float g = old_decay[t * Hv + hv];
  for (int i = 0; i < EACH; ++i) {
    const float key = static_cast<float>(old_k[(t * Hk + hk) * Dk + lane * EACH + i]);
    for (int r = 0; r < ROWS; ++r)
      s[r][i] = fma(key, old_delta[(t * Hv + hv) * Dv + first + r], s[r][i] * g);
  }
}
const int at = ((b * Hv + hv) * Dv + first) * Dk + lane * EACH;
if (!settles)
  for (int r = 0; r < ROWS; ++r)
    for (int i = 0; i < EACH; ++i) new_state[at + r * Dk + i] = s[r][i];

for (int t = row[0]; t < row[1]; ++t) {
  const float g = decay[t * Hv + hv];
  const float write = static_cast<float>(beta[t * Hv + hv]);
  float key[EACH], query[EACH];
  for (int i = 0; i < EACH; ++i) {
    key[i] = static_cast<float>(k[(t * Hk + hk) * Dk + lane * EACH + i]);
    query[i] = static_cast<float>(q[(t * Hk + hk) * Dk + lane * EACH + i]);
  }
  for (int r = 0; r < ROWS; ++r) {
    float held = 0.0f;
    for (int i = 0; i < EACH; ++i) {
      s[r][i] *= g;
      held = fma(s[r][i], key[i], held);
    }
    held = tree_sum(held);
    const int to = (t * Hv + hv) * Dv + first + r;
    const float change = (static_cast<float>(v[to]) - held) * write;
    float out = 0.0f;
    for (int i = 0; i < EACH; ++i) {
      s[r][i] = fma(key[i], change, s[r][i]);
      out = fma(s[r][i], query[i], out);
    }
    out = tree_sum(out);
    if (lane == 0) {
      y[to] = static_cast<T>(out);
      delta[to] = change;
    }
  }
}
if (settles)
  for (int r = 0; r < ROWS; ++r)
    for (int i = 0; i < EACH; ++i) new_state[at + r * Dk + i] = s[r][i];
