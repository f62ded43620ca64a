// A program that runs one of its kernels once: what to run comes on the standard input, what it gave goes to the
// standard output. All numbers lie as they do in memory.
//
// In: uint32 which kernel, uint32[3] grid, uint32[3] threadgroup, uint32 order of simd_sum, uint64 seed of the order of
// threads; then of each buffer uint64 bytes, and of an input the bytes themselves. Out: uint32 number of problems,
// uint32 bytes of their description, the description, the bytes of each output.
#pragma once
#include <initializer_list>

#include "metal.h"

namespace msl {

/// What to run, as it was read.
struct Request {
  unsigned kernel;
  uint3 grid, group;
  Options options;
};

/// Reads that many bytes, or ends the program.
inline void read(void* to, size_t bytes) {
  if (std::fread(to, 1, bytes, stdin) != bytes) std::exit(3);
}

inline Request read_request() {
  uint32_t words[8];
  Request request;
  read(words, sizeof words);
  request.kernel = words[0];
  request.grid = {words[1], words[2], words[3]};
  request.group = {words[4], words[5], words[6]};
  request.options.sum = (int)words[7];
  read(&request.options.seed, 8);
  return request;
}

template <class T>
Storage<T> read_buffer(const char* name) {
  uint64_t bytes;
  read(&bytes, 8);
  return Storage<T>{(T*)std::malloc(bytes + 1), (size_t)bytes / sizeof(T), name, DEVICE, {}};
}

template <class T>
Storage<T> input(const char* name) {
  auto storage = read_buffer<T>(name);
  read(storage.data, storage.size * sizeof(T));
  return storage;
}

/// Starts as rubbish.
template <class T>
Storage<T> output(const char* name) {
  auto storage = read_buffer<T>(name);
  std::memset((void*)storage.data, 0xd7, storage.size * sizeof(T));
  storage.traces.resize(storage.size);
  return storage;
}

template <class T>
void check_written(const Storage<T>& storage) {
  for (size_t i = 0; i < storage.size; ++i)
    if (storage.traces[i].group == 0) return problem("%s[%zu] is never written", storage.name, i);
}

template <class T>
void write(const Storage<T>& storage) {
  std::fwrite(storage.data, sizeof(T), storage.size, stdout);
}

/// Runs the kernel, which `call` calls for one thread, and answers.
template <class F, class... T>
void answer(const Request& request, F call, const Storage<T>&... outputs) {
  dispatch(request.grid, request.group, request.options, [](const Place& p, void* f) { (*(F*)f)(p); }, &call);
  if (problem_count == 0) (check_written(outputs), ...);
  const uint32_t counts[2] = {(uint32_t)problem_count, (uint32_t)problems.size()};
  std::fwrite(counts, sizeof counts, 1, stdout);
  std::fwrite(problems.data(), 1, problems.size(), stdout);
  (write(outputs), ...);
  std::fflush(stdout);
  // The kernel's fibers lie on stacks that nobody unwinds.
  std::_Exit(0);
}

inline int serve(std::initializer_list<void (*)(const Request&)> kernels) {
  const Request request = read_request();
  if (request.kernel >= kernels.size()) return 4;
  kernels.begin()[request.kernel](request);
  return 0;
}

}  // namespace msl
