// One design of a space, looked at. Private to core/explore.
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
  // Counts the design, and returns it where it was timed and its objective is known. Once stopped it counts
  // nothing; look at the token.
  std::optional<Point> visit(SpaceCursor& cursor, Wide index, SearchCounts& counts,
                             const std::stop_token& stop);

 private:
  const Space& space_;
  int objective_;
  double price_;
  EvaluationOptions options_;
  Evaluator evaluator_;
};

// What a guided search comes by, into the keeper.
class SearchRun;
void guided_search(SearchRun& run, const Guided& guided);

}  // namespace shardscape
