// Designs or services next to each other: the settings that differ, and their figures.
#pragma once

#include <string>
#include <vector>

#include "explore/comparison.h"

namespace shardscape {

// Makes equal names distinct: by the file name, else by the path, else by the index.
void tell_apart(std::vector<std::string>& names, const std::vector<std::string>& paths);

// A setting that differs.
struct DifferentSetting {
  std::string id, label;
  std::vector<std::string> values;  // one per design
};

// For a terminal: a table of the settings, and one of the figures with differences from the first design. A
// difference whose 80 % bands overlap is a tie.
std::string comparison_text(const std::vector<std::string>& names,
                            const std::vector<DifferentSetting>& settings,
                            const std::vector<ComparedFigure>& figures);
// kind: the key of the names, "designs". lists: keys of objects, and the settings in them.
std::string comparison_json(const char* kind, const std::vector<std::string>& names,
                            const std::vector<std::pair<const char*, std::vector<DifferentSetting>>>& lists,
                            const std::vector<ComparedFigure>& figures);
// A heading row with the names, then one row per figure. A cell without a value is empty.
std::string comparison_csv(const std::vector<std::string>& names, const std::vector<ComparedFigure>& figures);

}  // namespace shardscape
