// Maps the fields of a serving row to a design and a service. Private to core/validation.
#pragma once

#include <span>

#include "serving/requests/lengths.h"
#include "validation/measured_mapping.h"

namespace shardscape {

// A positive finite number of an object, times `unit`; empty if there is none.
std::optional<double> positive_number(const MeasuredJson& object, const char* field, double unit = 1);

// The same if it is a whole number from 1 to kMostOfRow.
std::optional<int64_t> positive_integer(const MeasuredJson& object, const char* field);

std::string text_field(const MeasuredJson& object, const char* field);  // empty: there is no text

// Scales lengths so that prompts have `input` tokens on average and answers `output`; 0: they stay as they
// are.
void scale_lengths(std::span<RequestLength> lengths, double input, double output);

class ServingMapper : public RowMapper {
 public:
  // engine: as the row writes it ("trt", "vLLM"). Rows of unknown engines are refused.
  ServingMapper(const MeasuredJson& row, std::string name, const std::string& engine);
  MeasuredServing& serving() { return *out().serving; }
  EngineSettings& engine() { return serving().spec.engine; }
  RequestSource& source() { return serving().spec.source; }

  // Settings that every engine has under a name of its own.
  void step_tokens(int64_t tokens);    // SGLang: of a chunk and of a prefill batch
  void most_sequences(int64_t count);  // that run at once
  void schedule_ahead(bool ahead);     // the next step while one runs
  void no_prefix_cache();              // for random prompts
  void memory_share(double share);     // by the rule of the engine

  // An object with mean, p50 and p99 in milliseconds.
  void latencies(ServedQuantity quantity, const char* field);
  void figure(ServedQuantity quantity, std::optional<double> value,
              ServedStatistic statistic = ServedStatistic::Mean);

  // The number of preemptions in an object of the row; 0 counts.
  void preemptions(const char* field);

  void accelerator(const std::string& name);  // "h200_sxm", "AMD Instinct MI300X 192GB HBM3"
  // model: with or without owner and format ("Qwen/Qwen3-235B-A22B-FP8"). precision: "fp8", "fp8_block",
  // "fp4", "nvfp4", "int4", "bf16", "fp16"; empty: as the publisher's checkpoint.
  void checkpoint(const std::string& model, const std::string& precision);
  // ep ranks of experts, each split over etp; for dense models both are without effect.
  void layout(int64_t tp, int64_t dp = 1, int64_t ep = 1, int64_t etp = 1);
  // Replicas of their own for prompts, `prefill` workers with the layout of `prompts` and `decode` workers
  // with the layout of the row. A worker with data-parallel attention has a replica for each of its dp ranks.
  // After all other settings of the design.
  void disaggregated(const Design& prompts, int64_t prefill, int64_t decode);
  // So many users send ten requests each, with lengths between `ratio` of the given ones and the given ones.
  void closed_loop(int64_t users, int64_t input, int64_t output, double ratio);

  // Drafts of so many tokens, with the given acceptance per position (SpeculativeSettings).
  void speculation(SpeculativeMethod method, int64_t tokens, std::vector<double> acceptance);

  // The closed loop of InferenceX, with the settings of its servers (inferencex_recipes.h). drafts: they
  // have multi-token prediction. After accelerator() and checkpoint().
  void inferencex_loop(int64_t users, int64_t input, int64_t output, bool drafts = false);

  // Validates the design and returns the row. lengths: of the requests, what rows of a series have in common.
  MeasuredRow finish_serving(const std::string& lengths, const std::string& load);
};

}  // namespace shardscape
