// Metal Shading Language on the host: as much of it as the kernels use, so that a compiler for the processor accepts
// their texts and a test can run them. Stricter than Metal on purpose: what is refused or reported here is either an
// error there or gives different numbers there.
#pragma once
#include "program.h"

using namespace metal;
typedef bfloat bfloat16_t;
typedef half float16_t;
#define kernel
#define device
#define constant const
#define thread
#define threadgroup
#define METAL_FUNC inline
/// The only way to declare shared memory: the prelude for Metal says `threadgroup T name[N]`.
#define SHARED(T, name, N) static msl::Shared<T, (N)> name(#name)
/// A program of the functions that were generated for the kernels.
#define MSL_PROGRAM(...) int main() { return msl::serve({__VA_ARGS__}); }
// What the language does not have, or what would be computed otherwise.
#pragma GCC poison double log1p expm1 erf printf malloc std goto throw new delete
