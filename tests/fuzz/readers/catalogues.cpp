#include "fuzz/reader.h"
#include "hardware/catalogue_text.h"

namespace shardscape::fuzz {

std::string accelerators(std::string_view input) {
  return reason(accelerator_text_problems(std::string(input), kInputName));
}

std::string networks(std::string_view input) {
  return reason(network_text_problems(std::string(input), kInputName));
}

}  // namespace shardscape::fuzz
