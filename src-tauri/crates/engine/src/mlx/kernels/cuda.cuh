// What the kernels' texts say of a GPU, as CUDA says it: in front of everything else where MLX computes on an NVIDIA
// GPU. A grid has whole threadgroups there.
#define constant
#define thread
#define SHARED(T, name, N) __shared__ T name[N]
#define THREE(of) uint3 { of(x), of(y), of(z) }
#define PLACE(axis) blockIdx.axis * blockDim.axis + threadIdx.axis
#define WIDTH(axis) gridDim.axis * blockDim.axis
#define thread_position_in_grid (THREE(PLACE))
#define threads_per_grid (THREE(WIDTH))
#define thread_position_in_threadgroup threadIdx
#define IN_GROUP (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z))
#define thread_index_in_simdgroup (IN_GROUP % 32)
#define simdgroup_index_in_threadgroup (IN_GROUP / 32)
#define threadgroup_barrier(memory) __syncthreads()
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif
typedef unsigned int uint;
typedef unsigned short ushort;
namespace precise {
__device__ inline float cos(float x) { return cosf(x); }
__device__ inline float sin(float x) { return sinf(x); }
__device__ inline float sqrt(float x) { return sqrtf(x); }
__device__ inline float rsqrt(float x) { return rsqrtf(x); }
}
template <typename V>
__device__ inline V simd_shuffle_xor(V x, ushort by) { return __shfl_xor_sync(0xffffffffu, x, by); }
template <typename V>
__device__ inline V simd_broadcast(V x, ushort lane) { return __shfl_sync(0xffffffffu, x, lane); }
#define REDUCTION(name, joined) \
  template <typename V> \
  __device__ inline V name(V x) { \
    for (ushort by = 16; by > 0; by /= 2) { \
      const V y = simd_shuffle_xor(x, by); \
      x = joined; \
    } \
    return x; \
  }
REDUCTION(simd_sum, x + y)
REDUCTION(simd_max, max(x, y))
REDUCTION(simd_min, min(x, y))
