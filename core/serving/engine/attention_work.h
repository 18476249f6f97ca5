// What attention and mixers of one layer compute in a forward, so that the work of different batches can be
// added up.
#pragma once

#include <map>
#include <string>

#include "plan/report.h"

namespace shardscape {

// One layer on one rank.
struct AttentionWork {
  double flops = 0;    // counted
  double bytes = 0;    // that the kernels read and write
  double seconds = 0;  // on the machine of the design
  AttentionWork& add(const AttentionWork& other, double times);
};

// By name of the segment: the ops of TimeCategory::Attention. The report is valid, its mode prefill or
// decode.
std::map<std::string, AttentionWork> attention_work(const Report& report);

}  // namespace shardscape
