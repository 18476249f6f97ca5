#include "app/cli/explore_text.h"

#include <algorithm>

#include "app/cli/text.h"
#include "base/units.h"
#include "design/cluster.h"
#include "explore/point_bands.h"

namespace shardscape {
namespace {

constexpr size_t kReasonsShown = 12, kFrontShown = 12;

// Degrees, and axes whose values differ between the shown points.
std::vector<size_t> shown_axes(const Space& space, const std::vector<Point>& points) {
  std::vector<size_t> out;
  for (size_t a = 0; a < space.axes().size(); ++a) {
    const std::string& id = space.axes()[a].id;
    const bool degree = id == "tp" || id == "pp" || id == "dp" || id == "cp";
    const auto value = [&](const Point& p) { return space.values_at(p.index)[a]; };
    if (degree || std::any_of(points.begin(), points.end(),
                              [&](const Point& p) { return value(p) != value(points.front()); }))
      out.push_back(a);
  }
  return out;
}

std::string common(const Space& space, const std::vector<Point>& points, const std::vector<size_t>& shown) {
  std::string out;
  if (space.axis("accelerator") < 0) out = "accelerator " + machine_name(space.spec().base.cluster);
  for (size_t a = 0; a < space.axes().size(); ++a) {
    if (std::find(shown.begin(), shown.end(), a) != shown.end()) continue;
    const SpaceAxis& axis = space.axes()[a];
    out += (out.empty() ? "" : ", ") + axis.id + " " +
           axis.values[static_cast<size_t>(space.values_at(points.front().index)[a])];
  }
  return out.empty() ? "" : "  all designs have " + out + "\n";
}

std::string points_table(const SearchResult& r, const std::vector<Point>& points, size_t most) {
  const std::vector<Point> list(points.begin(),
                                points.begin() + static_cast<std::ptrdiff_t>(std::min(most, points.size())));
  const std::vector<size_t> axes = shown_axes(*r.space, list);
  std::vector<size_t> extra;
  for (int objective : {r.options.objective, r.options.front_x, r.options.front_y}) {
    const std::string_view id = objectives()[static_cast<size_t>(objective)].id;
    const bool has = id == "step_time" || id == "tokens_per_gpu" || id == "memory" || id == "mfu";
    if (!has && std::find(extra.begin(), extra.end(), static_cast<size_t>(objective)) == extra.end())
      extra.push_back(static_cast<size_t>(objective));
  }
  std::vector<std::vector<std::string>> rows{
      {"  ", "step", "80 % band", "best is better", "tokens/s/GPU", "MFU", "memory"}};
  std::vector<Align> aligns(rows[0].size(), Align::Right);
  PointBands bands;
  for (size_t i : extra) {
    rows[0].push_back(objectives()[i].id);
    aligns.push_back(Align::Right);
  }
  for (size_t a : axes) {
    rows[0].push_back(r.space->axes()[a].id);
    aligns.push_back(r.space->axes()[a].numeric() ? Align::Right : Align::Left);
  }
  for (size_t i = 0; i < list.size(); ++i) {
    const Point& p = list[i];
    const DesignBands& of = bands.of(*r.space, p);
    std::string judgement;
    if (!r.best.empty() && p.index != r.best.front().index) {
      const PointJudgement judged = bands.judge(r.options.objective, *r.space, p, r.best.front());
      if (judged.tie) judgement = "tie";
      if (judged.confidence)
        judgement += (judged.tie ? ", " : "") + significant(100 * *judged.confidence, 2) + " %";
    }
    std::vector<std::string> row{std::to_string(i + 1),
                                 format_seconds(p.evaluation.step_seconds),
                                 band_text(p.evaluation.step_seconds, of.time, format_seconds),
                                 judgement,
                                 significant(p.values[1], 4),
                                 significant(100 * p.evaluation.mfu) + " %",
                                 format_bytes(p.evaluation.memory)};
    if (bytes_over(p.evaluation.memory, p.evaluation.capacity, of.memory) > 0) row.back() += " may not fit";
    for (size_t o : extra) row.push_back(objective_text(static_cast<int>(o), p.values[o]));
    const std::vector<int> values = r.space->values_at(p.index);
    for (size_t a : axes) row.push_back(r.space->axes()[a].values[static_cast<size_t>(values[a])]);
    rows.push_back(std::move(row));
  }
  return text_table(rows, aligns) +
         (points.size() > most ? "  ... " + grouped(static_cast<Wide>(points.size() - most)) + " more\n"
                               : "") +
         common(*r.space, list, axes);
}

std::string head(const SearchResult& r, const RunFigures* figures) {
  const SearchCounts& c = r.counts;
  std::string out = grouped(r.space->size()) + " designs";
  if (c.enumerated != r.space->size()) out += ", " + grouped(c.enumerated) + " of them visited";
  out += ": " + grouped(c.valid()) + " valid, " + grouped(c.timed) + " fit and were timed, " +
         grouped(c.too_large) + " do not fit";
  if (c.repeated > 0) out += ", " + grouped(c.repeated) + " repeat an earlier design";
  if (c.all_unknown() > 0) out += ", " + grouped(c.all_unknown()) + " cannot be ranked";
  if (c.all_excluded() > 0) out += "; " + grouped(c.all_excluded()) + " violate a constraint";
  if (figures && figures->seconds > 0)
    out += "\n" + format_seconds(figures->seconds) + " on " + std::to_string(figures->threads) +
           (figures->threads == 1 ? " thread: " : " threads: ") +
           grouped(whole_part(static_cast<double>(c.enumerated) / figures->seconds)) + " enumerated and " +
           grouped(whole_part(static_cast<double>(c.timed) / figures->seconds)) + " timed per second";
  return out + "\n";
}

}  // namespace

std::string explore_text(const SearchResult& r, const RunFigures* figures) {
  std::string out = head(r, figures);
  const Objective& objective = objectives()[static_cast<size_t>(r.options.objective)];
  if (r.best.empty())
    out += r.counts.all_unknown() > 0 ? "\nno design that fits can be ranked\n" : "\nno design fits\n";
  else
    out += std::string("\nbest by ") + objective.id + " (" + objective.help + "):\n" +
           points_table(r, r.best, r.best.size());
  if (r.front.size() > 1)
    out += std::string("\nPareto front of ") + objectives()[static_cast<size_t>(r.options.front_x)].id +
           " and " + objectives()[static_cast<size_t>(r.options.front_y)].id + ":\n" +
           points_table(r, r.front, kFrontShown);
  const auto reasons = infeasible(r.counts);
  if (reasons.empty()) return out;
  out += r.counts.all_unknown() > 0 ? "\ninfeasible, or not ranked, by:\n" : "\ninfeasible by:\n";
  std::vector<std::vector<std::string>> rows;
  for (size_t i = 0; i < std::min(reasons.size(), kReasonsShown); ++i)
    rows.push_back({"  " + grouped(reasons[i].second), reasons[i].first});
  out += text_table(rows, {Align::Right, Align::Left});
  return out;
}

std::string explore_progress(const SearchProgress& p, const ResultOptions& options) {
  const double share = p.total > 0 ? 100 * static_cast<double>(p.done) / static_cast<double>(p.total) : 100;
  std::string out = significant(share) + " % of " + grouped(p.total) + ", " +
                    grouped(whole_part(p.enumerated_per_second)) + "/s, " +
                    grouped(whole_part(p.timed_per_second)) + " timed/s";
  if (p.seconds_left > 0) out += ", " + format_seconds(p.seconds_left) + " left";
  if (const Point* best = p.collector.best())
    out += ", best " +
           objective_text(options.objective, best->values[static_cast<size_t>(options.objective)]);
  return out;
}

}  // namespace shardscape
