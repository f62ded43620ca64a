// What a token's experts gave, weighed and added up in their order, and the shared expert behind its gate. A thread
// makes four channels of one token. Rounds where the operations round that it stands for, but adds up in f32.
const int t = thread_position_in_grid.y;
const float gate = rounded<T>(sigmoid(static_cast<float>(shared_gate[t])));
for (int i = 0; i < 4; ++i) {
  const int channel = 4 * int(thread_position_in_grid.x) + i;
  float sum = 0.0f;
  for (int j = 0; j < K; ++j)
    sum += rounded<T>(static_cast<float>(experts[(t * K + j) * H + channel]) * static_cast<float>(scores[t * K + j]));
  const float beside = rounded<T>(gate * static_cast<float>(shared_expert[t * H + channel]));
  out[t * H + channel] = static_cast<T>(rounded<T>(sum) + beside);
}
