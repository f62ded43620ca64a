// mlx-c uses std::format. Compilers older than gcc 13 have no <format>; libfmt has the same function.
#pragma once
#if __has_include(<format>)
#include <format>
#else
#define FMT_HEADER_ONLY
#include <fmt/format.h>
namespace std {
using fmt::format;
}
#endif
