// The number of enumerators of an enum whose values are 0, 1, 2 and so on. Tables with a row per enumerator
// compare their size with it, so a missing row does not compile.
#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>

namespace shardscape {

// GCC and Clang print a value without an enumerator as a cast, "[value = (Color)3]" instead of
// "[value = Color::Red]". A name never begins with a digit.
template <auto value>
constexpr bool is_enumerator() {
  constexpr std::string_view kText = __PRETTY_FUNCTION__;
  const char first = kText[kText.find_last_of(":) ") + 1];
  return first < '0' || first > '9';
}

template <class Enum, size_t count = 0>
requires std::is_enum_v<Enum>
constexpr size_t enum_count() {
  if constexpr (is_enumerator<static_cast<Enum>(count)>())
    return enum_count<Enum, count + 1>();
  else
    return count;
}

}  // namespace shardscape
