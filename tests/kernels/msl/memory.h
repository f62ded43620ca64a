// Buffers and shared memory that know their length, who wrote and read each element, and which fences lie between.
#pragma once
#include <cstddef>

#include "threads.h"

namespace msl {

/// Who last wrote an element and who last read it, and between which fences.
struct Trace {
  unsigned group = 0;  // 0: nobody
  int thread = -1, reader = -1;
  unsigned group_fence = 0, simd_fence = 0, reader_group = 0, reader_group_fence = 0, reader_simd_fence = 0;
};

inline bool ordered(Memory memory, unsigned group, int thread, unsigned group_fence, unsigned simd_fence) {
  if (group != dispatch_group) return false;
  if (thread == current || group_fence != group_fences[memory]) return true;
  return thread / LANES == current / LANES && simd_fence != simd_fences[memory][current / LANES];
}

inline void note_read(Trace& t, Memory memory, const char* name, size_t index) {
  if (t.group == 0) return problem("%s[%zu] is read before anybody wrote it", name, index);
  if (!ordered(memory, t.group, t.thread, t.group_fence, t.simd_fence))
    problem("%s[%zu]: thread %d reads what thread %d wrote, with no fence between", name, index, current, t.thread);
  t.reader = current;
  t.reader_group = dispatch_group;
  t.reader_group_fence = group_fences[memory];
  t.reader_simd_fence = simd_fences[memory][current / LANES];
}

inline void note_write(Trace& t, Memory memory, const char* name, size_t index) {
  if (t.group != 0 && !ordered(memory, t.group, t.thread, t.group_fence, t.simd_fence))
    problem("%s[%zu]: threads %d and %d write it", name, index, t.thread, current);
  if (t.reader >= 0 && !ordered(memory, t.reader_group, t.reader, t.reader_group_fence, t.reader_simd_fence))
    problem("%s[%zu]: thread %d writes what thread %d still reads", name, index, current, t.reader);
  t = Trace{dispatch_group, current, -1, group_fences[memory], simd_fences[memory][current / LANES], 0, 0, 0};
}

/// A buffer with its length and, where the kernel writes it, who did.
template <class T>
struct Storage {
  T* data;
  size_t size;
  const char* name;
  Memory memory;
  std::vector<Trace> traces;

  bool inside(ptrdiff_t index, const char* verb) const {
    if (index >= 0 && (size_t)index < size) return true;
    problem("%s[%td] is %s, but there are only %zu: thread %d", name, index, verb, size, current);
    return false;
  }
  T read(ptrdiff_t index) {
    if (!inside(index, "read")) return T{};
    if (!traces.empty()) note_read(traces[index], memory, name, index);
    return data[index];
  }
  void write(ptrdiff_t index, T value) {
    if (!inside(index, "written")) return;
    note_write(traces[index], memory, name, index);
    data[index] = value;
  }
};

/// An element of a buffer that can be written.
template <class T>
struct Element {
  Storage<T>* storage;
  ptrdiff_t index;
  operator T() const { return storage->read(index); }
  Element& operator=(T value) { return storage->write(index, value), *this; }
  Element& operator=(const Element& other) { return *this = (T)other; }
  template <class U> Element& operator+=(U value) { return *this = T(*this) + value; }
  template <class U> Element& operator*=(U value) { return *this = T(*this) * value; }
};

/// `const device T*`.
template <class T>
struct In {
  Storage<T>* storage;
  ptrdiff_t at = 0;
  T operator[](ptrdiff_t i) const { return storage->read(at + i); }
  T operator*() const { return (*this)[0]; }
  In operator+(ptrdiff_t n) const { return {storage, at + n}; }
  In& operator+=(ptrdiff_t n) { return at += n, *this; }
};

/// `device T*`.
template <class T>
struct Out {
  Storage<T>* storage;
  ptrdiff_t at = 0;
  Element<T> operator[](ptrdiff_t i) const { return {storage, at + i}; }
  Element<T> operator*() const { return (*this)[0]; }
  Out operator+(ptrdiff_t n) const { return {storage, at + n}; }
  Out& operator+=(ptrdiff_t n) { return at += n, *this; }
};

struct SharedBase;
inline std::vector<SharedBase*> shared_arrays;
struct SharedBase {
  SharedBase() { shared_arrays.push_back(this); }
  virtual void forget() = 0;
};

/// `threadgroup T name[N]`. Holds rubbish when a threadgroup starts.
template <class T, int N>
struct Shared : SharedBase {
  T values[N];
  Storage<T> storage;
  explicit Shared(const char* name) : storage{values, N, name, THREADGROUP, {}} { forget(); }
  void forget() override {
    std::memset((void*)values, 0xd7, sizeof values);
    storage.traces.assign(N, Trace{});
  }
  Element<T> operator[](ptrdiff_t i) { return {&storage, i}; }
  Out<T> operator+(ptrdiff_t n) { return {&storage, n}; }
  operator Out<T>() { return {&storage, 0}; }
};

inline void forget_shared() {
  for (auto* array : shared_arrays) array->forget();
}

}  // namespace msl
