// The pipeline schedules that tests run: all that a person can choose.
#pragma once

#include <string>
#include <vector>

#include "design/knobs/knobs.h"
#include "mesh/pipeline_layout.h"

namespace shardscape::test {

// Ids of all schedules except GPipe and 1F1B, which tests without a pipeline also run.
inline std::vector<std::string> other_schedules() {
  std::vector<std::string> ids;
  for (const KnobChoice& choice : find_knob("schedule")->choices)
    if (choice.value != "gpipe" && choice.value != "1f1b") ids.push_back(choice.value);
  return ids;
}

}  // namespace shardscape::test
