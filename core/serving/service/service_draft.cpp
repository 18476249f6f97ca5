#include "serving/service/service_draft.h"

#include <filesystem>
#include <utility>
#include <vector>

#include "base/data_dir.h"
#include "base/suggest.h"
#include "base/units.h"
#include "design/document.h"
#include "design/validate/validate.h"
#include "model/huggingface/hf_files.h"
#include "model/library.h"
#include "serving/engine/step_design.h"

namespace shardscape {
namespace {

constexpr int64_t kAnyContext = 1024;

Problem draft_problem(const char* setting, std::string what, std::string accepted) {
  return {ProblemCode::EngineSettingInvalid, setting, std::move(what), std::move(accepted)};
}

Result<ModelSpec> model_of_file(const std::string& path) {
  const auto text = read_text(path);
  if (const auto* problem = std::get_if<Problem>(&text)) return *problem;
  if (looks_like_hf_file(std::get<std::string>(text))) {
    const auto files = read_hf_files(path);
    if (const auto* problem = std::get_if<Problem>(&files)) return *problem;
    ImportResult read = import_hf_files(std::get<HfFiles>(files));
    if (!read.ok()) return std::move(read.problems.front());
    return std::move(read.model);
  }
  auto design = load_design(path);
  if (auto* problem = std::get_if<Problem>(&design)) return std::move(*problem);
  return std::get<Design>(std::move(design)).model;
}

Result<ModelSpec> draft_model(const std::string& name) {
  const ModelLibrary& library = ModelLibrary::instance();
  if (const Preset* preset = library.preset(name)) return preset->model;
  std::error_code ignored;  // a file that cannot be reached: its reader has the reason
  if (std::filesystem::status(name, ignored).type() != std::filesystem::file_type::not_found)
    return model_of_file(name);
  std::vector<std::string> known;
  for (const Preset& preset : library.presets()) known.push_back(preset.id);
  return draft_problem("draft_model",
                       "there is no preset and no file \"" + name + "\"" + did_you_mean(name, known),
                       "a preset such as llama3.2-1b, the config.json of a model, or a saved design");
}

}  // namespace

Result<Draft> service_draft(const Design& engine, const ServiceSpec& spec) {
  const SpeculativeMethod method = spec.engine.speculation.method;
  const bool own = method == SpeculativeMethod::DraftModel;
  if (own && spec.draft_model.empty())
    return draft_problem("draft_model", "speculative_method is draft-model, and no model is named",
                         "a preset such as llama3.2-1b, the config.json of a model, or a saved design");
  if (!own && method != SpeculativeMethod::Eagle && !spec.draft_model.empty())
    return draft_problem("draft_model", "no model proposes tokens with this speculative_method",
                         "no model, or speculative_method draft-model or eagle");
  if (method == SpeculativeMethod::None || method == SpeculativeMethod::Ngram) return Draft{};
  if (method == SpeculativeMethod::Mtp && has_draft_module(engine))
    return Draft{DraftKind::Module, module_design(engine)};
  if (spec.draft_model.empty()) return Draft{DraftKind::Eagle, {}};
  const int64_t most = engine.parallel.tp, tp = spec.draft_tensor_parallel_size;
  if (tp < 0 || tp > most)
    return draft_problem("draft_tensor_parallel_size", "the value is " + grouped(tp),
                         "0 to tp = " + grouped(most));
  const auto model = draft_model(spec.draft_model);
  if (const auto* problem = std::get_if<Problem>(&model)) return *problem;
  const ModelSpec& of = std::get<ModelSpec>(model);
  if (own && of.vocab != engine.model.vocab)
    return draft_problem("draft_model",
                         "its vocabulary has " + grouped(of.vocab) + " tokens, that of the model " +
                             grouped(engine.model.vocab),
                         "a model with the same vocabulary");
  const Draft out{own ? DraftKind::Model : DraftKind::Eagle,
                  draft_model_design(engine, of, tp == 0 ? most : tp)};
  for (const Problem& problem : validate(decode_design(*out.design, 1, kAnyContext)))
    if (problem.severity == Severity::Error)
      return draft_problem(problem.where == "tp" ? "draft_tensor_parallel_size" : "draft_model",
                           "of the draft model, " + problem.what, problem.accepted);
  return out;
}

}  // namespace shardscape
