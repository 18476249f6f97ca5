#include "launch/bridge/python_recipe.h"

#include "launch/text_lines.h"

namespace shardscape {

bool is_megatron_recipe(std::string_view text) {
  const bool python = mentions(text, "\nimport ") || mentions(text, "\nfrom ") ||
                      text.starts_with("import ") || text.starts_with("from ");
  return python && (mentions(text, "megatron.bridge") || mentions(text, "nemo.collections") ||
                    mentions(text, "import nemo_run"));
}

void refuse_megatron_recipe(const LaunchRequest& request, LaunchImport& out) {
  const bool bridge = mentions(request.text, "megatron.bridge");
  out.problems.emplace_back(
      ProblemCode::LaunchFormat, request.where,
      std::string("the file is a recipe in Python of ") + (bridge ? "Megatron-Bridge" : "NeMo 2") +
          ", whose values only its functions know",
      bridge ? "the run_config.yaml that a run writes beside its checkpoints, or the command that starts the "
               "recipe (run_recipe.py --recipe NAME model.tensor_model_parallel_size=2 ...)"
             : "the log of a run with Megatron's arguments, or a run_config.yaml of Megatron-Bridge");
}

}  // namespace shardscape
