// Visits one design of a space: constraints, repetition, evaluation. Private to core/explore.
#pragma once

#include <optional>
#include <stop_token>
#include <vector>

#include "explore/result.h"

namespace shardscape {

class Visitor {
 public:
  Visitor(const Space& space, const ResultOptions& keep)
      : space_(space), objective_(keep.objective), price_(keep.price_per_hour) {
    options_.memory_margin = space.spec().memory_margin;
    options_.size_what_does_not_fit = false;
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

// Runs a guided search; run.keeper collects the points.
class SearchRun;
void guided_search(SearchRun& run, const Guided& guided);

}  // namespace shardscape
