#include "fuzz/input_file.h"
#include "fuzz/reader.h"
#include "serving/requests/lengths.h"
#include "serving/requests/trace_file.h"

namespace shardscape::fuzz {

std::string requests(std::string_view input) {
  const std::string refused = reason(parse_trace(std::string(input), kInputName));
  constexpr double kCharactersPerToken = 4;
  const std::string lengths = reason(read_lengths(input_file(input, "lengths"), kCharactersPerToken));
  return refused.empty() ? refused : lengths;
}

}  // namespace shardscape::fuzz
