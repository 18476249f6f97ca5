// Keys of a config.json that do not change the architecture in any family: bookkeeping of the library that
// writes the file, defaults of text generation, constants, and settings of other heads.
#pragma once

#include <string>

namespace shardscape::hf {

// The reason why the key does not change the architecture; null if nothing is known about the key.
// name: the last part of the key. value: the value as JSON text. A few keys are harmless with one value only.
const char* bookkeeping_reason(const std::string& name, const std::string& value);

}  // namespace shardscape::hf
