// What went wrong while a kernel ran.
#pragma once
#include <cstdarg>
#include <cstdio>
#include <string>

namespace msl {

inline std::string problems;
inline int problem_count = 0;

/// Notes one problem; only the first few are kept in words.
__attribute__((format(printf, 1, 2))) inline void problem(const char* format, ...) {
  if (++problem_count > 20) return;
  char text[400];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  problems += text;
  problems += '\n';
}

}  // namespace msl
