// The K largest of a row out of those of its blocks, in the same order, and the row's logsumexp. A threadgroup has one
// row.
constexpr int BLOCKS = (V + 4095) / 4096;
constexpr int EACH = (BLOCKS * K + 255) / 256;
SHARED(float, tops, 8);
SHARED(uint, firsts, 8);
SHARED(float, sums, 8);
const int me = thread_position_in_threadgroup.x;
const uint lane = thread_index_in_simdgroup;
const uint simd = simdgroup_index_in_threadgroup;
const int t = thread_position_in_grid.y;

float candidates[EACH];
uint names[EACH];
for (int i = 0; i < EACH; ++i) {
  const int at = i * 256 + me;
  names[i] = at < BLOCKS * K ? block_ids[t * BLOCKS * K + at] : NO_ID;
  candidates[i] = at < BLOCKS * K ? block_values[t * BLOCKS * K + at] : -INFINITY;
}
float most = -INFINITY;
for (int rank = 0; rank < K; ++rank) {
  const Picked one = pick(candidates, names, tops + 0, firsts + 0, lane, simd);
  if (rank == 0) most = one.value;
  if (me == 0) {
    values[t * K + rank] = one.value;
    // Where numbers are not numbers there is no largest one; whoever looks up what is at its id must find something.
    ids[t * K + rank] = min(one.id, uint(V - 1));
  }
}
float sum = 0.0f;
for (int i = me; i < BLOCKS; i += 256) {
  const float theirs = block_sums[2 * (t * BLOCKS + i)];
  if (theirs > -INFINITY) sum += block_sums[2 * (t * BLOCKS + i) + 1] * exp(theirs - most);
}
sum = sum_of_group(sum, sums + 0, lane, simd);
if (me == 0) lse[t] = most + log(sum);
