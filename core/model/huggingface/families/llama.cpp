// Llama.
#include "model/huggingface/families/readers.h"

namespace shardscape::hf {
void llama(Family& f) {
  f.model.architecture = "llama";
  llama_sizes(f, {}, false);
  silu(f);
  f.in.only("attention_bias", false, kNoBias);
  f.in.only("mlp_bias", false, kNoBias);
}

}  // namespace shardscape::hf
