// Rules of validation for attention to compressed keys and output projections in groups.
#include <QtTest>

#include "support/validation_rules.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

void compressed(Design& d) {
  d.parallel = {};
  d.model.architecture = "compressed";
  d.model.kv_heads = d.model.heads;
  d.model.q_rank = 1536;
  d.model.rope_head_dim = 64;
  d.model.window = d.model.compress_ratio = 128;
  d.model.output_groups = 8;
  d.model.output_rank = 1024;
  d.model.index_heads = 64;
  d.model.index_dim = 128;
  d.model.index_top_k = 512;
}

void compressed_rules() {
  row(
      "compressed keys without blocks", [](Design& d) { d.model.compress_ratio = 4; }, note,
      ProblemCode::ValueWithoutEffect, "compress_ratio", "0", 1);
  row(
      "a block longer than a sequence",
      [](Design& d) {
        compressed(d);
        d.model.compress_ratio = 100000;
      },
      error, ProblemCode::CompressRatioTooLarge, "seq", "at least 100,000", 1);
  row(
      "a block longer than a context",
      [](Design& d) {
        compressed(d);
        d.workload.mode = Mode::Decode;
        d.workload.batch = d.workload.microbatch = 1;
        d.workload.context_length = 64;
      },
      error, ProblemCode::CompressRatioTooLarge, "context_length", "at least 128", 1);
  row(
      "blocks of two ranks",
      [](Design& d) {
        compressed(d);
        d.parallel.cp = 2;
        d.parallel.context = ContextMode::AllGather;
        d.model.compress_ratio = 96;
      },
      error, ProblemCode::CompressBlocksSplit, "seq", "a multiple of 192", 2);
  row(
      "an FP8 entry of another size",
      [](Design& d) {
        compressed(d);
        d.workload.mode = Mode::Prefill;
        d.workload.kv_cache_dtype = DType::FP8;
        d.model.head_dim = 96;
      },
      error, ProblemCode::CacheEntryUnfit, "kv_cache_dtype", "multiple of 64", 1);
  row(
      "groups of unequal heads",
      [](Design& d) {
        compressed(d);
        d.model.output_groups = 5;
      },
      error, ProblemCode::OutputGroupsIndivisible, "output_groups", "a divisor of 32", 1);
  row(
      "groups over more ranks",
      [](Design& d) {
        compressed(d);
        d.parallel.tp = 4;
        d.model.output_groups = 2;
      },
      error, ProblemCode::OutputGroupsIndivisibleByTp, "tp", "1 or 2", 1);
  row(
      "a ring without all compressed keys",
      [](Design& d) {
        compressed(d);
        d.parallel.cp = 2;
        d.parallel.context = ContextMode::Ulysses;
      },
      error, ProblemCode::SparseNeedsAllKeys, "context", "all-gather", 1);
}

}  // namespace

class ValidateCompressedTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void rules_data() {
    add_rule_columns();
    compressed_rules();
  }
  void rules() { check_rule(); }
};

QTEST_APPLESS_MAIN(ValidateCompressedTest)
#include "validate_compressed_test.moc"
