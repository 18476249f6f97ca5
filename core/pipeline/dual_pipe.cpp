// DualPipe (DeepSeek-AI, arXiv 2412.19437, section 3.2.1, figure 5; github deepseek-ai/DualPipe), and
// DualPipeV, which is half of DualPipe with both directions as one V.
#include <algorithm>
#include <array>

#include "pipeline/stage_writer.h"

namespace shardscape {
namespace {

// Writes a stage of DualPipeV, or one of two mirrored stages of DualPipe. "Near" is chunk 0, whose
// microbatches enter on this side; "far" is chunk 1.
class DualPipeWriter {
 public:
  // distance: number of stages between this stage and its end of the pipeline. half: stages on one side.
  // per_chunk: microbatches per chunk. first: first microbatch of each chunk.
  DualPipeWriter(StageWriter& writer, int distance, int half, int per_chunk, std::array<int, 2> first)
      : writer_(writer),
        distance_(distance),
        half_(half),
        per_chunk_(per_chunk),
        forwards_(first),
        backwards_(first) {}

  void write() {
    const int inward = half_ - distance_ - 1, outward = distance_ + 1;
    for (int i = 0; i < 2 * inward; ++i) forward(false);
    for (int i = 0; i < outward; ++i) {
      forward(false);
      forward(true);
    }
    for (int i = 0; i < inward; ++i) {
      backward(true, true);
      writer_.backward_weight();
      forward(true);
    }
    for (int i = 0; i < per_chunk_ - 2 * half_ + outward; ++i) {
      // Where the directions meet, the first pair does not overlap: the backward starts sooner without.
      if (i == 0 && inward == 0) {
        forward(false);
        backward(true, false);
      } else {
        both(false, true);
      }
      both(true, false);
    }
    for (int i = 0; i < inward; ++i) {
      backward(true, false);
      both(true, false);
    }
    // The second half of these backwards defers weight gradients.
    for (int i = 0; i < 2 * outward; ++i) backward(i % 2 == 0, i >= outward);
    for (int i = 0; i < inward; ++i) {
      writer_.backward_weight();
      backward(false, true);
    }
  }

 private:
  static std::pair<int, int> next(std::array<int, 2>& done, bool far) {
    return {done[far ? 1 : 0]++, far ? 1 : 0};
  }
  void forward(bool far) {
    const auto [microbatch, chunk] = next(forwards_, far);
    writer_.forward(microbatch, chunk);
  }
  void backward(bool far, bool split) {
    const auto [microbatch, chunk] = next(backwards_, far);
    if (split)
      writer_.backward_input(microbatch, chunk);
    else
      writer_.backward(microbatch, chunk);
  }
  void both(bool far_forward, bool far_backward) {
    const auto forward = next(forwards_, far_forward);
    writer_.both(forward, next(backwards_, far_backward));
  }

  StageWriter& writer_;
  const int distance_, half_, per_chunk_;
  std::array<int, 2> forwards_, backwards_;  // next microbatch of each chunk
};

}  // namespace

void write_dual_pipe(StageWriter& writer, int stage, int stages, int microbatches) {
  const PipelineLayout places{ChunkLayout::BothWays, stages, 2};
  const auto first = [&](int chunk) {
    return static_cast<int>(places.first_microbatch({stage, chunk}, microbatches));
  };
  DualPipeWriter(writer, std::min(stage, stages - 1 - stage), stages / 2, microbatches / 2,
                 {first(0), first(1)})
      .write();
}

void write_dual_pipe_v(StageWriter& writer, int stage, int stages, int microbatches) {
  DualPipeWriter(writer, stage, stages, microbatches, {0, 0}).write();
}

}  // namespace shardscape
