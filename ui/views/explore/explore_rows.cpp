#include "ui/views/explore/explore_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "campaign/running_cost.h"
#include "design/design_name.h"
#include "ui/toolkit/display_text.h"
#include "ui/toolkit/value_scale.h"

namespace shardscape::ui {
namespace {

// What a point costs; NaN: not known.
struct Costs {
  double kwh = std::numeric_limits<double>::quiet_NaN();   // of a million tokens
  double days = std::numeric_limits<double>::quiet_NaN();  // of the training run, without interruptions
};

Costs costs_of(const Design& design, const Evaluation& evaluation) {
  constexpr double kSecondsPerDay = 86400;
  Costs out;
  const RunningCost cost = running_cost(design.cluster, design.world(), evaluation.tokens_per_second);
  if (cost.kwh) out.kwh = *cost.kwh;
  if (trains(design) && design.workload.tokens > 0 && evaluation.timed())
    out.days = static_cast<double>(design.workload.tokens) / evaluation.tokens_per_second / kSecondsPerDay;
  return out;
}

struct Figure {
  const char *id, *heading;
  Measure measure;
  const char* unit;
  Better better;
  const char* label;                              // nullptr: the objective's
  double (*of)(const Evaluation&, const Costs&);  // nullptr: the objective
};

// Objectives by importance, then other figures of a design.
constexpr Figure kFigures[] = {
    {"step_time", "step", Measure::Seconds, "", Better::Less, nullptr, nullptr},
    {"memory", "memory", Measure::Bytes, "", Better::Less, nullptr, nullptr},
    {"mfu", "MFU", Measure::Share, "", Better::More, nullptr, nullptr},
    {"tokens_per_gpu", "tokens/s per GPU", Measure::Plain, "tokens/s", Better::More, nullptr, nullptr},
    {"headroom", "free", Measure::Bytes, "", Better::More, nullptr, nullptr},
    {"cost", "$ per M tokens", Measure::Money, "", Better::Less, nullptr, nullptr},
    {"energy", "J per token", Measure::Plain, "J", Better::Less, nullptr, nullptr},
    {"gpus", "GPUs", Measure::Plain, "", Better::Less, nullptr, nullptr},
    {"bubble", "bubble", Measure::Share, "", Better::Less, "Bubble",
     [](const Evaluation& e, const Costs&) { return e.bubble; }},
    {"exposed", "exposed", Measure::Share, "", Better::Less, "Exposed communication",
     [](const Evaluation& e, const Costs&) { return e.exposed; }},
    {"model_tflops", "TFLOP/s", Measure::Plain, "TFLOP/s", Better::More, "Model TFLOP/s per GPU",
     [](const Evaluation& e, const Costs&) { return e.model_tflops; }},
    {"kwh", "kWh per M tokens", Measure::Plain, "kWh", Better::Less, "Energy of a million tokens",
     [](const Evaluation&, const Costs& c) { return c.kwh; }},
    {"days", "days", Measure::Plain, "days", Better::Less, "Days of the training run without interruptions",
     [](const Evaluation&, const Costs& c) { return c.days; }},
};

QString choice_label(const SpaceAxis& axis, const std::string& value) {
  return axis.knob ? displayText(*axis.knob, QString::fromStdString(value)) : QString::fromStdString(value);
}

ValueColumn axis_column(const SpaceAxis& axis) {
  ValueColumn column;
  column.id = QString::fromStdString(axis.id);
  column.label = QString::fromStdString(axis.label);
  // The heading is the knob's id, except for long ids.
  const QString key = words(axis.id), named = column.label.left(1).toLower() + column.label.mid(1);
  column.heading = axis.knob && !axis.knob->symbol.empty() ? QString::fromStdString(axis.knob->symbol)
                   : named.size() < key.size()             ? named
                                                           : key;
  if (axis.id == kGpusAxis) column.heading = column.label;
  column.measure = Measure::Place;
  column.numeric = axis.numeric();
  for (const std::string& value : axis.values) {
    column.choices << choice_label(axis, value);
    column.raw << QString::fromStdString(value);
  }
  return column;
}

void set_limits(ValueColumn& column) {
  column.low = std::numeric_limits<double>::infinity();
  column.high = -column.low;
  for (double value : column.values) {
    if (std::isnan(value)) continue;
    column.low = std::min(column.low, value);
    column.high = std::max(column.high, value);
  }
}

// Each kept design once, with the reasons, by the goodput and then by the objective. The simulated engines
// that the search alone would not have kept are among the best.
std::vector<std::pair<const Point*, uint8_t>> kept_points(const SearchResult* result,
                                                          const GoodputResult* by_goodput) {
  std::vector<std::pair<const Point*, uint8_t>> all;
  const auto add = [&](const std::vector<Point>& points, uint8_t why) {
    for (const Point& point : points) all.emplace_back(&point, why);
  };
  add(result->best, kBest);
  add(result->front, kFront);
  add(result->sample, kSample);
  for (const auto& axis : result->groups)
    for (const auto& point : axis)
      if (point) all.emplace_back(&*point, kGroup);
  if (by_goodput)
    for (const GoodputEntry& entry : by_goodput->entries)
      if (entry.simulated) all.emplace_back(&entry.point, kBest);
  std::sort(all.begin(), all.end(),
            [](const auto& a, const auto& b) { return a.first->index < b.first->index; });
  size_t once = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    if (i > 0 && all[i].first->index == all[once - 1].first->index)
      all[once - 1].second |= all[i].second;
    else
      all[once++] = all[i];
  }
  all.resize(once);
  const int objective = result->options.objective;
  const auto rank = [&](const Point& p) {
    return score(objective, p.values[static_cast<size_t>(objective)]);
  };
  std::map<Wide, double> goodput;
  if (by_goodput)
    for (const GoodputEntry& entry : by_goodput->entries)
      if (entry.simulated) goodput[entry.point.index] = entry.per_gpu();
  const auto simulated = [&](const Point& p) {
    const auto of = goodput.find(p.index);
    return of == goodput.end() ? -1 : of->second;
  };
  std::stable_sort(all.begin(), all.end(), [&](const auto& a, const auto& b) {
    const double of_a = simulated(*a.first), of_b = simulated(*b.first);
    return of_a != of_b ? of_a > of_b : rank(*a.first) < rank(*b.first);
  });
  return all;
}

}  // namespace

std::shared_ptr<const ExploreRows> ExploreRows::of(std::shared_ptr<const SearchResult> result) {
  auto rows = std::make_shared<ExploreRows>();
  rows->fill(std::move(result));
  return rows;
}

std::shared_ptr<const ExploreRows> ExploreRows::of(std::shared_ptr<const GoodputResult> result,
                                                   const GoodputOptions& options) {
  auto rows = std::make_shared<ExploreRows>();
  rows->goodput_ = std::move(result);
  rows->goodput_options_ = options;
  rows->fill({rows->goodput_, &rows->goodput_->search});
  rows->addGoodput();
  return rows;
}

void ExploreRows::fill(std::shared_ptr<const SearchResult> result) {
  for (const auto& [point, why] : kept_points(result.get(), goodput_.get())) {
    points_.push_back(point);
    kept_.push_back(why);
  }
  const size_t once = points_.size();
  const Space& space = *result->space;
  for (const SpaceAxis& axis : space.axes()) columns_.push_back(axis_column(axis));
  const size_t axes = columns_.size();
  for (ValueColumn& column : columns_) column.values.resize(once);
  for (size_t row = 0; row < once; ++row) {
    const std::vector<int> values = space.values_at(points_[row]->index);
    for (size_t a = 0; a < axes; ++a) columns_[a].values[row] = values[a];
  }
  std::vector<Costs> costs;
  PointBands bands;
  for (const Point* point : points_) {
    const Design design = space.design_at(point->index);
    costs.push_back(costs_of(design, point->evaluation));
    bands_.push_back(bands.of(design));
  }
  for (const Figure& figure : kFigures) {
    ValueColumn column;
    column.id = QString::fromLatin1(figure.id);
    column.objective = figure.of ? -1 : find_objective(figure.id);
    if (!figure.of && (column.objective < 0 || this->column(column.id) >= 0)) continue;
    column.label = QString::fromLatin1(
        figure.label ? figure.label : objectives()[static_cast<size_t>(column.objective)].label);
    column.heading = QString::fromLatin1(figure.heading);
    if (const Mode mode = space.spec().base.workload.mode;
        column.id == QStringLiteral("step_time") && mode != Mode::Train && !space.spec().find("mode")) {
      column.label = stepLabel(mode);
      column.heading = stepHeading(mode);
    }
    column.unit = QString::fromLatin1(figure.unit);
    column.measure = figure.measure;
    column.better = figure.better;
    for (size_t row = 0; row < once; ++row) {
      const Point& point = *points_[row];
      column.values.push_back(figure.of ? figure.of(point.evaluation, costs[row])
                                        : point.values[static_cast<size_t>(column.objective)]);
    }
    set_limits(column);
    if (column.known() || points_.empty()) columns_.push_back(std::move(column));
  }
  for (size_t a = 0; a < axes; ++a) {
    columns_[a].low = 0;
    columns_[a].high = static_cast<double>(columns_[a].choices.size()) - 1;
  }
  result_ = std::move(result);
}

void ExploreRows::addGoodput() {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  std::map<Wide, const GoodputEntry*> simulated;
  for (const GoodputEntry& entry : goodput_->entries)
    if (entry.simulated) simulated[entry.point.index] = &entry;
  struct Of {
    const char *id, *label, *heading, *unit;
    Measure measure;
    Better better;
    double (*value)(const GoodputEntry&);
  };
  const Of figures[] = {
      {"goodput", "Goodput, requests/s per GPU", "goodput", "requests/s", Measure::Plain, Better::More,
       [](const GoodputEntry& e) { return e.per_gpu(); }},
      {"goodput_ttft", "TTFT p99 at the goodput", "TTFT p99", "", Measure::Seconds, Better::Less,
       [](const GoodputEntry& e) { return e.per_gpu() > 0 ? e.found.results.ttft.p99 : kNone; }},
      {"goodput_tpot", "TPOT p99 at the goodput", "TPOT p99", "", Measure::Seconds, Better::Less,
       [](const GoodputEntry& e) { return e.per_gpu() > 0 ? e.found.results.tpot.p99 : kNone; }}};
  for (const Of& figure : figures) {
    ValueColumn column;
    column.id = QString::fromLatin1(figure.id);
    column.label = QString::fromLatin1(figure.label);
    column.heading = QString::fromLatin1(figure.heading);
    column.unit = QString::fromLatin1(figure.unit);
    column.measure = figure.measure;
    column.better = figure.better;
    column.objective = -1;
    for (const Point* point : points_) {
      const auto entry = simulated.find(point->index);
      column.values.push_back(entry == simulated.end() ? kNone : figure.value(*entry->second));
    }
    set_limits(column);
    if (column.known()) columns_.push_back(std::move(column));
  }
}

PointJudgement ExploreRows::judgedByBest(int row) const {
  // The goodput of an engine has no band.
  if (row == 0 || goodput_) return {};
  return judged_.judge(result_->options.objective, *result_->space, point(row), point(0));
}

int ExploreRows::column(const QString& id) const {
  const auto it = std::find_if(columns_.begin(), columns_.end(),
                               [&](const ValueColumn& c) { return c.id == id; });
  return it == columns_.end() ? -1 : static_cast<int>(it - columns_.begin());
}

int ExploreRows::rowOf(Wide index) const {
  const auto it = std::find_if(points_.begin(), points_.end(),
                               [&](const Point* p) { return p->index == index; });
  return it == points_.end() ? -1 : static_cast<int>(it - points_.begin());
}

Design ExploreRows::design(int row) const {
  Design out = result_->space->design_at(index(row));
  correct_machine_name(out);
  return out;
}

ClusterSpec ExploreRows::priced(ClusterSpec cluster) const {
  constexpr double kThousandths = 1000;
  const double price = result_->options.price_per_hour;
  if (price > 0) cluster.price_per_hour = std::llround(price * kThousandths);
  return cluster;
}

ClusterSpec ExploreRows::cluster(int row) const { return priced(design(row).cluster); }

std::vector<ClusterSpec> ExploreRows::clusters() const {
  std::vector<ClusterSpec> out{priced(result_->space->spec().base.cluster)};
  const int axis = result_->space->axis("accelerator");
  if (axis < 0) return out;
  const ClusterSpec base = out.front();
  out.clear();
  for (const std::string& id : result_->space->axes()[static_cast<size_t>(axis)].values)
    out.emplace_back(base).accelerator = id;
  return out;
}

QString ExploreRows::valueText(const ValueColumn& column, double value, UnitSystem units) {
  if (std::isnan(value)) return QStringLiteral("-");
  switch (column.measure) {
    case Measure::Place: return column.choices.value(static_cast<int>(std::lround(value)));
    case Measure::Seconds: return QString::fromStdString(format_seconds(value));
    case Measure::Bytes:
      return value < 0 ? u'-' + bytes_text(static_cast<Wide>(-value), units)
                       : bytes_text(static_cast<Wide>(value), units);
    case Measure::Share: return percent_text(value);
    case Measure::Money: return QStringLiteral("$") + QString::fromStdString(significant(value));
    case Measure::Plain: break;
  }
  const QString number = value >= 1000 ? grouped_text(static_cast<Wide>(std::llround(value)))
                                       : QString::fromStdString(significant(value));
  return column.unit.isEmpty() ? number : number + u' ' + column.unit;
}

QString ExploreRows::name(int row, int most) const {
  QStringList parts;
  for (const ValueColumn& column : columns_) {
    if (!column.axis() || parts.size() == most) break;
    const QString value = column.choices.value(static_cast<int>(column.values[static_cast<size_t>(row)]));
    // Values of choices need no name; numbers and switches need the name of their knob.
    const bool bare = !column.numeric && value != QStringLiteral("on") && value != QStringLiteral("off");
    if (value == QStringLiteral("off")) continue;
    parts << (bare ? value : value == QStringLiteral("on") ? column.heading : column.heading + u' ' + value);
  }
  return parts.join(QStringLiteral(" · "));
}

QString ExploreRows::figures(int row, UnitSystem units) const {
  QStringList parts;
  for (const char* id : {"step_time", "memory", "mfu"}) {
    const int at = column(QString::fromLatin1(id));
    if (at < 0) continue;
    parts << (columns_[static_cast<size_t>(at)].measure == Measure::Share
                  ? columns_[static_cast<size_t>(at)].heading + u' '
                  : QString()) +
                 text(row, at, units);
  }
  return parts.join(QStringLiteral(" · "));
}

std::vector<int> front_of(const ExploreRows& rows, int x, int y, const std::vector<char>& passing) {
  std::vector<int> found;
  if (x < 0 || y < 0 || x == y) return found;
  const ValueColumn &cx = rows.column(x), &cy = rows.column(y);
  if (cx.better == Better::Neither || cy.better == Better::Neither) return found;
  const auto at = [&](const ValueColumn& c, int row) {
    return c.better == Better::More ? -c.values[static_cast<size_t>(row)]
                                    : c.values[static_cast<size_t>(row)];
  };
  std::vector<int> order;
  for (int row = 0; row < rows.rows(); ++row)
    if ((passing.empty() || passing[static_cast<size_t>(row)]) && !std::isnan(at(cx, row)) &&
        !std::isnan(at(cy, row)))
      order.push_back(row);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    const double ax = at(cx, a), bx = at(cx, b);
    return ax != bx ? ax < bx : at(cy, a) != at(cy, b) ? at(cy, a) < at(cy, b) : a < b;
  });
  double best = std::numeric_limits<double>::infinity();
  for (int row : order) {
    if (at(cy, row) >= best) continue;
    best = at(cy, row);
    found.push_back(row);
  }
  return found;
}

}  // namespace shardscape::ui
