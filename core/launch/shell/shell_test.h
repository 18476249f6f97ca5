// Conditions of shell scripts: "[ ... ]" and "[[ ... ]]".
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "launch/shell/shell_words.h"

namespace shardscape {

// words: expanded, without brackets. literal: whether the right side of "==" in "[[ ]]" is a text and no
// pattern, by word. patterns: the rules of "[[ ]]". note: called where only a running machine knows the
// answer (files); the condition then counts as false.
bool holds_shell_test(const std::vector<std::string>& words, const std::vector<bool>& literal, bool patterns,
                      ShellBudget& budget, const std::function<void(std::string)>& note);

}  // namespace shardscape
