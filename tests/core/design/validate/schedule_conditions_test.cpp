// What virtual stages and the pipeline schedules ask of a design: messages, and fixes that mend.
#include <QtTest>

#include "design/knobs/knobs.h"
#include "mesh/pipeline_layout.h"
#include "support/validation_rules.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

// Experts over 8 replicas, whose exchanges run beside another pass.
void in_pairs(Design& d) {
  apply_preset(d, "mixtral-8x7b");
  d.parallel = {};
  d.parallel.dp = d.parallel.ep = 8;
  d.parallel.ep_comm_overlap = true;
  d.workload.batch = 64;
  d.workload.microbatch = 1;
}

// An error with a fix.
void row(const char* name, const Change& change, ProblemCode code, const char* where, const char* accepted) {
  test::row(name, change, error, code, where, accepted, 1);
}

// Interleaved 1F1B.
void add_virtual_stage_rules() {
  row(
      "virtual stages alone",
      [](Design& d) {
        d.parallel.pp = 1;
        d.parallel.virtual_stages = 2;
      },
      ProblemCode::VirtualStagesWithoutPipeline, "virtual_stages", "1, or pp of at least 2");
  row(
      "virtual stages under GPipe",
      [](Design& d) {
        d.parallel.virtual_stages = 2;
        d.parallel.schedule = ScheduleKind::GPipe;
      },
      ProblemCode::VirtualStagesWithOtherSchedule, "virtual_stages", "the schedule 1f1b");
  row(
      "layers over virtual stages", [](Design& d) { d.parallel.virtual_stages = 3; },
      ProblemCode::LayersIndivisibleByVirtualStages, "virtual_stages",
      "1, 2, 4, 8 or 16, or a list of layers for all 6");
  row(
      "layers and the head over virtual stages",
      [](Design& d) {
        d.parallel.virtual_stages = 2;
        d.parallel.account_for_loss_in_pipeline_split = true;
      },
      ProblemCode::LayersIndivisibleByVirtualStages, "virtual_stages", "1, or a list of layers");
  row(
      "microbatches in groups",
      [](Design& d) {
        d.parallel.pp = 4;
        d.parallel.virtual_stages = 2;
        d.workload.batch = 36;
      },
      ProblemCode::MicrobatchesIndivisibleByPp, "batch", "m that is a multiple of 4");
  row(
      "fewer microbatches than stages, interleaved",
      [](Design& d) {
        d.parallel.pp = 8;
        d.parallel.virtual_stages = 2;
        d.workload.batch = 8;
      },
      ProblemCode::MicrobatchesIndivisibleByPp, "batch", "m that is a multiple of 8");
  row(
      "batch of interleaved stages",
      [](Design& d) {
        d.parallel.pp = 4;
        d.parallel.virtual_stages = 2;
        d.workload.batch = 31;
      },
      ProblemCode::BatchIndivisible, "batch", "a multiple of 2");
  row(
      "virtual stages listed",
      [](Design& d) {
        d.parallel.virtual_stages = 2;
        d.parallel.stage_layers = {16, 16};
      },
      ProblemCode::StageLayersCount, "stage_layers", "4 numbers that add up to 32");
  row(
      "empty virtual stage",
      [](Design& d) {
        d.parallel.virtual_stages = 2;
        d.parallel.stage_layers = {0, 16, 0, 16};
      },
      ProblemCode::StageLayersInvalid, "stage_layers", "4 numbers");
  row(
      "too many microbatches, interleaved",
      [](Design& d) {
        d.parallel.virtual_stages = 2;
        d.workload.batch = int64_t{1} << 20;
      },
      ProblemCode::TooManyMicrobatches, "batch", "at most 262,144 microbatches");
}

// Shapes of pipelines and numbers of microbatches.
void add_schedule_rules() {
  row(
      "virtual stages under ZB-H1",
      [](Design& d) {
        d.parallel.virtual_stages = 2;
        d.parallel.schedule = ScheduleKind::ZbH1;
      },
      ProblemCode::VirtualStagesWithOtherSchedule, "virtual_stages", "1 with ZB-H1");
  row(
      "ZB-V without its V", [](Design& d) { d.parallel.schedule = ScheduleKind::ZbV; },
      ProblemCode::VScheduleNeedsTwoChunks, "virtual_stages", "2, or another schedule");
  row(
      "DualPipeV of four chunks",
      [](Design& d) {
        d.parallel.schedule = ScheduleKind::DualPipeV;
        d.parallel.virtual_stages = 4;
      },
      ProblemCode::VScheduleNeedsTwoChunks, "virtual_stages", "2, or another schedule");
  row(
      "flexible without virtual stages", [](Design& d) { d.parallel.schedule = ScheduleKind::Flexible; },
      ProblemCode::FlexibleNeedsVirtualStages, "virtual_stages", "2 or more, or the schedule 1f1b");
  row(
      "groups that do not fill the pipeline",
      [](Design& d) {
        d.parallel.schedule = ScheduleKind::Flexible;
        d.parallel.pp = 4;
        d.parallel.virtual_stages = 2;
        d.parallel.microbatch_group = 3;
      },
      ProblemCode::MicrobatchGroupTooSmall, "microbatch_group", "at least pp = 4");
  row(
      "ZB from three times",
      [](Design& d) {
        d.parallel.schedule = ScheduleKind::ZbAuto;
        d.parallel.passes.times = {3, 2, 1};
      },
      ProblemCode::PassTimesInvalid, "pass_times", "four whole numbers");
  row(
      "ZB from no time for weights",
      [](Design& d) {
        d.parallel.schedule = ScheduleKind::ZbAuto;
        d.parallel.passes.times = {3, 2, 0, 0};
      },
      ProblemCode::PassTimesInvalid, "pass_times", "at least 1");
  row(
      "DualPipe on an odd number of stages",
      [](Design& d) {
        d.parallel.schedule = ScheduleKind::DualPipe;
        d.parallel.pp = 3;
        d.workload.batch = 64;
      },
      ProblemCode::DualPipeOddStages, "pp", "even");
  row(
      "DualPipe with an odd number of microbatches",
      [](Design& d) {
        d.parallel.schedule = ScheduleKind::DualPipe;
        d.workload.batch = d.parallel.dp * d.workload.microbatch * 7;
      },
      ProblemCode::DualPipeMicrobatches, "batch", "m even and at least 4");
  row(
      "DualPipeV with few microbatches",
      [](Design& d) {
        d.parallel.schedule = ScheduleKind::DualPipeV;
        d.parallel.virtual_stages = 2;
        d.workload.batch = d.parallel.dp * d.workload.microbatch * 3;
      },
      ProblemCode::DualPipeMicrobatches, "batch", "m at least 4");
}

// Gradient syncs and offloading.
void add_sync_rules() {
  row(
      "ZB-H2 with FSDP1",
      [](Design& d) {
        d.parallel.schedule = ScheduleKind::ZbH2;
        d.parallel.dp = 2;
        d.parallel.sync = SyncStrategy::Fsdp1;
      },
      ProblemCode::Fsdp1WithSplitBackward, "sync", "fsdp2");
  row(
      "ZB-H2 with FSDP1 in every microbatch",
      [](Design& d) {
        d.parallel.schedule = ScheduleKind::ZbH2;
        d.parallel.dp = 2;
        d.parallel.sync = SyncStrategy::Fsdp1;
        d.parallel.reduce_every_microbatch = true;
      },
      ProblemCode::Fsdp1WithSplitBackward, "sync", "fsdp2");
  row(
      "ZB-H2 with FSDP2 in every microbatch",
      [](Design& d) {
        d.parallel.schedule = ScheduleKind::ZbH2;
        d.parallel.dp = 2;
        d.parallel.sync = SyncStrategy::Fsdp2;
        d.parallel.reduce_every_microbatch = true;
      },
      ProblemCode::EagerReduceWithSplitBackward, "reduce_every_microbatch", "off, or the schedule 1f1b");
  row(
      "DualPipe with FSDP2",
      [](Design& d) {
        d.parallel.schedule = ScheduleKind::DualPipe;
        d.parallel.dp = 2;
        d.parallel.sync = SyncStrategy::Fsdp2;
      },
      ProblemCode::FsdpWithBothWays, "sync", "dualpipe-v");
  row(
      "ZB-H1 with DeepSpeed",
      [](Design& d) {
        d.parallel.schedule = ScheduleKind::ZbH1;
        d.parallel.dp = 2;
        d.parallel.sync = SyncStrategy::Zero1;
      },
      ProblemCode::DeepSpeedWithSplitBackward, "sync", "distributed-optimizer");
  row(
      "ZB-H1 with offloaded activations",
      [](Design& d) {
        d.parallel.schedule = ScheduleKind::ZbH1;
        d.workload.offload_activations = 2;
      },
      ProblemCode::OffloadWithSplitBackward, "offload_activations", "0, or the schedule 1f1b");
}

// Exchanges of experts beside another pass.
void add_pair_rules() {
  row(
      "pairs by an all-gather",
      [](Design& d) {
        in_pairs(d);
        d.parallel.dispatcher = Dispatcher::AllGather;
      },
      ProblemCode::PairsDispatcher, "ep_comm_overlap", "off, or the dispatcher alltoall");
  row(
      "pairs by hidden",
      [](Design& d) {
        in_pairs(d);
        d.parallel.tp = 2;
        d.parallel.dispatcher = Dispatcher::AllToAllSeq;
      },
      ProblemCode::PairsDispatcher, "ep_comm_overlap", "off, or the dispatcher alltoall");
  row(
      "pairs under full recompute",
      [](Design& d) {
        in_pairs(d);
        d.workload.recompute = Recompute::Full;
      },
      ProblemCode::PairsFullRecompute, "ep_comm_overlap", "off, or recompute selective or none");
  row(
      "pairs of recomputed experts",
      [](Design& d) {
        in_pairs(d);
        d.parallel.pp = d.parallel.virtual_stages = 2;
        d.workload.recompute = Recompute::Selective;
        d.workload.recompute_modules.add(RecomputeModule::Moe);
      },
      ProblemCode::PairsRecomputeMoe, "ep_comm_overlap", "off, or modules without moe");
  row(
      "pairs in float32",
      [](Design& d) {
        in_pairs(d);
        d.workload.dtype = DType::FP32;
      },
      ProblemCode::PairsDataType, "ep_comm_overlap", "off, or the data type bf16 or fp16");
  row(
      "pairs of two predicted tokens",
      [](Design& d) {
        in_pairs(d);
        apply_preset(d, "deepseek-v3");
        d.model.mtp_layers = 2;
      },
      ProblemCode::PairsPredictionDepth, "ep_comm_overlap", "off, or 1 or 0");
}

}  // namespace

class ScheduleConditionsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void good_data() {
    add_good_columns();
    good_row("ZB-H1", [](Design& d) { d.parallel.schedule = ScheduleKind::ZbH1; });
    good_row("ZB from times", [](Design& d) {
      d.parallel.schedule = ScheduleKind::ZbAuto;
      d.parallel.passes = {{3, 2, 1, 0}, 1, 0};
    });
    good_row("ZB-V", [](Design& d) {
      d.parallel.schedule = ScheduleKind::ZbV;
      d.parallel.virtual_stages = 2;
    });
    good_row("DualPipe", [](Design& d) { d.parallel.schedule = ScheduleKind::DualPipe; });
    good_row("DualPipeV", [](Design& d) {
      d.parallel.schedule = ScheduleKind::DualPipeV;
      d.parallel.virtual_stages = 2;
    });
    good_row("flexible", [](Design& d) {
      d.parallel.schedule = ScheduleKind::Flexible;
      d.parallel.virtual_stages = 2;
      d.parallel.microbatch_group = 3;
    });
    good_row("pairs", [](Design& d) { in_pairs(d); });
    good_row("pairs over virtual stages, tokens once per node", [](Design& d) {
      in_pairs(d);
      d.parallel.pp = d.parallel.virtual_stages = 2;
      d.parallel.dispatcher = Dispatcher::Flex;
      d.workload.dtype = DType::FP16;
    });
    good_row("a schedule of one stage", [](Design& d) {
      d.parallel.schedule = ScheduleKind::DualPipe;
      d.parallel.pp = 1;
    });
  }

  void good() { check_good(); }

  void rules_data() {
    add_rule_columns();
    add_virtual_stage_rules();
    add_schedule_rules();
    add_sync_rules();
    add_pair_rules();
  }

  // A note on stages of unlike length may come with the error.
  void rules() { check_rule(Notes::Ignored); }

  // A knob of a schedule that does not run: said, and harmless, whatever pairs would refuse.
  void pairsWithoutEffectAreNoted_data() {
    QTest::addColumn<Change>("change");
    QTest::addColumn<QString>("why");
    const auto row = [](const char* name, Change change, const char* why) {
      QTest::newRow(name) << change << why;
    };
    row(
        "stages without virtual ones", [](Design& d) { d.parallel.pp = 2; },
        "over several stages (pp = 2) only with virtual stages");
    row(
        "GPipe",
        [](Design& d) {
          d.parallel.pp = 2;
          d.parallel.schedule = ScheduleKind::GPipe;
        },
        "only in 1F1B");
    row(
        "FSDP", [](Design& d) { d.parallel.sync = SyncStrategy::Fsdp2; }, "only with its own gradient sync");
    row(
        "experts on one rank", [](Design& d) { d.parallel.ep = 1; }, "without expert parallelism");
    row(
        "prefill",
        [](Design& d) {
          d.workload.mode = Mode::Prefill;
          d.parallel.pp = 2;
          d.parallel.dispatcher = Dispatcher::AllGather;
        },
        "");
  }
  void pairsWithoutEffectAreNoted() {
    QFETCH(Change, change);
    QFETCH(QString, why);
    Design design = default_design();
    in_pairs(design);
    if (!why.isEmpty()) design.workload.recompute = Recompute::Full;
    change(design);
    const std::vector<Problem> problems = validate(design);
    QVERIFY2(!has_errors(problems), listing(problems).c_str());
    if (why.isEmpty()) return;
    QVERIFY2(problems.size() == 1 && problems.front().where == "ep_comm_overlap", listing(problems).c_str());
    QVERIFY(problems.front().code == ProblemCode::ValueWithoutEffect);
    QVERIFY2(QString::fromStdString(problems.front().what).contains(why), problems.front().what.c_str());
  }

  // A gradient sync that has nothing to do decides nothing.
  void pairsWithoutReplicas() {
    Design design = default_design();
    in_pairs(design);
    design.parallel.dp = design.parallel.etp = 1;
    design.parallel.tp = design.parallel.ep = 8;
    design.parallel.sequence_parallel = true;
    design.parallel.sync = SyncStrategy::Fsdp2;
    const std::vector<Problem> problems = validate(design);
    QVERIFY2(problems.size() == 1 && problems.front().where == "sync", listing(problems).c_str());
    QVERIFY(schedule_of(design.parallel) == ScheduleKind::OneFOneBPairs);
  }

  // Megatron-LM takes no stages of different length beside its flags; here the first ones get a layer more.
  void countedEndsAreNoted_data() {
    QTest::addColumn<QString>("knob");
    QTest::addColumn<QString>("end");
    QTest::newRow("embedding") << "account_for_embedding_in_pipeline_split"
                               << "embedding";
    QTest::newRow("head") << "account_for_loss_in_pipeline_split"
                          << "head";
  }
  void countedEndsAreNoted() {
    QFETCH(QString, knob);
    QFETCH(QString, end);
    Design design = default_design();
    QVERIFY(!set_knob(design, *find_knob(knob.toStdString()), "true"));
    const std::vector<Problem> problems = validate(design);
    QVERIFY2(problems.size() == 1 && problems.front().severity == Severity::Note, listing(problems).c_str());
    QVERIFY(problems.front().code == ProblemCode::CountedEndsUneven);
    QCOMPARE(QString::fromStdString(problems.front().where), knob);
    QVERIFY(QString::fromStdString(problems.front().what)
                .contains("32 layers and the " + end + " do not split evenly over pp = 2"));
    QVERIFY(problems.front().fixes.size() >= 2);  // both ends, or none
    for (const Fix& fix : problems.front().fixes) {
      Design mended = design;
      apply(mended, fix);
      QVERIFY2(validate(mended).empty(), (fix.label + " leaves " + listing(validate(mended))).c_str());
    }
    Design serving = design;
    serving.workload.mode = Mode::Prefill;
    QCOMPARE(listing(validate(serving)).find(knob.toStdString()), std::string::npos);
    design.model.layers = 31;
    QVERIFY2(validate(design).empty(), listing(validate(design)).c_str());
  }
};

QTEST_APPLESS_MAIN(ScheduleConditionsTest)
#include "schedule_conditions_test.moc"
