// Schedules that fill bubbles with weight gradients (Qi et al., arXiv 2401.10241 and 2405.15362).
#include <algorithm>

#include "pipeline/stage_writer.h"

namespace shardscape {

// arXiv 2401.10241, section 2.3, figure 2: 1F1B with weight gradients deferred by as many microbatches as
// there are earlier stages, so that every stage holds pp microbatches.
void write_zb_h1(StageWriter& writer, int stage, int stages, int microbatches) {
  const int warmup = std::min(stages - stage - 1, microbatches);
  for (int i = 0; i < warmup; ++i) writer.forward(i);
  for (int i = warmup; i < microbatches; ++i) {
    writer.forward(i);
    writer.backward_input(i - warmup);
    if (i - warmup >= stage) writer.backward_weight();
  }
  for (int i = microbatches - warmup; i < microbatches; ++i) {
    writer.backward_input(i);
    writer.backward_weight();
  }
}

// arXiv 2401.10241, section 2.3, figure 3: about twice the warm-up, so that every stage holds 2 pp - 1
// microbatches.
void write_zb_h2(StageWriter& writer, int stage, int stages, int microbatches) {
  const int limit = 2 * stages - 1, warmup = std::min(2 * (stages - stage) - 1, microbatches);
  int weights = 0;
  const auto weight = [&] {
    writer.backward_weight();
    ++weights;
  };
  for (int i = 0; i < warmup; ++i) writer.forward(i);
  for (int i = 0; i < microbatches; ++i) {
    writer.backward_input(i);
    if (const int next = warmup + i; next >= microbatches) {
      weight();
    } else {
      if (next - weights >= limit) weight();
      writer.forward(next);
    }
  }
}

// arXiv 2401.10241, section 6: two chunks per stage, in a V. Every stage holds at most 2 pp microbatches of
// its chunks, as much memory as 1F1B's first stage. With fewer than 2 pp - 1 microbatches, the actions of the
// missing microbatches are omitted.
void write_zb_v(StageWriter& writer, int stage, int stages, int microbatches) {
  const int padded_microbatches = std::max(2 * stages - 1, microbatches);
  int forwards[2] = {}, inputs[2] = {};
  const auto forward = [&](int chunk) {
    if (const int i = forwards[chunk]++; i < microbatches) writer.forward(i, chunk);
  };
  // with_weights: weight gradients run at once, because no other stage waits for this stage.
  const auto backward = [&](int chunk, bool with_weights) {
    const int i = inputs[chunk]++;
    if (i >= microbatches) return;
    writer.backward_input(i, chunk);
    if (with_weights) writer.backward_weight();
  };
  for (int i = 0; i < 2 * (stages - stage) - 1; ++i) forward(0);
  for (int i = 0; i < stage; ++i) {
    forward(1);
    forward(0);
  }
  for (int i = 0; i < stages - stage; ++i) {
    forward(1);
    backward(1, true);
  }
  while (forwards[1] < forwards[0] || forwards[0] < padded_microbatches) {
    if (forwards[0] < padded_microbatches) forward(0);
    backward(0, true);
    forward(1);
    backward(1, true);
  }
  for (int i = 0; i < stage; ++i) {
    backward(0, false);
    backward(1, false);
  }
  for (int i = 0; i < stages - stage; ++i) {
    backward(0, false);
    writer.backward_weight();
  }
}

}  // namespace shardscape
