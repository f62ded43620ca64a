// What comes through a gate: silu(gate) * x, or sigmoid(gate) * x. A thread makes one number. Rounds where the
// operations round that it stands for.
const int i = thread_position_in_grid.x;
const int t = thread_position_in_grid.y;
const float g = static_cast<float>(gate[t * GATE_STRIDE + i]);
const float opened = rounded<T>(sigmoid(g));
const float weight = SILU ? rounded<T>(g * opened) : opened;
out[t * N + i] = static_cast<T>(weight * static_cast<float>(x[t * X_STRIDE + i]));
