#include "explore/visit.h"

#include <cmath>

namespace shardscape {

std::optional<Point> Visitor::visit(SpaceCursor& cursor, Wide index, SearchCounts& counts,
                                    const std::stop_token& stop) {
  if (stop.stop_requested()) return std::nullopt;
  const Design& design = cursor.at(index);
  if (const int broken = space_.excluded_by(design); broken >= 0) {
    ++counts.enumerated;
    ++counts.excluded[space_.constraints()[static_cast<size_t>(broken)].text()];
    return std::nullopt;
  }
  bool repeated = space_.repeats(design, cursor.values());
  if (repeated || space_.may_repeat_schedule(cursor.values())) {
    const std::string error = evaluator_.first_error(design);
    repeated = repeated ||
               (error.empty() && space_.repeats_schedule(design, cursor.values(), evaluator_.cache()));
    if (repeated || !error.empty()) {
      ++counts.enumerated;
      ++(error.empty() ? counts.repeated : counts.invalid[error]);
      return std::nullopt;
    }
  }
  Evaluation evaluation = evaluator_.evaluate(design, options_, stop);
  if (stop.stop_requested() && !evaluation.timed()) return std::nullopt;  // a stop may have interrupted it
  ++counts.enumerated;
  switch (evaluation.feasibility) {
    case Feasibility::Invalid: ++counts.invalid[evaluation.reason]; return std::nullopt;
    case Feasibility::DoesNotFit: ++counts.too_large; return std::nullopt;
    case Feasibility::Fits: break;
  }
  if (const int broken = space_.excluded_by(Scored{design, evaluation, price_}); broken >= 0) {
    ++counts.excluded[space_.constraints()[static_cast<size_t>(broken)].text()];
    return std::nullopt;
  }
  Point point{index, std::move(evaluation), {}};
  point.values = objective_values({design, point.evaluation, price_});
  if (std::isnan(point.values[static_cast<size_t>(objective_)])) {
    ++counts.unknown[unknown_reason(objective_, design)];
    return std::nullopt;
  }
  ++counts.timed;
  return point;
}

}  // namespace shardscape
