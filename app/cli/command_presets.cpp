// shardscape-cli presets
#include <iostream>

#include "app/cli/arguments.h"
#include "app/cli/command_list.h"
#include "app/cli/design_flags.h"
#include "app/cli/exit_code.h"
#include "app/cli/messages.h"
#include "app/cli/text.h"
#include "base/json_text.h"
#include "base/units.h"
#include "design/knobs/published_layout.h"
#include "model/model_sizes.h"
#include "symbolic/json_value.h"

namespace shardscape {
namespace {

using Json = nlohmann::ordered_json;

struct Row {
  const Preset* preset;
  std::shared_ptr<const Report> report;  // counts the parameters in the graph
};

std::string published(const Preset& preset) {
  if (preset.published_parameters == 0) return "";
  return preset.published_exact ? grouped(preset.published_parameters)
                                : "about " + format_count(preset.published_parameters);
}

std::string table(const std::vector<Row>& rows) {
  std::vector<std::vector<std::string>> cells{{"id", "name", "maker", "released", "layers", "hidden", "heads",
                                               "KV heads", "parameters", "published", "published layout"}};
  for (const auto& [preset, report] : rows) {
    const ModelSpec& m = preset->model;
    cells.push_back({preset->id, preset->name, preset->maker, preset->released, grouped(m.layers),
                     grouped(m.hidden), grouped(m.heads), grouped(m.kv_heads),
                     report->valid() ? grouped(report->model_parameters.value) : "unknown",
                     published(*preset), published_layout_text(*preset)});
  }
  constexpr Align l = Align::Left, r = Align::Right;
  return text_table(cells, {l, l, l, l, r, r, r, r, r, r, l});
}

Json entry(const Row& row) {
  const ModelSpec& m = row.preset->model;
  Json out{{"id", row.preset->id},
           {"name", row.preset->name},
           {"maker", row.preset->maker},
           {"released", row.preset->released},
           {"architecture", m.architecture}};
  for (const ModelSize& size : kModelSizes) out[size.id] = m.*size.member;
  out["tied_embeddings"] = m.tied_embeddings;
  out["default_seq"] = row.preset->default_seq;
  const Quantity& count = row.report->model_parameters;
  out["parameters"] = row.report->valid() ? json_quantity(count.value, *count.formula) : Json();
  const Quantity& active = row.report->active_parameters;
  out["active_parameters"] = row.report->valid() ? json_quantity(active.value, *active.formula) : Json();
  out["published_parameters"] = row.preset->published_parameters;
  out["published_exact"] = row.preset->published_exact;
  out["source"] = row.preset->source;
  if (!row.preset->layout.empty()) {
    out["layout"]["text"] = published_layout_text(*row.preset);
    out["layout"]["source"] = row.preset->layout.source;
    for (const auto& [knob, value] : row.preset->layout.knobs) out["layout"]["knobs"][knob] = value;
  }
  return out;
}

int run_presets(const Arguments& arguments) {
  if (!models_found()) return kFileError;
  std::vector<Row> rows;
  int exit_code = kDone;
  for (const Preset& preset : ModelLibrary::instance().presets()) {
    rows.push_back({&preset, make_report(single_rank_design(preset))});
    if (rows.back().report->valid()) continue;
    std::cerr << "preset " << preset.id << ":\n";
    print_problems(rows.back().report->problems);
    exit_code = kNegativeAnswer;
  }
  if (!arguments.has("--json")) {
    std::cout << table(rows);
    return exit_code;
  }
  Json list = Json::array();
  for (const Row& row : rows) list.push_back(entry(row));
  std::cout << json_document(Json{{"presets", list}});
  return exit_code;
}

}  // namespace

Command presets_command() {
  return {"presets",
          "list the models that come with the program",
          "[--json]",
          "Lists the sizes and the parameter count of every preset. The count computed from the graph stands "
          "next to the published count, followed by the published layout in words. The flag --model of other "
          "commands takes the ids. Files in models/ "
          "below ~/.local/share/shardscape add presets.",
          {"shardscape-cli presets", "shardscape-cli presets --json"},
          {json_flag()},
          0,
          run_presets};
}

}  // namespace shardscape
