// The K largest of each block of 4096 logits, in descending order, the lower id first among equals; and the largest
// and the sum of exponentials below it, for the row's logsumexp. A threadgroup has one block of one row.
SHARED(float, tops, 8);
SHARED(uint, firsts, 8);
SHARED(float, sums, 8);
const uint me = thread_position_in_threadgroup.x;
const uint lane = thread_index_in_simdgroup;
const uint simd = simdgroup_index_in_threadgroup;
const uint block = thread_position_in_grid.y;
const int place = int(thread_position_in_grid.z * threads_per_grid.y + block);
auto x = logits + static_cast<int64_t>(thread_position_in_grid.z) * V;

float values[16];
uint names[16];
for (int i = 0; i < 16; ++i) {
  const uint id = block * 4096 + i * 256 + me;
  names[i] = id < uint(V) ? id : NO_ID;
  values[i] = id < uint(V) ? static_cast<float>(x[id]) : -INFINITY;
}
float most = -INFINITY;
for (int rank = 0; rank < K; ++rank) {
  const Picked one = pick(values, names, tops + 0, firsts + 0, lane, simd);
  if (rank == 0) most = one.value;
  if (me == 0) {
    block_values[place * K + rank] = one.value;
    block_ids[place * K + rank] = one.id;
  }
}
float sum = 0.0f;
for (int i = 0; i < 16; ++i)
  if (values[i] > -INFINITY) sum += exp(values[i] - most);
sum = sum_of_group(sum, sums + 0, lane, simd);
if (me == 0) {
  block_sums[2 * place] = most;
  block_sums[2 * place + 1] = sum;
}
