// Requests to the engines of a design, and the table of settings.
#include <QtTest>
#include <cmath>
#include <map>
#include <set>

#include "report/service_report.h"
#include "serving/service/service.h"
#include "support/designs.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

Design design_on(const char* preset, int64_t tp, int64_t dp) {
  Design design = preset_design(preset, tp, 1, dp);
  design.cluster.accelerator = "h200-sxm-141gb";
  return design;
}

std::shared_ptr<const ServiceRun> run_of(const Design& design, const ServiceSpec& spec) {
  const auto made = run_service(design, spec);
  if (const auto* problem = std::get_if<Problem>(&made)) qFatal("%s", to_string(*problem).c_str());
  return std::get<0>(made);
}

}  // namespace

class ServiceTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // Every setting reads what it writes, refuses what it does not accept, and then stays as it was.
  void settings_read_what_they_write() {
    std::set<std::string> ids;
    for (const ServiceSetting& setting : service_settings()) {
      QVERIFY2(ids.insert(setting.id).second, setting.id);
      QVERIFY(*setting.label && *setting.help);
      QCOMPARE(find_setting(setting.id), &setting);
      ServiceSpec spec;
      const std::string text = setting.text(spec);
      QVERIFY2(!set_setting(spec, setting, text), setting.id);
      QCOMPARE(setting.text(spec), text);
      for (const char* choice : setting.choices) {
        QVERIFY(!set_setting(spec, setting, choice));
        QCOMPARE(setting.text(spec), std::string(choice));
      }
      if (setting.kind == SettingKind::File) continue;
      const std::string before = setting.text(spec);
      const auto problem = set_setting(spec, setting, "what?");
      QVERIFY2(problem && problem->where == setting.id && !problem->accepted.empty(), setting.id);
      QCOMPARE(setting.text(spec), before);
    }
  }
  // The host's work for a sequence counts in full unless the next step is scheduled while one runs.
  void scheduling_ahead_hides_the_host() {
    const Design design = design_on("llama3-8b", 1, 1);
    ServiceSpec spec;
    QCOMPARE(service_profile(design, spec).sequence_seconds, 15e-6);
    spec.engine.async_scheduling = false;
    QCOMPARE(service_profile(design, spec).sequence_seconds, 57e-6);
    spec.source.arrivals = ArrivalKind::AllAtOnce;
    spec.source.requests = 64;
    const double sync = run_of(design, spec)->results.output_per_second;
    spec.engine.async_scheduling = true;
    QVERIFY(run_of(design, spec)->results.output_per_second > 1.05 * sync);
    spec.engine.engine = EngineKind::Sglang;  // without data of its own
    spec.engine.sglang.disable_overlap_schedule = true;
    QCOMPARE(service_profile(design, spec).sequence_seconds, 20e-6);
  }
  void values_out_of_range_are_problems() {
    const std::pair<const char*, const char*> rows[] = {
        {"rate", "0"},        {"requests", "0"},   {"range_ratio", "2"}, {"gpu_memory_utilization", "1.5"},
        {"input_len", "0"},   {"users", "-1"},     {"replicas", "-1"},   {"burstiness", "0"},
        {"seed", "-1"},       {"block_size", "0"}, {"turns", "0"},       {"think_time", "-1"},
        {"rate_period", "-1"}};
    for (const auto& [id, text] : {std::pair{"num_speculative_tokens", "0"},
                                   {"acceptance_per_position", "0.4,0.5"},
                                   {"acceptance_per_position", "1.5"}}) {
      ServiceSpec spec;
      QVERIFY(!set_setting(spec, *find_setting("speculative_method"), "eagle"));
      QVERIFY(!set_setting(spec, *find_setting("num_speculative_tokens"), "2"));
      QVERIFY2(!set_setting(spec, *find_setting(id), text), id);
      const auto problem = check_spec(spec);
      QVERIFY2(problem && problem->where == id, id);
    }
    for (const auto& [id, text] : rows) {
      ServiceSpec spec;
      QVERIFY2(!set_setting(spec, *find_setting(id), text), id);
      const auto problem = check_spec(spec);
      QVERIFY2(problem && problem->where == id, id);
    }
    QVERIFY(!check_spec(ServiceSpec{}));
  }
  // One request on an idle engine: the prompt, then one step per further token.
  void one_request_takes_its_steps() {
    ServiceSpec spec;
    spec.source.requests = 1;
    spec.source.input_len = 1000;
    spec.source.output_len = 11;
    const auto run = run_of(design_on("llama3-8b", 1, 1), spec);
    QCOMPARE(run->results.finished, int64_t{1});
    QCOMPARE(run->simulation.step_count, int64_t{11});
    QVERIFY(run->results.ttft.mean > run->results.tpot.mean);
    double sum = 0;
    for (const StepRecord& step : run->simulation.steps) sum += step.seconds;
    QVERIFY(std::abs(sum / run->results.e2e.mean - 1) < 1e-9);
  }
  // Preemptions, drafts and two replicas included.
  void figures_need_no_steps() {
    ServiceSpec spec;
    spec.source.requests = 60;
    spec.source.rate = 100;
    spec.engine.num_gpu_blocks = 200;
    spec.engine.speculation.method = SpeculativeMethod::Ngram;
    const Design design = design_on("llama3-8b", 1, 2);
    const auto kept = run_of(design, spec);
    const auto counted = std::get<0>(run_service(design, spec, {}, {}, RunSteps::Counted));
    QVERIFY(!kept->simulation.steps.empty() && !kept->simulation.preemptions.empty());
    QVERIFY(counted->simulation.steps.empty() && counted->simulation.chunks.empty());
    QVERIFY(counted->simulation.preemptions.empty());
    QCOMPARE(service_json(*counted), service_json(*kept));
    QCOMPARE(service_text(*counted), service_text(*kept));
  }
  // The cache is what the memory leaves, unless the blocks are given.
  void blocks_follow_from_memory() {
    ServiceSpec spec;
    spec.source.requests = 4;
    const auto run = run_of(design_on("llama3-8b", 1, 1), spec);
    QCOMPARE(run->spec.engine.num_gpu_blocks, run->cache.blocks);
    QVERIFY(run->cache.blocks > 1000);
    spec.engine.num_gpu_blocks = 500;
    const auto given = run_of(design_on("llama3-8b", 1, 1), spec);
    QCOMPARE(given->spec.engine.num_gpu_blocks, int64_t{500});
    QCOMPARE(given->cache.cache, int64_t{0});
  }
  // Each running request of SGLang needs five places for states with overlap, four without.
  void states_limit_running_requests() {
    ServiceSpec spec;
    spec.source.requests = 2;
    spec.engine.engine = EngineKind::Sglang;
    const Design design = design_on("qwen3-next-80b-a3b", 4, 1);
    for (const int64_t places : {5, 4}) {
      const auto run = run_of(design, spec);
      const SglangSettings& of = run->spec.engine.sglang;
      QVERIFY(of.max_mamba_cache_size > 100);
      QCOMPARE(of.max_running_requests, of.max_mamba_cache_size / places);
      spec.engine.sglang.disable_overlap_schedule = true;
    }
    spec.engine.sglang.max_mamba_cache_size = 10;
    const auto made = run_service(design_on("llama3-8b", 1, 1), spec);
    const auto* problem = std::get_if<Problem>(&made);
    QVERIFY(problem);
    QCOMPARE(problem->where, std::string("max_mamba_cache_size"));
  }
  void data_parallel_replicas_are_engines() {
    ServiceSpec spec;
    spec.source.requests = 40;
    spec.source.rate = 20;
    const auto run = run_of(design_on("llama3-8b", 2, 4), spec);
    QCOMPARE(run->spec.replicas, int64_t{4});
    QCOMPARE(run->accelerators, int64_t{8});
    QCOMPARE(run->design.parallel.dp, int64_t{1});
    std::set<int32_t> replicas;
    for (const RequestRecord& request : run->simulation.requests) replicas.insert(request.replica);
    QCOMPARE(replicas.size(), size_t{4});
    QVERIFY(run->cost.dollars && *run->cost.dollars > 0);
  }
  // Replicas that share experts keep the design of all: their steps exchange tokens.
  void shared_experts_keep_the_design() {
    Design design = design_on("qwen3-30b-a3b", 1, 4);
    design.parallel.ep = 4;
    ServiceSpec spec;
    spec.source.requests = 8;
    spec.source.rate = 100;
    const auto run = run_of(design, spec);
    QCOMPARE(run->design.parallel.dp, int64_t{4});
    QCOMPARE(run->spec.replicas, int64_t{4});
    QCOMPARE(run->accelerators, int64_t{4});
    // Steps that begin together end together.
    std::map<double, double> ends;
    for (const StepRecord& step : run->simulation.steps) {
      const double end = step.begin + step.seconds;
      QCOMPARE(ends.try_emplace(step.begin, end).first->second, end);
    }
    QVERIFY(ends.size() < run->simulation.steps.size());
    spec.replicas = 6;
    QVERIFY(std::holds_alternative<Problem>(run_service(design, spec)));
  }
  // The settings of SGLang and TensorRT-LLM, each with its own way to divide the memory.
  void engines_have_their_settings() {
    ServiceSpec spec;
    spec.source.requests = 20;
    spec.source.rate = 10;
    const Design design = design_on("llama3-8b", 1, 1);
    for (const char* engine : {"sglang", "trtllm"}) {
      QVERIFY(!set_setting(spec, *find_setting("engine"), engine));
      const auto run = run_of(design, spec);
      QCOMPARE(run->results.finished, int64_t{20});
      const int64_t tokens = cache_blocks(run->spec.engine) * cache_block_size(run->spec.engine);
      QVERIFY2(tokens > 500'000 && tokens < 1'000'000, engine);
      ServiceSpec less = spec;
      QVERIFY(!set_setting(less, memory_setting(spec.engine.engine), "0.5"));
      QVERIFY(cache_blocks(run_of(design, less)->spec.engine) < cache_blocks(run->spec.engine));
    }
    for (const ServiceSetting& setting : service_settings()) {
      const auto problem = check_engine(spec, setting);
      QCOMPARE(problem.has_value(), setting.engine && *setting.engine != EngineKind::Trtllm);
      if (problem) QCOMPARE(problem->code, ProblemCode::EngineSettingInvalid);
    }
    spec.free_gpu_memory_fraction = 0;
    QCOMPARE(check_spec(spec)->where, std::string("free_gpu_memory_fraction"));
    spec.engine.engine = EngineKind::Sglang;  // for which that share has no effect
    QVERIFY(!check_spec(spec));
  }
  // A list of rates is read as it is written. Steps with a draft take longer and yield more tokens; the seed
  // draws which.
  void drafts_make_answers_faster() {
    ServiceSpec spec;
    spec.source.users = 4;
    spec.source.requests = 8;
    spec.source.output_len = 200;
    const Design design = design_on("llama3-70b", 4, 1);
    const auto plain = run_of(design, spec);
    QCOMPARE(plain->results.acceptance_length, 0.0);
    QVERIFY(!set_setting(spec, *find_setting("speculative_method"), "eagle"));
    QVERIFY(!set_setting(spec, *find_setting("num_speculative_tokens"), "3"));
    const ServiceSetting& rates = *find_setting("acceptance_per_position");
    QVERIFY(!set_setting(spec, rates, "0.8,0.6,0.4"));
    QCOMPARE(rates.text(spec), std::string("0.8,0.6,0.4"));
    for (const char* wrong : {"", "0.8,", ",", "0.8;0.6", "a"})
      QVERIFY2(set_setting(spec, rates, wrong), wrong);
    for (const char* engine : kEngineIds) {
      QVERIFY(!set_setting(spec, *find_setting("engine"), engine));
      const auto run = run_of(design, spec);
      QVERIFY2(std::abs(run->results.acceptance_length / 2.8 - 1) < 0.1, engine);
      QCOMPARE(run->results.acceptance_per_position.size(), size_t{3});
      QVERIFY2(run->results.tpot.mean < 0.7 * plain->results.tpot.mean, engine);
      QVERIFY2(run->results.itl.mean > plain->results.itl.mean, engine);
      ServiceSpec other = spec;
      other.source.seed = 1;
      QVERIFY(run_of(design, other)->results.tpot.mean != run->results.tpot.mean);
      QCOMPARE(run_of(design, spec)->results.tpot.mean, run->results.tpot.mean);
    }
  }
  // Four stages have four steps in flight. With as many users as sequences fill a step of each stage, tokens
  // come faster than the seconds of a step allow for one step after the other.
  void stages_of_a_pipeline_work_at_once() {
    Design design = preset_design("llama3-70b", 1, 4, 1);
    design.cluster.accelerator = "h200-sxm-141gb";
    ServiceSpec spec;
    spec.source.users = 8;
    spec.source.requests = 16;
    spec.source.input_len = 2048;
    spec.source.output_len = 20;
    const auto run = run_of(design, spec);
    QCOMPARE(run->spec.engine.pipeline_stages, 4);
    double seconds = 0, end = 0;
    for (const StepRecord& step : run->simulation.steps) {
      seconds += step.seconds;
      end = std::max(end, step.begin + step.seconds);
    }
    QVERIFY2(seconds > 1.5 * end, qPrintable(QString("%1 %2").arg(seconds).arg(end)));
    QVERIFY(run->simulation.busy_seconds < end * (1 + 1e-9));
  }
  // Four turns per session, twice the rate in the second half of every 20 s.
  void drawn_requests_have_patterns() {
    RequestSource source;
    source.requests = 4000;
    source.rate = 8;
    source.turns = 4;
    source.think_time = 3;
    source.rate_profile = {10, 1, 10, 2};
    source.rate_period = 20;
    const auto made = make_workload(source);
    const Workload& w = std::get<Workload>(made);
    int counts[2] = {};
    for (size_t i = 0; i < w.requests.size(); i += 4) {
      QCOMPARE(w.requests[i].parent, -1);
      QVERIFY(w.requests[i + 3].prompt > 3 * w.requests[i].prompt);
      ++counts[std::fmod(w.requests[i].arrival, 20) >= 10];
    }
    // 1,000 sessions at 2 and 4 per second.
    QVERIFY2(std::abs(counts[1] - 667) < 60, qPrintable(QString::number(counts[1])));
    QVERIFY(std::abs(w.requests[3996].arrival - 333) < 40);
    source.rate_profile = {1};
    QCOMPARE(std::get<Problem>(make_workload(source)).where, std::string("rate_profile"));
  }
  // A closed loop of users has at most so many requests in the system.
  void users_bound_the_requests() {
    ServiceSpec spec;
    spec.source.users = 3;
    spec.source.requests = 30;
    const auto run = run_of(design_on("llama3-8b", 1, 1), spec);
    for (const StepRecord& step : run->simulation.steps) QVERIFY(step.decode_sequences <= 3);
    QVERIFY(run->simulation.in_system / run->simulation.seconds <= 3 + 1e-9);
    QCOMPARE(run->results.finished, int64_t{30});
  }
};

QTEST_APPLESS_MAIN(ServiceTest)
#include "service_test.moc"
