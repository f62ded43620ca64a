// Symbols that mlx-rs expects and that x86-64 Linux lacks: mlx-c compiles its half-precision accessors for Arm
// only, and mlx-rs seeds its random state from a macOS clock. Half-precision numbers travel as their two bytes.
#include <cstdint>
#include <cstring>
#include <ctime>
#include <exception>

#include "mlx/c/array.h"
#include "mlx/c/error.h"
#include "mlx/c/private/array.h"

namespace {

template <typename T>
int item(uint16_t* result, mlx_array array) {
  static_assert(sizeof(T) == sizeof(*result));
  try {
    T value = mlx_array_get_(array).item<T>();
    std::memcpy(result, &value, sizeof(value));
    return 0;
  } catch (std::exception& e) {
    mlx_error("%s", e.what());
    return 1;
  }
}

template <typename T>
const uint16_t* data(mlx_array array) {
  try {
    return reinterpret_cast<const uint16_t*>(mlx_array_get_(array).data<T>());
  } catch (std::exception& e) {
    mlx_error("%s", e.what());
    return nullptr;
  }
}

}  // namespace

extern "C" {

int mlx_array_item_float16(uint16_t* result, mlx_array array) {
  return item<mlx::core::float16_t>(result, array);
}

int mlx_array_item_bfloat16(uint16_t* result, mlx_array array) {
  return item<mlx::core::bfloat16_t>(result, array);
}

const uint16_t* mlx_array_data_float16(mlx_array array) {
  return data<mlx::core::float16_t>(array);
}

const uint16_t* mlx_array_data_bfloat16(mlx_array array) {
  return data<mlx::core::bfloat16_t>(array);
}

uint64_t mach_approximate_time(void) {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return uint64_t(now.tv_sec) * 1'000'000'000 + uint64_t(now.tv_nsec);
}

}  // extern "C"
