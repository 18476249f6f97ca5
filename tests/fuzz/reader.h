// Readers of untrusted input. Each takes the bytes of one input, reads them as the program does, and returns
// why they are refused; empty: they are accepted. libFuzzer calls a reader with mutated inputs;
// found_inputs_test calls all with the inputs that once broke them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/problem.h"

namespace shardscape::fuzz {

#define READER(name, longest, what) std::string name(std::string_view input);
#include "fuzz/readers.def"
#undef READER

struct Reader {
  std::string_view name;
  std::string (*read)(std::string_view input);
};
std::span<const Reader> readers();

// The name of the input in messages.
inline constexpr const char* kInputName = "input";

// Ends the program, so that the fuzzer reports the input, unless the condition holds.
void require(bool condition, const char* what);

std::string reason(const std::vector<Problem>& problems);
template <class T>
std::string reason(const Result<T>& result) {
  const auto* problem = std::get_if<Problem>(&result);
  return problem ? to_string(*problem) : std::string();
}

}  // namespace shardscape::fuzz
