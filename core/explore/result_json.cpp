#include <algorithm>
#include <cmath>

#include "base/data_dir.h"
#include "base/json_text.h"
#include "explore/point_bands.h"
#include "explore/result.h"
#include "model/json_reader.h"
#include "symbolic/json_value.h"

namespace shardscape {
namespace {

using json = nlohmann::ordered_json;

constexpr int64_t kResultFormat = 1;
constexpr int64_t kMostCounted = int64_t{1} << 53;  // designs; sums of some hundred counts stay in 64 bits

// The value of an axis as JSON: 8, true, "1f1b".
json axis_value(const SpaceAxis& axis, int value) {
  const std::string& text = axis.values[static_cast<size_t>(value)];
  if (axis.knob && axis.knob->type == KnobType::Boolean) return text == "true";
  return axis.numeric() ? json::parse(text) : json(text);
}

json point_json(const Space& space, const Point& point) {
  json out{{"index", json_number(point.index)}};
  json& knobs = out["knobs"] = json::object();
  const std::vector<int> values = space.values_at(point.index);
  for (size_t i = 0; i < values.size(); ++i)
    knobs[space.axes()[i].id] = axis_value(space.axes()[i], values[i]);
  const Evaluation& e = point.evaluation;
  out["step_seconds"] = e.step_seconds;
  out["tokens_per_second"] = e.tokens_per_second;
  out["model_tflops"] = e.model_tflops;
  out["mfu"] = e.mfu;
  out["bubble"] = e.bubble;
  out["exposed"] = e.exposed;
  out["memory"] = e.memory;
  out["capacity"] = e.capacity;
  json& figures = out["objectives"] = json::object();
  for (size_t i = 0; i < kObjectiveCount; ++i)
    if (std::isfinite(point.values[i])) figures[objectives()[i].id] = point.values[i];
  return out;
}

// Adds the 80 % bands of a point's figures, and whether it is a tie with the best point.
void add_bands(json& entry, const SearchResult& r, const Point& point, PointBands& bands) {
  const DesignBands& of = bands.of(*r.space, point);
  const auto range = [](double value, const ErrorBand& band) {
    return json{value * band.low, value * band.high};
  };
  if (of.time) entry["bands"]["step_seconds"] = range(point.evaluation.step_seconds, *of.time);
  if (of.memory) entry["bands"]["memory"] = range(static_cast<double>(point.evaluation.memory), *of.memory);
  if (r.best.empty() || r.best.front().index == point.index) return;
  const PointJudgement judged = bands.judge(r.options.objective, *r.space, point, r.best.front());
  entry["tie_with_best"] = judged.tie;
  if (judged.confidence) entry["best_is_better"] = *judged.confidence;
}

json points_json(const Space& space, const std::vector<Point>& points) {
  json out = json::array();
  for (const Point& point : points) out.push_back(point_json(space, point));
  return out;
}

json counts_json(const std::map<std::string, int64_t>& counts) {
  json out = json::object();
  for (const auto& [why, n] : counts) out[why] = n;
  return out;
}

Wide wide_of(const JsonFile& file, const json& in, const char* key) {
  const auto it = in.find(key);
  if (it != in.end() && it->is_number_integer()) return it->get<int64_t>();
  if (it == in.end() || !it->is_string())
    file.fail(ProblemCode::JsonMember, key, std::string("\"") + key + "\" is missing or not a whole number",
              "a whole number");
  Wide value = 0;
  for (char c : it->get<std::string>()) {
    if (c < '0' || c > '9' || value > (Wide{1} << 120))
      file.fail(ProblemCode::JsonMember, key, std::string("\"") + key + "\" is not a whole number",
                "a whole number");
    value = value * 10 + (c - '0');
  }
  return value;
}

double number_of(const JsonFile& file, const json& in, const char* key) {
  const auto it = in.find(key);
  if (it == in.end() || !it->is_number())
    file.fail(ProblemCode::JsonMember, key, std::string("\"") + key + "\" is missing or not a number",
              "a number");
  return it->get<double>();
}

class ResultReader {
 public:
  ResultReader(const JsonFile& file, const std::string& where) : file_(file), where_(where) {}

  SearchResult read() {
    const json& root = file_.root();
    if (!root.contains("shardscape_result"))
      file_.fail(ProblemCode::WrongKindOfFile, "", "this is not the result of a search",
                 "a file that \"shardscape-cli explore -o\" or --json writes");
    if (file_.integer(root, "shardscape_result") != kResultFormat)
      file_.fail(ProblemCode::UnknownFormat, "shardscape_result",
                 "the version of the format is " + root["shardscape_result"].dump(),
                 std::to_string(kResultFormat));
    auto spec = space_from_json(file_.object(root, "space").dump(2), where_ + " (space)");
    if (auto* problem = std::get_if<Problem>(&spec)) throw DataError{*problem};
    auto space = Space::make(std::get<SpaceSpec>(std::move(spec)));
    if (auto* problem = std::get_if<Problem>(&space)) throw DataError{*problem};
    out_.space = std::get<0>(std::move(space));
    read_options(file_.object(root, "options"));
    if (const auto it = root.find("guided"); it != root.end())
      out_.guided = Guided{static_cast<uint64_t>(file_.integer(*it, "seed")), file_.integer(*it, "budget")};
    for (const json& part : file_.array(root, "parts")) out_.parts.push_back(read_part(part));
    read_all_counts(root);
    out_.best = read_points(file_.array(root, "best"));
    out_.front = read_points(file_.array(root, "front"));
    out_.sample = read_points(file_.array(root, "sample"));
    read_groups(file_.object(root, "groups"));
    return std::move(out_);
  }

 private:
  int objective(const json& in, const char* key) const {
    const std::string id = file_.text(in, key);
    const int found = find_objective(id);
    if (found < 0)
      file_.fail(ProblemCode::UnknownObjective, key, "there is no objective \"" + id + "\"", objective_ids());
    return found;
  }
  void read_options(const json& in) {
    out_.options.objective = objective(in, "objective");
    out_.options.front_x = objective(in, "front_x");
    out_.options.front_y = objective(in, "front_y");
    out_.options.top = static_cast<size_t>(within(in, "top", 0, kMostCounted));
    out_.options.sample = static_cast<size_t>(within(in, "sample", 0, kMostCounted));
    out_.options.price_per_hour = number_of(file_, in, "price_per_hour");
  }
  // A whole number from least to most.
  int64_t within(const json& in, const char* key, int64_t least, Wide most) const {
    const Wide value = wide_of(file_, in, key);
    if (value < least || value > most)
      JsonFile::fail(ProblemCode::DataValue, file_.place(in[key]),
                     std::string("\"") + key + "\" is " + to_string(value),
                     "a whole number from " + to_string(Wide{least}) + " to " + to_string(most));
    return static_cast<int64_t>(value);
  }
  SearchPart read_part(const json& in) const {
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
    SearchPart part;
    part.shards = within(in, "shards", 1, kMost);
    part.shard = within(in, "shard", 0, part.shards - 1);
    part.chunks = wide_of(file_, in, "chunks");
    part.done = wide_of(file_, in, "done");
    constexpr Wide kMostChunks = Wide{1} << 90;  // sums of all parts stay in range
    if (part.chunks > kMostChunks)
      JsonFile::fail(ProblemCode::DataValue, file_.place(in["chunks"]),
                     "the search has " + to_string(part.chunks) + " chunks",
                     "a whole number up to " + to_string(kMostChunks));
    if (part.done < 0 || part.done > part.chunks)
      JsonFile::fail(ProblemCode::DataValue, file_.place(in["done"]),
                     to_string(part.done) + " of " + to_string(part.chunks) + " chunks are done",
                     "from 0 to the number of chunks");
    return part;
  }
  void read_all_counts(const json& root) {
    SearchCounts& c = out_.counts;
    c.enumerated = within(root, "enumerated", 0, kMostCounted);
    c.repeated = within(root, "repeated", 0, kMostCounted);
    c.too_large = within(root, "too_large", 0, kMostCounted);
    c.timed = within(root, "timed", 0, kMostCounted);
    c.excluded = read_counts("excluded");
    c.invalid = read_counts("invalid");
    if (root.contains("unknown")) c.unknown = read_counts("unknown");
    Wide counted = Wide{c.repeated} + c.too_large + c.timed;
    for (const auto* counts : {&c.excluded, &c.invalid, &c.unknown})
      for (const auto& [_, n] : *counts) counted += n;
    if (counted != c.enumerated)
      JsonFile::fail(ProblemCode::DataValue, file_.place(root["enumerated"]),
                     "the counts of visited designs add up to " + to_string(counted) + ", not to " +
                         to_string(Wide{c.enumerated}),
                     "each visited design in one count");
  }
  std::map<std::string, int64_t> read_counts(const char* key) const {
    std::map<std::string, int64_t> out;
    const json& counts = file_.object(file_.root(), key);
    constexpr size_t kMostReasons = 1000;  // a member is found by a search through all
    if (counts.size() > kMostReasons)
      file_.fail(ProblemCode::DataValue, key, "the object has " + std::to_string(counts.size()) + " members",
                 "at most " + std::to_string(kMostReasons));
    for (const auto& [why, _] : counts.items()) out[why] = within(counts, why.c_str(), 0, kMostCounted);
    return out;
  }
  Point read_point(const json& in) const {
    Point p;
    p.index = wide_of(file_, in, "index");
    if (p.index < 0 || p.index >= out_.space->size())
      file_.fail(ProblemCode::DataValue, "index", "the space has no design " + to_string(p.index),
                 "an index below " + to_string(out_.space->size()));
    Evaluation& e = p.evaluation;
    e.feasibility = Feasibility::Fits;
    e.memory = file_.integer(in, "memory");
    e.capacity = file_.integer(in, "capacity");
    for (const auto& [key, field] : {std::pair{"step_seconds", &Evaluation::step_seconds},
                                     {"tokens_per_second", &Evaluation::tokens_per_second},
                                     {"model_tflops", &Evaluation::model_tflops},
                                     {"mfu", &Evaluation::mfu},
                                     {"bubble", &Evaluation::bubble},
                                     {"exposed", &Evaluation::exposed}})
      e.*field = number_of(file_, in, key);
    const json& figures = file_.object(in, "objectives");
    for (size_t i = 0; i < kObjectiveCount; ++i)
      p.values[i] = figures.contains(objectives()[i].id) ? number_of(file_, figures, objectives()[i].id)
                                                         : std::numeric_limits<double>::quiet_NaN();
    return p;
  }
  std::vector<Point> read_points(const json& list) const {
    std::vector<Point> out;
    for (const json& point : list) out.push_back(read_point(point));
    return out;
  }
  void read_groups(const json& in) {
    for (const SpaceAxis& axis : out_.space->axes()) {
      auto& group = out_.groups.emplace_back(axis.values.size());
      const json& list = file_.array(in, axis.id);
      if (list.size() != group.size())
        file_.fail(ProblemCode::DataValue, axis.id,
                   "the groups of \"" + axis.id + "\" are not as many as its values", "one per value");
      for (size_t v = 0; v < group.size(); ++v)
        if (const auto best = list[v].find("best"); best != list[v].end()) group[v] = read_point(*best);
    }
  }

  const JsonFile& file_;
  const std::string& where_;
  SearchResult out_;
};

}  // namespace

std::string result_json(const SearchResult& r, const RunFigures* figures) {
  const SearchCounts& c = r.counts;
  json root{{"shardscape_result", kResultFormat},
            {"size", json_number(r.space->size())},
            {"complete", r.complete()},
            {"enumerated", c.enumerated},
            {"valid", c.valid()},
            {"fits", c.timed},
            {"timed", c.timed},
            {"repeated", c.repeated},
            {"too_large", c.too_large}};
  if (figures) {
    root["seconds"] = figures->seconds;
    root["threads"] = figures->threads;
    root["rates"] = {{"enumerated_per_second", static_cast<double>(c.enumerated) / figures->seconds},
                     {"timed_per_second", static_cast<double>(c.timed) / figures->seconds}};
  }
  json& reasons = root["infeasible"] = json::object();
  for (const auto& [why, n] : infeasible(c)) reasons[why] = n;
  root["invalid"] = counts_json(c.invalid);
  root["excluded"] = counts_json(c.excluded);
  if (!c.unknown.empty()) root["unknown"] = counts_json(c.unknown);
  root["options"] = {{"objective", objectives()[static_cast<size_t>(r.options.objective)].id},
                     {"front_x", objectives()[static_cast<size_t>(r.options.front_x)].id},
                     {"front_y", objectives()[static_cast<size_t>(r.options.front_y)].id},
                     {"top", r.options.top},
                     {"sample", r.options.sample},
                     {"price_per_hour", r.options.price_per_hour}};
  if (r.guided)
    root["guided"] = {{"seed", static_cast<int64_t>(r.guided->seed)}, {"budget", r.guided->budget}};
  json& parts = root["parts"] = json::array();
  for (const SearchPart& part : r.parts)
    parts.push_back({{"shard", part.shard},
                     {"shards", part.shards},
                     {"done", json_number(part.done)},
                     {"chunks", json_number(part.chunks)}});
  root["best"] = points_json(*r.space, r.best);
  root["front"] = points_json(*r.space, r.front);
  PointBands bands;
  for (size_t i = 0; i < r.best.size(); ++i) add_bands(root["best"][i], r, r.best[i], bands);
  for (size_t i = 0; i < r.front.size(); ++i) add_bands(root["front"][i], r, r.front[i], bands);
  json& groups = root["groups"] = json::object();
  for (size_t a = 0; a < r.groups.size(); ++a) {
    const SpaceAxis& axis = r.space->axes()[a];
    json& list = groups[axis.id] = json::array();
    for (size_t v = 0; v < r.groups[a].size(); ++v) {
      json entry{{"value", axis_value(axis, static_cast<int>(v))}};
      if (const auto& best = r.groups[a][v]) {
        entry["best"] = point_json(*r.space, *best);
        add_bands(entry["best"], r, *best, bands);
      }
      list.push_back(std::move(entry));
    }
  }
  root["sample"] = points_json(*r.space, r.sample);
  root["space"] = json::parse(to_json(r.space->spec()));
  return json_document(root);
}

Result<SearchResult> result_from_json(const std::string& text, const std::string& where) {
  try {
    const JsonFile file(text, where);
    return ResultReader(file, where).read();
  } catch (const DataError& error) {
    return error.problem;
  } catch (const json::exception& error) {
    return Problem{ProblemCode::JsonValueUnreadable, where,
                   std::string("the file holds a value that cannot be read: ") + json_reason(error),
                   "the result of a search"};
  }
}

Result<SearchResult> load_result(const std::filesystem::path& path) {
  auto text = read_text(path);
  if (auto* problem = std::get_if<Problem>(&text)) return std::move(*problem);
  return result_from_json(std::get<std::string>(text), path.string());
}

std::string result_csv(const SearchResult& r) {
  struct Row {
    const Point* point;
    std::string lists;  // lists of the result that contain the design: "best front"
  };
  std::map<Wide, Row> rows;
  const auto add = [&](const Point& point, const std::string& list) {
    Row& row = rows.try_emplace(point.index, Row{&point, ""}).first->second;
    if (row.lists.find(list) == std::string::npos) row.lists += (row.lists.empty() ? "" : " ") + list;
  };
  for (const Point& p : r.best) add(p, "best");
  for (const Point& p : r.front) add(p, "front");
  for (const auto& group : r.groups)
    for (const auto& p : group)
      if (p) add(*p, "group");
  for (const Point& p : r.sample) add(p, "sample");
  std::vector<Row> sorted;
  sorted.reserve(rows.size());
  for (auto& [_, row] : rows) sorted.push_back(row);
  const auto rank = [&](const Row& row) {
    return score(r.options.objective, row.point->values[static_cast<size_t>(r.options.objective)]);
  };
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const Row& a, const Row& b) { return rank(a) < rank(b); });
  // Values of list knobs contain commas.
  const auto quoted = [](const std::string& text) {
    return text.find(',') == std::string::npos ? text : "\"" + text + "\"";
  };
  const auto band_cells = [](double value, const std::optional<ErrorBand>& band) {
    return band ? "," + json(value * band->low).dump() + "," + json(value * band->high).dump() : ",,";
  };
  PointBands bands;
  std::string out = "index,lists";
  for (const SpaceAxis& axis : r.space->axes()) out += "," + axis.id;
  out += ",step_seconds,tokens_per_second,model_tflops,bubble,exposed,capacity";
  out += ",step_seconds_low,step_seconds_high,memory_low,memory_high";
  for (const Objective& objective : objectives())
    if (std::string_view(objective.id) != "step_time") out += std::string(",") + objective.id;
  out += "\n";
  for (const Row& row : sorted) {
    const Point& p = *row.point;
    out += to_string(p.index) + "," + row.lists;
    const std::vector<int> values = r.space->values_at(p.index);
    for (size_t a = 0; a < values.size(); ++a)
      out += "," + quoted(r.space->axes()[a].values[static_cast<size_t>(values[a])]);
    for (double number : {p.evaluation.step_seconds, p.evaluation.tokens_per_second,
                          p.evaluation.model_tflops, p.evaluation.bubble, p.evaluation.exposed})
      out += "," + json(number).dump();
    out += "," + std::to_string(p.evaluation.capacity);
    const DesignBands& band = bands.of(*r.space, p);
    out += band_cells(p.evaluation.step_seconds, band.time) +
           band_cells(static_cast<double>(p.evaluation.memory), band.memory);
    for (size_t i = 0; i < kObjectiveCount; ++i)
      if (std::string_view(objectives()[i].id) != "step_time")
        out += "," + (std::isfinite(p.values[i]) ? json(p.values[i]).dump() : std::string());
    out += "\n";
  }
  return out;
}

}  // namespace shardscape
