// Visits one design of a space: constraints, repetition, evaluation. Private to core/explore.
#pragma once

#include <optional>
#include <stop_token>
#include <vector>

#include "explore/result.h"

namespace shardscape {

class Visitor {
 public:
  Visitor(const Space& space, const ResultOptions& result_options)
      : space_(space), objective_(result_options.objective), price_(result_options.price_per_hour) {
    options_.memory_margin = space.spec().memory_margin;
    options_.exact_memory_if_too_large = false;
  }
  // Counts the design. Returns its point if it was timed and its objective is known. After a stop it counts
  // nothing, so the caller must check the token.
  std::optional<Point> visit(SpaceCursor& cursor, Wide index, SearchCounts& counts,
                             const std::stop_token& stop);

 private:
  const Space& space_;
  int objective_;
  double price_;
  EvaluationOptions options_;
  Evaluator evaluator_;
};

// Runs a guided search; run.collector receives the points.
class SearchRun;
void guided_search(SearchRun& run, const Guided& guided);

}  // namespace shardscape
