// The rows of the knob table: the model.
#include "design/knobs/knob_writer.h"
#include "model/layer_variant.h"
#include "model/model_sizes.h"

namespace shardscape {

namespace {

template <size_t row>
void add_size(TableWriter& table) {
  constexpr const ModelSize& size = kModelSizes[row];
  table.section(std::string(model_section_label(size.section)));
  table.number(member<&Design::model, size.member>(), size.id, size.label, size.symbol, size.unit, size.min,
               size.max, size.help);
}

// What is wrong with a text, by the function that reads it.
template <auto parse>
std::optional<Problem> check_text(std::string_view text) {
  const auto read = parse(text);
  const auto* problem = std::get_if<Problem>(&read);
  return problem ? std::optional(*problem) : std::nullopt;
}

void add_layers(TableWriter& table) {
  table.section("Kinds of layers", true);
  table.text({[](const Design& d) { return KnobValue(d.model.layer_pattern); },
              [](Design& d, const KnobValue& value) { d.model.layer_pattern = std::get<std::string>(value); },
              nullptr, check_text<parse_layer_pattern>},
             "layer_pattern", "Layer pattern",
             "kinds of layers or variants separated by commas, such as dense*3, moe* or (linear*3, full)*",
             "the pattern of the architecture",
             "Kind of every layer, first to last. name*n repeats a kind, or a group in parentheses. A single "
             "* without a number fills the model and leaves the number of layers free. Otherwise the pattern "
             "sets the number of layers.");
  table.text({[](const Design& d) { return KnobValue(layer_variants_text(d.model.variants)); },
              [](Design& d, const KnobValue& value) {
                auto read = parse_layer_variants(std::get<std::string>(value));
                if (auto* variants = std::get_if<0>(&read)) d.model.variants = std::move(*variants);
              },
              nullptr, check_text<parse_layer_variants>},
             "variants", "Layer variants",
             "variants separated by semicolons, each with a name, a kind of layer of the architecture and "
             "sizes, such as full: global head_dim=512 kv_heads=2",
             "no variants",
             "Kinds of layers with sizes of their own, for models whose layers differ in heads, head size, "
             "FFN size or window. The layer pattern places them. A variant with the name of an existing kind "
             "replaces this kind. Sizes that a variant does not name are those of the model.");
}

void add_formats(TableWriter& table) {
  table.section("Weights of the checkpoint", true);
  table.of_checkpoints();
  table.text({[](const Design& d) { return KnobValue(weight_formats_text(d.model.weight_formats)); },
              [](Design& d, const KnobValue& value) {
                auto read = parse_weight_formats(std::get<std::string>(value));
                if (auto* formats = std::get_if<0>(&read))
                  d.model.weight_formats = without_plain(std::move(*formats));
              },
              nullptr, check_text<parse_weight_formats>},
             "weight_formats", "Weight formats",
             "roles of weights and formats separated by commas, such as attention=fp8-block, experts=mxfp4",
             "all weights in the data type",
             "Storage formats of the checkpoint's matrices. Inference keeps the formats; training ignores "
             "them. fp8: one scale per tensor. fp8-block: a float32 scale per 128x128 weights (-e8m0: one "
             "byte). mxfp8, mxfp4: an E8M0 byte per 32. nvfp4: an E4M3 byte per 16. int4-g32, int4-g128: a "
             "16-bit scale per 32 or 128. GEMMs run in the same precision; with mxfp4, int4 and -a16, they "
             "dequantize the weights and run in the data type. Groups of roles: attention, indexer, mlp, "
             "experts, shared_experts, latent, mixer, router, embed, head. A layer variant may have formats "
             "of its own. Weights without a format follow GEMM precision.");
}

}  // namespace

void add_model(TableWriter& table) {
  table.group(KnobGroup::Model);
  [&]<size_t... row>(std::index_sequence<row...>) { (add_size<row>(table), ...); }
  (std::make_index_sequence<kModelSizes.size()>());
  table.section("Embeddings");
  table.flag(member<&Design::model, &ModelSpec::tied_embeddings>(), "tied_embeddings", "Tied embeddings",
             "Input embedding and output projection share one matrix. In a pipeline, the first and the last "
             "stage both hold the matrix and all-reduce its gradient every step.");
  add_layers(table);
  add_formats(table);
}

}  // namespace shardscape
