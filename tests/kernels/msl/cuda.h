// CUDA on the host: as much of it as the header uses behind which the kernels' texts run on an NVIDIA GPU. The threads
// are those of the shim for Metal; what they share is not watched here.
#pragma once
#include "program.h"

typedef msl::bfloat bfloat16_t;
typedef msl::half float16_t;
using msl::uint3;
using metal::abs, metal::exp, metal::fma, metal::log, metal::max, metal::min;
#define __device__
#define __shared__ static
namespace cuda {
// Functions, since the header gives names of Metal's to its own.
inline uint3 thread_index() { return msl::self().place.thread_position_in_threadgroup; }
inline uint3 block_index() { return msl::self().place.threadgroup_position_in_grid; }
inline uint3 block_size() { return msl::self().place.threads_per_threadgroup; }
inline uint3 grid_size() { return msl::self().place.threadgroups_per_grid; }
}  // namespace cuda
#define threadIdx cuda::thread_index()
#define blockIdx cuda::block_index()
#define blockDim cuda::block_size()
#define gridDim cuda::grid_size()
inline float rsqrtf(float x) { return 1.0f / std::sqrt(x); }
inline void __syncthreads() { metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup); }
template <class T> T __shfl_xor_sync(unsigned, T x, int by) { return metal::simd_shuffle_xor(x, by); }
template <class T> T __shfl_sync(unsigned, T x, int lane) { return metal::simd_broadcast(x, lane); }
#define MSL_PROGRAM(...) int main() { return msl::serve({__VA_ARGS__}); }
