// The threads of a dispatch. Threadgroup runs after threadgroup; the threads of one are fibers, which meet where lanes
// meet on a GPU and otherwise run one after the other, in order or in an order drawn from a seed.
#pragma once
#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "problems.h"

namespace msl {

struct uint3 { unsigned x, y, z; };

/// What the attributes of a kernel's parameters stand for, in one thread.
struct Place {
  uint3 thread_position_in_grid, thread_position_in_threadgroup, threadgroup_position_in_grid, threads_per_threadgroup,
      threadgroups_per_grid, threads_per_grid;
  unsigned thread_index_in_threadgroup, thread_index_in_simdgroup, simdgroup_index_in_threadgroup,
      simdgroups_per_threadgroup, threads_per_simdgroup;
};

constexpr int LANES = 32;
constexpr int MOST_THREADS = 1024;  // of a threadgroup, as on every GPU of Apple

/// Threads that wait for each other: a simdgroup or a threadgroup.
struct Meeting {
  int alive = 0, arrived = 0, line = 0;
  const char* what = "";
  unsigned generation = 0;
  // What the lanes hand over, for this meeting and for the next, which some may reach while others still read.
  uint32_t words[2][LANES];
  bool here[2][LANES];
};

struct Thread {
  ucontext_t start;
  jmp_buf at;
  Place place;
  char* stack = nullptr;
  Meeting* waits = nullptr;
  bool started = false, done = true;
};

struct Options {
  uint64_t seed = 0;  // 0: lanes and threadgroups run in order; else in an order drawn from it
  int sum = 0;        // order of simd_sum: 0 pairwise, 1 up, 2 down
};

inline Options options;
inline Thread threads[MOST_THREADS];
inline int thread_count = 0;
inline std::vector<Meeting> simdgroups;
inline Meeting threadgroup_meeting;
inline std::vector<int> ready;
inline int current = 0;
inline jmp_buf scheduler;
inline uint64_t random_state = 0;
inline unsigned dispatch_group = 0;  // counts threadgroups
inline void (*body)(const Place&, void*) = nullptr;
inline void* body_data = nullptr;

// How many memory fences the threadgroup and each simdgroup have passed, for each kind of memory.
enum Memory { DEVICE, THREADGROUP };
inline unsigned group_fences[2];
inline std::vector<unsigned> simd_fences[2];

inline Thread& self() { return threads[current]; }
inline Meeting& simdgroup() { return simdgroups[self().place.simdgroup_index_in_threadgroup]; }
constexpr size_t STACK = 128 << 10;

// A fiber begins by setcontext and goes on by longjmp, which makes no system calls.
inline void to_scheduler() {
  if (_setjmp(self().at) == 0) _longjmp(scheduler, 1);
}

inline void to_thread(int index) {
  current = index;
  if (_setjmp(scheduler) != 0) return;
  Thread& thread = threads[index];
  if (thread.started) _longjmp(thread.at, 1);
  thread.started = true;
  setcontext(&thread.start);
}

inline void open(Meeting& meeting) {
  meeting.arrived = 0;
  ++meeting.generation;
  for (auto& here : meeting.here[meeting.generation & 1]) here = false;
  for (int i = 0; i < thread_count; ++i)
    if (threads[i].waits == &meeting) {
      threads[i].waits = nullptr;
      ready.push_back(i);
    }
}

/// Waits until all living threads of the meeting are at the same operation of the same line.
inline void meet(Meeting& meeting, const char* what, int line) {
  if (meeting.arrived == 0) {
    meeting.what = what;
    meeting.line = line;
  } else if (meeting.line != line || std::strcmp(meeting.what, what) != 0) {
    problem("line %d: %s while others wait in line %d: %s", line, what, meeting.line, meeting.what);
  }
  if (++meeting.arrived == meeting.alive) return open(meeting);
  self().waits = &meeting;
  to_scheduler();
}

inline void leave(Meeting& meeting) {
  --meeting.alive;
  if (meeting.arrived == 0) return;
  problem("line %d: a thread ended while others wait: %s", meeting.line, meeting.what);
  if (meeting.arrived == meeting.alive) open(meeting);
}

/// What a fiber does: the kernel, for one threadgroup after the other.
inline void live() {
  for (;;) {
    body(self().place, body_data);
    leave(simdgroup());
    leave(threadgroup_meeting);
    self().done = true;
    to_scheduler();
  }
}

inline void forget_shared();

inline int draw(int n) {
  random_state ^= random_state << 13, random_state ^= random_state >> 7, random_state ^= random_state << 17;
  return (int)(random_state % (unsigned)n);
}

inline void shuffle(std::vector<int>& order) {
  for (int i = (int)order.size() - 1; i > 0; --i) std::swap(order[i], order[draw(i + 1)]);
}

/// A fiber for the thread: that of the threadgroup before, unless it never came to its end.
inline void prepare(Thread& thread, const Place& place) {
  if (!thread.started || !thread.done) {
    if (!thread.stack) thread.stack = (char*)std::malloc(STACK);
    getcontext(&thread.start);
    thread.start.uc_stack.ss_sp = thread.stack;
    thread.start.uc_stack.ss_size = STACK;
    thread.start.uc_link = nullptr;
    makecontext(&thread.start, live, 0);
    thread.started = false;
  }
  thread.place = place;
  thread.waits = nullptr;
  thread.done = false;
}

inline void run_threadgroup(uint3 at, uint3 grid, uint3 size) {
  const uint3 from = {at.x * size.x, at.y * size.y, at.z * size.z};
  // Metal cuts threadgroups at the end of the grid.
  const uint3 cut = {std::min(size.x, grid.x - from.x), std::min(size.y, grid.y - from.y),
                     std::min(size.z, grid.z - from.z)};
  thread_count = cut.x * cut.y * cut.z;
  simdgroups.assign((thread_count + LANES - 1) / LANES, Meeting{});
  for (auto& fences : simd_fences) fences.assign(simdgroups.size(), 0);
  group_fences[DEVICE] = group_fences[THREADGROUP] = 0;
  threadgroup_meeting = Meeting{};
  threadgroup_meeting.alive = thread_count;
  forget_shared();
  ready.clear();
  for (int i = 0; i < thread_count; ++i) {
    const uint3 in = {i % cut.x, i / cut.x % cut.y, i / (cut.x * cut.y)};
    Place p;
    p.thread_position_in_grid = {from.x + in.x, from.y + in.y, from.z + in.z};
    p.thread_position_in_threadgroup = in;
    p.threadgroup_position_in_grid = at;
    p.threads_per_threadgroup = cut;
    p.threadgroups_per_grid = {(grid.x + size.x - 1) / size.x, (grid.y + size.y - 1) / size.y,
                               (grid.z + size.z - 1) / size.z};
    p.threads_per_grid = grid;
    p.thread_index_in_threadgroup = i;
    p.thread_index_in_simdgroup = i % LANES;
    p.simdgroup_index_in_threadgroup = i / LANES;
    p.simdgroups_per_threadgroup = (unsigned)simdgroups.size();
    p.threads_per_simdgroup = LANES;
    ++simdgroups[i / LANES].alive;
    prepare(threads[i], p);
    ready.push_back(i);
  }
  std::vector<int> now;
  while (!ready.empty()) {
    now.swap(ready);
    ready.clear();
    if (options.seed) shuffle(now);
    for (int i : now) to_thread(i);
  }
  for (int i = 0; i < thread_count; ++i)
    if (!threads[i].done) {
      problem("line %d: waits for ever: %s", threads[i].waits->line, threads[i].waits->what);
      break;
    }
}

/// Runs the kernel in every thread of the grid.
inline void dispatch(uint3 grid, uint3 size, Options with, void (*kernel)(const Place&, void*), void* data) {
  options = with;
  random_state = with.seed;
  body = kernel;
  body_data = data;
  if (size.x * size.y * size.z > MOST_THREADS)
    return problem("a threadgroup of %u threads", size.x * size.y * size.z);
  // As MLX does it.
  size = {std::min(size.x, grid.x), std::min(size.y, grid.y), std::min(size.z, grid.z)};
  const uint3 count = {(grid.x + size.x - 1) / size.x, (grid.y + size.y - 1) / size.y, (grid.z + size.z - 1) / size.z};
  std::vector<int> order(count.x * count.y * count.z);
  for (size_t i = 0; i < order.size(); ++i) order[i] = (int)i;
  if (with.seed) shuffle(order);
  for (unsigned i : order) {
    ++dispatch_group;
    run_threadgroup({i % count.x, i / count.x % count.y, i / (count.x * count.y)}, grid, size);
  }
}

}  // namespace msl
