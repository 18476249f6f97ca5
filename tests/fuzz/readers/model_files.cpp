// Files of the person's models, read next to the blocks of the program.
#include "base/data_dir.h"
#include "fuzz/reader.h"
#include "model/library.h"

namespace shardscape::fuzz {
namespace {

// The blocks of a dense model and its architecture: enough for names to resolve, few enough to be fast.
const ModelLibrary& base_library() {
  static const ModelLibrary library = [] {
    std::vector<DataText> texts;
    for (const char* name :
         {"blocks/token_embedding", "blocks/rms_norm", "blocks/self_attention", "blocks/gated_mlp",
          "blocks/residual", "blocks/lm_head", "blocks/cross_entropy", "architectures/llama"}) {
      const std::string file = std::string(name) + ".json";
      auto text = read_text(data_dir() / "models" / file);
      require(std::holds_alternative<std::string>(text), "the models of the program are there");
      texts.push_back({file.substr(0, file.find('/')), file, std::get<std::string>(std::move(text))});
    }
    return ModelLibrary::load({}, texts);
  }();
  return library;
}

std::string added(const char* folder, std::string_view input) {
  return reason(base_library().with({folder, kInputName, std::string(input)}).problems());
}

std::string alone(const char* folder, std::string_view input) {
  return reason(ModelLibrary::load({}, {{folder, kInputName, std::string(input)}}).problems());
}

}  // namespace

std::string architecture(std::string_view input) { return added("architectures", input); }
std::string block(std::string_view input) { return added("blocks", input); }
std::string tower(std::string_view input) { return added("towers", input); }
std::string kernel_profile(std::string_view input) { return alone("profiles", input); }
std::string preset(std::string_view input) { return alone("presets", input); }

}  // namespace shardscape::fuzz
