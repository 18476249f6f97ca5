// The rows of the knob table: the model.
#include "design/knobs/knob_writer.h"
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

}  // namespace

void add_model(TableWriter& table) {
  table.group(KnobGroup::Model);
  [&]<size_t... row>(std::index_sequence<row...>) { (add_size<row>(table), ...); }
  (std::make_index_sequence<kModelSizes.size()>());
  table.section("Embeddings");
  table.flag(member<&Design::model, &ModelSpec::tied_embeddings>(), "tied_embeddings", "Tied embeddings",
             "Input embedding and output projection share one matrix. With pipeline stages, the "
             "first and the last stage both hold the matrix and reduce its gradient between them "
             "every step.");
}

}  // namespace shardscape
