// Disabled knobs and choices: a knob without effect changes no number, and an impossible choice is an error
// of the design.
#include <QtTest>

#include "base/units.h"
#include "design/knobs/knob_state.h"
#include "design/validate/validate.h"
#include "model/library.h"
#include "plan/report.h"
#include "support/designs.h"

using namespace shardscape;

class KnobStateTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void idle_knobs_change_nothing_data();
  void idle_knobs_change_nothing();
  void reasons_data();
  void reasons();
  void head_size_of_latent_attention();
  void values_without_effect_are_noted_data();
  void values_without_effect_are_noted();
  void values_of_presets_are_not_noted();
  void impossible_choices_are_errors_data();
  void impossible_choices_are_errors();
};

namespace {

using Settings = std::vector<std::pair<const char*, const char*>>;

Design designed(const char* preset, const Settings& settings) {
  Design design;
  if (!apply_preset(design, preset)) qFatal("no preset %s", preset);
  design.workload.seq = 1024;
  for (const auto& [id, value] : settings)
    if (const auto problem = set_knob(design, *find_knob(id), value))
      qFatal("%s", to_string(*problem).c_str());
  return design;
}

void add_designs() {
  QTest::addColumn<QByteArray>("preset");
  QTest::addColumn<Settings>("settings");
  const auto row = [](const char* preset, Settings settings) {
    QByteArray name(preset);
    for (const auto& [id, value] : settings) name += QByteArray(" ") + id + "=" + value;
    QTest::newRow(name.constData()) << QByteArray(preset) << settings;
  };
  row("llama3-8b", {});
  row("llama3-8b", {{"dp", "4"}, {"tp", "2"}, {"pp", "2"}});
  row("llama3-8b", {{"cp", "4"}, {"context", "ulysses-ring"}, {"recompute", "full"}});
  row("llama3-8b", {{"dp", "4"}, {"sync", "fsdp1"}});
  row("llama3-8b", {{"dp", "4"}, {"sync", "zero-0"}});
  row("llama3-8b", {{"dp", "4"}, {"sync", "zero-2"}});
  row("llama3-8b", {{"dp", "4"}, {"sync", "zero-3"}, {"recompute", "selective"}});
  row("llama3-8b", {{"dp", "4"}, {"sync", "ddp-buckets"}, {"dtype", "fp32"}});
  row("gpt2", {{"dp", "2"}, {"tp", "2"}, {"sync", "distributed-optimizer"}, {"overlap_grad_reduce", "true"}});
  row("mistral-7b-v0.1", {{"tp", "2"}, {"sequence_parallel", "true"}});
  row("mixtral-8x7b", {});
  row("mixtral-8x7b", {{"dp", "4"}, {"ep", "4"}});
  row("deepseek-v2-lite", {{"dp", "4"}, {"ep", "4"}, {"pp", "2"}});
  row("mamba-130m", {{"dp", "2"}});
  row("mamba2-130m", {{"cp", "2"}});
  row("mamba2-hybrid-8b", {{"tp", "2"}});
  row("mixtral-8x7b", {{"dp", "4"}, {"ep", "2"}, {"sync", "fsdp2"}, {"dp_shard", "2"}});
}

// Every number that the window shows of a design.
QByteArray numbers(const Design& design) {
  const auto report = make_report(design);
  if (!report->valid()) return {};
  QByteArray out;
  const auto add = [&](Wide value) { out += QByteArray::fromStdString(grouped(value)) + ' '; };
  for (Wide value :
       {report->model_parameters.value, report->active_parameters.value, report->kv_cache_bytes.value})
    add(value);
  for (const StageReport& stage : report->stages) {
    out += "\nstage ";
    for (const Quantity& memory : stage.memory) add(memory.value);
    add(stage.flops_total);
    add(stage.useful_flops_total);
    for (const CollectiveValue& value : stage.collectives) {
      out += QByteArray::fromStdString(std::string(value.op.name()) + " " + value.group + " ");
      for (const Quantity& q : {value.count, value.bytes}) add(q.value);
    }
    for (const PartValue& part : stage.host_memory) add(part.bytes.value);
  }
  return out;
}

std::vector<std::string> other_values(const Knob& knob, const Design& design) {
  const std::string now = knob_text(design, knob);
  switch (knob.type) {
    case KnobType::Boolean: return {now == "true" ? "false" : "true"};
    case KnobType::Integer: return {now == "2" ? "4" : "2", "3"};
    case KnobType::Decimal: return {"1.5"};
    case KnobType::IntegerList:
    case KnobType::Text: return {};
    case KnobType::Choice:
    case KnobType::ChoiceList: break;
  }
  std::vector<std::string> out;
  for (const KnobChoice& choice : knob.choices)
    if (choice.value != now) out.push_back(choice.value);
  return out;
}

}  // namespace

void KnobStateTest::idle_knobs_change_nothing_data() { add_designs(); }

void KnobStateTest::idle_knobs_change_nothing() {
  QFETCH(QByteArray, preset);
  QFETCH(Settings, settings);
  const Design design = designed(preset.constData(), settings);
  const QByteArray before = numbers(design);
  QVERIFY2(!before.isEmpty(), validate(design).empty() ? "" : to_string(validate(design).front()).c_str());
  int idle = 0;
  for (const Knob& knob : knobs()) {
    if (!without_effect(design, knob)) continue;
    ++idle;
    for (const std::string& value : other_values(knob, design)) {
      Design changed = design;
      if (set_knob(changed, knob, value)) continue;
      if (const QByteArray after = numbers(changed); !after.isEmpty())
        QVERIFY2(after == before, (knob.id + " = " + value).c_str());
    }
  }
  QVERIFY(idle > 5);
}

void KnobStateTest::reasons_data() {
  QTest::addColumn<QByteArray>("preset");
  QTest::addColumn<Settings>("settings");
  QTest::addColumn<QByteArray>("knob");
  QTest::addColumn<QByteArray>("why");  // empty: it has an effect
  const auto row = [](const char* name, const char* preset, Settings settings, const char* knob,
                      const char* why) {
    QTest::newRow(name) << QByteArray(preset) << settings << QByteArray(knob) << QByteArray(why);
  };
  row("dispatch type without experts", "llama3-8b", {}, "dispatch_dtype",
      "the llama architecture has no experts");
  row("dispatch type without ep", "mixtral-8x7b", {{"dp", "4"}}, "dispatch_dtype",
      "without expert parallelism (ep = 1), no tokens are sent");
  row("dispatch type with ep", "mixtral-8x7b", {{"dp", "4"}, {"ep", "4"}}, "dispatch_dtype", "");
  row("overlapped shared experts", "deepseek-moe-16b", {{"dp", "4"}, {"ep", "4"}}, "shared_expert_overlap",
      "");
  row("overlapped shared experts without any", "mixtral-8x7b", {{"dp", "4"}, {"ep", "4"}},
      "shared_expert_overlap", "the mixtral architecture has no shared experts");
  row("overlapped shared experts, all-gather", "deepseek-moe-16b",
      {{"dp", "4"}, {"ep", "4"}, {"dispatcher", "allgather"}}, "shared_expert_overlap",
      "only the dispatchers alltoall and flex run shared experts concurrently");
  row("graphs of a router without experts", "llama3-8b", {{"cuda_graphs", "router"}}, "cuda_graphs",
      "the llama architecture has no experts");
  row("saved activations", "llama3-8b", {}, "activation_cache", "");
  row("saved activations, full recompute", "llama3-8b", {{"recompute", "full"}}, "activation_cache",
      "full recompute saves only the inputs of layers");
  row("reshard after backward, fsdp1", "llama3-8b", {{"dp", "4"}, {"sync", "fsdp1"}},
      "reshard_after_backward", "only fsdp2 and megatron-fsdp decide whether a backward reshards");
  row("reshard after backward, fsdp2", "llama3-8b", {{"dp", "4"}, {"sync", "fsdp2"}},
      "reshard_after_backward", "");
  row("head size, latent attention", "deepseek-v2-lite", {}, "head_dim",
      "latent attention has its own head sizes: non-rotary, rotary and value");
  row("plain head size, latent attention", "deepseek-v2-lite", {}, "nope_head_dim", "");
  row("head size, attention", "mixtral-8x7b", {}, "head_dim", "");
  row("head size, no attention", "mamba-130m", {}, "head_dim", "the mamba architecture has no attention");
}

void KnobStateTest::reasons() {
  QFETCH(QByteArray, preset);
  QFETCH(Settings, settings);
  QFETCH(QByteArray, knob);
  const auto why = without_effect(designed(preset.constData(), settings), *find_knob(knob.toStdString()));
  QTEST(QByteArray::fromStdString(why.value_or("")), "why");
}

// Presets of latent attention and older documents have a head size. Its value has no effect.
void KnobStateTest::head_size_of_latent_attention() {
  for (const char* compute : {"storage", "fp8-blockwise"}) {
    Design design = designed("deepseek-v3", {{"dp", "4"}, {"ep", "4"}, {"tp", "2"}, {"compute", compute}});
    const QByteArray before = numbers(design);
    const size_t problems = validate(design).size();
    QVERIFY2(!before.isEmpty(), validate(design).empty() ? "" : to_string(validate(design).front()).c_str());
    for (const int64_t size : {0, 1, 7, 100, 8192}) {
      design.model.head_dim = size;
      QCOMPARE(numbers(design), before);
      QCOMPARE(validate(design).size(), problems);
    }
  }
}

void KnobStateTest::values_without_effect_are_noted_data() { add_designs(); }

// Notes and disabled knobs have one source: a note about a value without effect is at a disabled knob and has
// the same text.
void KnobStateTest::values_without_effect_are_noted() {
  QFETCH(QByteArray, preset);
  QFETCH(Settings, settings);
  Design design = designed(preset.constData(), settings);
  for (const Knob& knob : knobs())
    if (without_effect(design, knob) && knob.type == KnobType::Boolean)
      set_knob(design, knob, knob_text(Design{}, knob) == "true" ? "false" : "true");
  for (const Problem& problem : validate(design)) {
    if (problem.code != ProblemCode::ValueWithoutEffect) continue;
    const auto why = without_effect(design, *find_knob(problem.where));
    QVERIFY2(why && *why + "; the value has no effect" == problem.what, problem.what.c_str());
    Design mended = design;
    for (const auto& [id, value] : problem.fixes.back().settings)
      QVERIFY(!set_knob(mended, *find_knob(id), value));
    for (const Problem& left : validate(mended)) QVERIFY2(left.where != problem.where, left.what.c_str());
  }
}

// A preset with weights in formats of its checkpoint trains without a note; the person's own formats get one.
void KnobStateTest::values_of_presets_are_not_noted() {
  const auto noted = [](const Design& design) {
    for (const Problem& problem : validate(design))
      if (problem.code == ProblemCode::ValueWithoutEffect && problem.where == "weight_formats") return true;
    return false;
  };
  int with_formats = 0;
  for (const Preset& preset : ModelLibrary::instance().presets()) {
    Design design = test::preset_design(preset.id.c_str(), 1, 1, 1);
    with_formats += !design.model.weight_formats.empty();
    QVERIFY2(!noted(design), preset.id.c_str());
  }
  QVERIFY(with_formats > 0);
  Design own = test::preset_design("llama3-8b", 1, 1, 1);
  QVERIFY(!set_knob(own, *find_knob("weight_formats"), "down=mxfp4"));
  QVERIFY(noted(own));
  own.model.preset.clear();  // as an imported model, whose checkpoint states the formats
  QVERIFY(find_knob("weight_formats")->of_checkpoint && !find_knob("window")->of_checkpoint);
  QVERIFY(!noted(own));
}

void KnobStateTest::impossible_choices_are_errors_data() { add_designs(); }

void KnobStateTest::impossible_choices_are_errors() {
  QFETCH(QByteArray, preset);
  QFETCH(Settings, settings);
  const Design design = designed(preset.constData(), settings);
  int tried = 0, impossible = 0;
  for (const Knob& knob : knobs()) {
    if (knob.type != KnobType::Choice) continue;
    for (const KnobChoice& choice : knob.choices) {
      ++tried;
      Design changed = design;
      QVERIFY(!set_knob(changed, knob, choice.value));
      const auto why = impossible_choice(design, knob, choice.value);
      impossible += why.has_value();
      QCOMPARE(why.has_value(), has_errors(validate(changed)));
    }
  }
  QVERIFY(impossible < tried);
  if (design.parallel.pp > 1) QVERIFY(impossible > 0);
}

QTEST_APPLESS_MAIN(KnobStateTest)
#include "knob_state_test.moc"
