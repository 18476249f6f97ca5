// Mistakes in the text of a catalogue that is in no data folder. `name` stands for its file in messages.
#pragma once

#include <string>
#include <vector>

#include "base/problem.h"

namespace shardscape {

std::vector<Problem> accelerator_text_problems(const std::string& text, const std::string& name);
std::vector<Problem> network_text_problems(const std::string& text, const std::string& name);

}  // namespace shardscape
