#include "explore/goodput_file.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/data_dir.h"
#include "base/json_text.h"
#include "model/json_reader.h"
#include "symbolic/json_value.h"

namespace shardscape {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kKey = "goodput_search";

Json known(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json settings_json(const ServiceSpec& spec) {
  Json out = Json::object();
  const ServiceSpec standard;
  for (const ServiceSetting& setting : service_settings())
    if (std::string text = setting.text(spec); text != setting.text(standard))
      out[setting.id] = std::move(text);
  return out;
}

Json entry_json(const GoodputEntry& entry) {
  Json out{{"index", json_number(entry.point.index)},
           {"estimated", entry.estimated},
           {"reason", entry.reason},
           {"simulated", entry.simulated}};
  const LargestRate& found = entry.found;
  if (entry.simulated)
    out.update({{"rate", found.rate},
                {"accelerators", found.accelerators},
                {"by_throughput", found.by_throughput},
                {"ttft_p99_seconds", found.results.ttft.p99},
                {"tpot_p99_seconds", found.results.tpot.p99},
                {"dollars", known(found.cost.dollars)},
                {"kwh", known(found.cost.kwh)}});
  return out;
}

Wide index_of(const JsonFile& file, const Json& in, const Space& space) {
  Wide out = -1;
  if (const auto it = in.find("index"); it != in.end() && it->is_number_integer()) {
    out = it->get<int64_t>();
  } else if (it != in.end() && it->is_string()) {
    out = 0;
    for (const char c : it->get<std::string>()) {
      const bool digit = c >= '0' && c <= '9';
      out = !digit ? space.size() : out < space.size() ? out * 10 + (c - '0') : out;
    }
  }
  if (out < 0 || out >= space.size())
    file.fail(ProblemCode::DataValue, "index", "an index is no design of the space",
              "an index below " + to_string(space.size()));
  return out;
}

double number_of(const JsonFile& file, const Json& in, const char* key) {
  const auto it = in.find(key);
  if (it == in.end() || !it->is_number())
    file.fail(ProblemCode::JsonMember, key, std::string("\"") + key + "\" is missing or not a number",
              "a number");
  return it->get<double>();
}

std::optional<double> optional_of(const Json& in, const char* key) {
  const auto it = in.find(key);
  return it != in.end() && it->is_number() ? std::optional(it->get<double>()) : std::nullopt;
}

bool flag_of(const JsonFile& file, const Json& in, const char* key) {
  const auto it = in.find(key);
  if (it == in.end() || !it->is_boolean())
    file.fail(ProblemCode::JsonMember, key, std::string("\"") + key + "\" is missing", "true or false");
  return it->get<bool>();
}

GoodputEntry read_entry(const JsonFile& file, const Json& in, const Space& space) {
  GoodputEntry out;
  out.point.index = index_of(file, in, space);
  out.design = space.design_at(out.point.index);
  out.estimated = number_of(file, in, "estimated");
  out.reason = file.text(in, "reason");
  out.simulated = flag_of(file, in, "simulated");
  if (!out.simulated) return out;
  LargestRate& found = out.found;
  found.rate = number_of(file, in, "rate");
  found.accelerators = file.integer(in, "accelerators");
  found.by_throughput = flag_of(file, in, "by_throughput");
  found.results.ttft.p99 = number_of(file, in, "ttft_p99_seconds");
  found.results.tpot.p99 = number_of(file, in, "tpot_p99_seconds");
  found.cost = {optional_of(in, "dollars"), optional_of(in, "kwh")};
  return out;
}

void read_settings(const JsonFile& file, const Json& in, ServiceSpec& spec) {
  for (const auto& [id, text] : in.items()) {
    const ServiceSetting* setting = find_setting(id);
    if (!setting || !text.is_string())
      file.fail(ProblemCode::DataValue, id, "\"" + id + "\" is no setting of a service",
                "a setting with a text");
    if (auto problem = set_setting(spec, *setting, text.get<std::string>()))
      file.fail(problem->code, id, problem->what, problem->accepted);
  }
}

}  // namespace

std::string goodput_file_json(const GoodputResult& result, const GoodputOptions& options) {
  Json root = Json::parse(result_json(result.search));
  Json& out = root[kKey] = {{"settings", settings_json(options.spec)},
                            {"considered", options.considered},
                            {"evaluated", options.evaluated}};
  Json& engines = out["engines"] = Json::array();
  const auto objective = static_cast<size_t>(result.search.options.objective);
  for (const Point& point : result.engine_points)
    engines.push_back({{"index", json_number(point.index)}, {"value", point.values[objective]}});
  Json& entries = out["entries"] = Json::array();
  for (const GoodputEntry& entry : result.entries) entries.push_back(entry_json(entry));
  return json_document(root);
}

Result<std::optional<GoodputFile>> goodput_from_json(const std::string& text, const std::string& where) {
  auto search = result_from_json(text, where);
  if (auto* problem = std::get_if<Problem>(&search)) return std::move(*problem);
  try {
    const JsonFile file(text, where);
    if (!file.root().contains(kKey)) return std::optional<GoodputFile>();
    const Json& in = file.object(file.root(), kKey);
    GoodputFile out;
    out.result.search = std::get<SearchResult>(std::move(search));
    const Space& space = *out.result.search.space;
    read_settings(file, file.object(in, "settings"), out.options.spec);
    out.options.considered = static_cast<size_t>(file.integer(in, "considered"));
    out.options.evaluated = static_cast<size_t>(file.integer(in, "evaluated"));
    const auto objective = static_cast<size_t>(out.result.search.options.objective);
    for (const Json& engine : file.array(in, "engines")) {
      Point point;
      point.index = index_of(file, engine, space);
      point.values[objective] = number_of(file, engine, "value");
      out.result.engine_points.push_back(point);
    }
    out.result.engines = out.result.engine_points.size();
    for (const Json& entry : file.array(in, "entries"))
      out.result.entries.push_back(read_entry(file, entry, space));
    return std::optional(std::move(out));
  } catch (const DataError& error) {
    return error.problem;
  }
}

Result<std::optional<GoodputFile>> load_goodput(const std::filesystem::path& path) {
  auto text = read_text(path);
  if (auto* problem = std::get_if<Problem>(&text)) return std::move(*problem);
  return goodput_from_json(std::get<std::string>(text), path.string());
}

}  // namespace shardscape
