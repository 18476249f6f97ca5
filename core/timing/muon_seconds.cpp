#include "timing/muon_seconds.h"

#include <algorithm>
#include <cmath>

#include "performance/op_time.h"
#include "timing/op_seconds.h"

namespace shardscape {

double newton_schulz_seconds(const Machine& machine, const MuonWork& muon, const Binding& stage) {
  double seconds = 0;
  for (const MuonMatrices& of : muon.matrices) {
    const int64_t rows = std::llround(number(of.rows, stage)),
                  columns = std::llround(number(of.columns, stage));
    const int64_t small = std::min(rows, columns), large = std::max(rows, columns);
    const auto product = [&](int64_t n, int64_t k) {
      return matmul_seconds(machine, {.batch = 1, .m = small, .n = n, .k = k});
    };
    seconds += number(of.count, stage) / number(of.ranks, stage) * static_cast<double>(kNewtonSchulzSteps) *
               (product(small, large) + product(small, small) + product(large, small));
  }
  return seconds;
}

}  // namespace shardscape
