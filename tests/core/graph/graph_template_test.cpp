// Graphs from templates and kernel profiles of a person's own folder: what they make, and where mistakes are.
#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include "base/data_dir.h"
#include "graph/build.h"
#include "memory/estimate.h"
#include "support/designs.h"
#include "support/op_counts.h"
#include "timing/simulation.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

void write(const QString& path, const QByteArray& text) {
  QDir().mkpath(QFileInfo(path).path());
  QFile file(path);
  QVERIFY(file.open(QIODevice::WriteOnly));
  file.write(text);
}

}  // namespace

class GraphTemplateTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // One norm, both branches added before one residual: nothing in the code knows this architecture.
  void parallelBlockFromJsonAlone() {
    QTemporaryDir dir;
    write(dir.filePath("architectures/parallel.json"), R"json({
      "architecture": "parallel",
      "embedding": ["x = token_embedding()"],
      "layers": {"layer": ["n = rms_norm(x)", "a = self_attention(n; rope)", "f = gated_mlp(n)",
        "s = residual(a, f)", "y = residual(x, s)"]},
      "pattern": ["layer"],
      "head": ["n = rms_norm(x)", "logits = lm_head(n)", "loss = cross_entropy(logits)"]
    })json");
    const ModelLibrary library = ModelLibrary::load(
        {(data_dir() / "models").string(), dir.path().toStdString()});
    QVERIFY(library.problems().empty());
    Design d = tiny_design("parallel");
    d.parallel.tp = 2;
    const auto graph = std::get<0>(build_graph(structure_of(d), library));
    const Segment& s = graph->segments[1];
    QCOMPARE(count_ops(s, OpKind::AllReduce, Phase::Forward), 1);
    QCOMPARE(count_ops(s, OpKind::AllReduce, Phase::Backward), 1);
    for (OpKind kind : {OpKind::AllGather, OpKind::ReduceScatter, OpKind::AllToAll})
      QCOMPARE(count_ops(s, kind, Phase::Forward) + count_ops(s, kind, Phase::Backward), 0);
  }

  void argumentsOfOps_data() {
    QTest::addColumn<QByteArray>("line");
    QTest::addColumn<ProblemCode>("code");
    QTest::newRow("one operand") << QByteArray("o = attention[bshe,btge,btge->bshe; causal](q)")
                                 << ProblemCode::OpArguments;
    QTest::newRow("no operand") << QByteArray("o = attention[bshe,btge,btge->bshe; causal]()")
                                << ProblemCode::OpArguments;
    QTest::newRow("two operands") << QByteArray("o = attention[bshe,btge->bshe; causal](q, k)")
                                  << ProblemCode::OpArguments;
    QTest::newRow("no letters") << QByteArray("o = attention(q, k, v)") << ProblemCode::OpLetters;
  }
  void argumentsOfOps() {
    QFETCH(QByteArray, line);
    QFETCH(ProblemCode, code);
    QTemporaryDir dir;
    write(dir.filePath("blocks/faulty.json"), R"json({
      "block": "faulty", "label": "Faulty", "inputs": {"x": ["batch", "seq", "hidden"]},
      "parameters": {"wq": ["hidden", "heads", "head_dim"], "wk": ["hidden", "kv_heads", "head_dim"],
        "wo": ["heads", "head_dim", "hidden"]},
      "ops": ["q = einsum[bsd,dhe->bshe](x, wq)", "k = einsum[bsd,dge->bsge](x, wk)",
        "v = einsum[bsd,dge->bsge](x, wk)",
        ")json" + line + R"json(",
        "y = einsum[bshe,hed->bsd](q, wo)"],
      "output": "y"
    })json");
    write(dir.filePath("architectures/faulty.json"), R"json({
      "architecture": "faulty", "embedding": ["x = token_embedding()"],
      "layers": {"layer": ["a = faulty(x)", "y = residual(x, a)"]}, "pattern": ["layer"],
      "head": ["n = rms_norm(x)", "logits = lm_head(n)", "loss = cross_entropy(logits)"]
    })json");
    const ModelLibrary library = ModelLibrary::load(
        {(data_dir() / "models").string(), dir.path().toStdString()});
    for (const Problem& problem : library.problems()) qInfo("%s", to_string(problem).c_str());
    QVERIFY(library.problems().empty());
    const auto graph = build_graph(structure_of(tiny_design("faulty")), library);
    const auto* problem = std::get_if<Problem>(&graph);
    QVERIFY(problem);
    QVERIFY2(problem->code == code, to_string(*problem).c_str());
    QVERIFY2(problem->where.find("blocks/faulty.json:7") != std::string::npos, problem->where.c_str());
  }

  // A layer that drops its path, a head that reads another result: gradients are zero, and no reduction reads
  // a tensor that is not there.
  void parametersWithoutGradient_data() {
    QTest::addColumn<QByteArray>("layer");
    QTest::addColumn<QByteArray>("head");
    const QByteArray norm = R"json("n = rms_norm(x)")json",
                     attention = norm + R"json(, "a = self_attention(n; rope)", )json",
                     logits = R"json(, "logits = lm_head(n)")json",
                     loss = R"json(, "loss = cross_entropy(logits)")json",
                     whole = attention + R"json("y = residual(x, a)")json";
    QTest::newRow("dropped attention")
        << attention + R"json("y = residual(x, x)")json" << norm + logits + loss;
    QTest::newRow("dropped MLP") << attention + R"json("f = gated_mlp(x)", "y = residual(a, a)")json"
                                 << norm + logits + loss;
    QTest::newRow("no loss") << whole << norm + logits;
    QTest::newRow("unread norm") << whole << norm + R"json(, "logits = lm_head(x)")json" + loss;
    QTest::newRow("no head") << whole << norm;
  }
  void parametersWithoutGradient() {
    QFETCH(QByteArray, layer);
    QFETCH(QByteArray, head);
    QTemporaryDir dir;
    write(dir.filePath("architectures/dropping.json"),
          R"json({"architecture": "dropping", "embedding": ["x = token_embedding()"],
                  "layers": {"layer": [)json" +
              layer + R"json(]}, "pattern": ["layer"], "head": [)json" + head + "]}");
    const ModelLibrary library = ModelLibrary::load(
        {(data_dir() / "models").string(), dir.path().toStdString()});
    QVERIFY(library.problems().empty());
    const ModelLibrary::Scope scope(library);
    for (const SyncStrategy sync : {SyncStrategy::DdpFlat, SyncStrategy::DistributedOptimizer,
                                    SyncStrategy::Zero2, SyncStrategy::Zero3, SyncStrategy::Fsdp2}) {
      Design d = tiny_design("dropping");
      d.parallel.dp = 2;
      d.parallel.sync = sync;
      d.workload.batch = 2 * d.workload.microbatch;
      const auto report = estimate(d);
      QVERIFY2(report->valid(), report->valid() ? "" : to_string(report->problems.front()).c_str());
      for (const Segment& segment : report->graph().segments)
        for (const Param& param : segment.params) {
          QVERIFY(param.gradient >= 0 && param.gradient < static_cast<int>(segment.tensors.size()));
          QCOMPARE(segment.tensor(param.gradient).gradient_of, param.tensor);
        }
      QVERIFY(std::isfinite(simulate(*report)->step_seconds));
    }
  }

  // "concurrent" names results of lines. The backward of their blocks comes as soon as its operands exist.
  void concurrentBlocks() {
    const auto load = [](const QByteArray& concurrent) {
      QTemporaryDir dir;
      write(dir.filePath("architectures/branches.json"), R"json({
        "architecture": "branches", "embedding": ["x = token_embedding()"],
        "layers": {"layer": ["n = rms_norm(x)", "f = gated_mlp(n)", "a = self_attention(n; rope)",
          "s = residual(a, f)", "y = residual(x, s)"]},
        "pattern": ["layer"], "concurrent": [)json" + concurrent +
                                                             R"json(],
        "head": ["n = rms_norm(x)", "logits = lm_head(n)", "loss = cross_entropy(logits)"]
      })json");
      return ModelLibrary::load({(data_dir() / "models").string(), dir.path().toStdString()});
    };
    const auto begins = [&](const QByteArray& concurrent, const char* block) {
      const ModelLibrary library = load(concurrent);
      const auto graph = std::get<0>(build_graph(structure_of(tiny_design("branches")), library));
      const Segment& s = graph->segments[1];
      OpId id = s.backward_begin;
      while (id < static_cast<OpId>(s.ops.size()) && !s.op(id).name.starts_with(block)) ++id;
      return id;
    };
    QVERIFY(begins("", "f.") > begins("", "a."));
    QVERIFY(begins("\"f\"", "f.") < begins("\"f\"", "a."));
    const ModelLibrary wrong = load("\"moe\"");
    QCOMPARE(wrong.problems().size(), size_t{1});
    const Problem& problem = wrong.problems().front();
    QCOMPARE(problem.code, ProblemCode::DataValue);
    QVERIFY2(problem.what.find("not the result of any line") != std::string::npos, problem.what.c_str());
    QVERIFY2(problem.accepted.find(" f") != std::string::npos, problem.accepted.c_str());
  }

  void mistakesInTemplatesAreLocated_data() {
    QTest::addColumn<QByteArray>("line");
    QTest::addColumn<ProblemCode>("code");
    QTest::addColumn<QString>("what");
    QTest::newRow("no such name") << QByteArray("y = einsum[bsd,df->bsf](nothing, w)")
                                  << ProblemCode::UnknownResult << "\"nothing\" is not defined";
    QTest::newRow("no such op") << QByteArray("y = convolve[bsd,df->bsf](x, w)") << ProblemCode::UnknownOp
                                << "neither an op nor a block";
    QTest::newRow("letters") << QByteArray("y = einsum[bs,df->bsf](x, w)") << ProblemCode::OpLetters
                             << "one letter per dimension";
    QTest::newRow("two meanings") << QByteArray("y = einsum[bsd,sf->bdf](x, w)") << ProblemCode::OpLetters
                                  << "means both";
    QTest::newRow("arguments") << QByteArray("y = einsum[bsd->bsd](x)") << ProblemCode::OpArguments
                               << "2 arguments";
    QTest::newRow("no arrow") << QByteArray("y = einsum[bsd,df](x, w)") << ProblemCode::OpLetters
                              << "cannot be read";
    QTest::newRow("bracket") << QByteArray("y = einsum[bsd,df->bsf(x, w)") << ProblemCode::OpLineSyntax
                             << "']'";
    QTest::newRow("result") << QByteArray("= einsum[bsd,df->bsf](x, w)") << ProblemCode::OpLineSyntax
                            << "a name for the result";
    QTest::newRow("words of attention") << QByteArray("y = einsum[bsd,df->bsf; causal](x, w)")
                                        << ProblemCode::OpLetters << "belong to attention";
    QTest::newRow("unknown word") << QByteArray("y = einsum[bsd,df->bsf; sparse](x, w)")
                                  << ProblemCode::OpLetters << "cannot be read";
    QTest::newRow("window alone") << QByteArray("y = attention[bsd,bsd,bsd->bsd; window](x, x, x)")
                                  << ProblemCode::OpLetters << "needs a causal mask";
    QTest::newRow("window of an indexer")
        << QByteArray("y = index_top_k[bsd,bsd->bsdp; causal, window](x, x)") << ProblemCode::OpLetters
        << "index_top_k cannot use";
    QTest::newRow("indexer with keys of heads") << QByteArray("y = index_top_k[bsd,bsd->bsdp; causal](x, x)")
                                                << ProblemCode::OpLetters << "index_top_k cannot use";
    QTest::newRow("blocks without picks")
        << QByteArray("y = attention[bsd,bsd,bsd->bsd; causal, block](x, x, x)") << ProblemCode::OpLetters
        << "with keys from index_top_k";
    QTest::newRow("chunk alone") << QByteArray("y = attention[bsd,bsd,bsd->bsd; chunk](x, x, x)")
                                 << ProblemCode::OpLetters << "a chunk needs a causal mask";
    QTest::newRow("window and chunk")
        << QByteArray("y = attention[bsd,bsd,bsd->bsd; causal, window, chunk](x, x, x)")
        << ProblemCode::OpLetters << "a window and chunks";
    QTest::newRow("two words of a gate") << QByteArray("y = swiglu[bsd,bsd->bsd; clamp, situ](x, x)")
                                         << ProblemCode::OpLetters << "several words";
    QTest::newRow("scale of fewer letters")
        << QByteArray("y = scale[bsd->bs](x)") << ProblemCode::OpLetters << "missing from the result";
    QTest::newRow("sinks of other letters")
        << QByteArray("y = attention[bshe,bthe,bthe,e->bshe; causal](x, x, x, w)") << ProblemCode::OpLetters
        << "attention cannot use";
    QTest::newRow("operands of attention")
        << QByteArray("y = attention[bshe,bthe,bthe,bsp,h,h,h->bshe](x, x, x, x, w, w, w)")
        << ProblemCode::OpArguments << "7 arguments";
    QTest::newRow("too many operands") << QByteArray("y = layer_norm[bsd,bsd,bsd,bsd->bsd](x, x, x, x)")
                                       << ProblemCode::OpArguments << "4 arguments";
    QTest::newRow("part of no axis") << QByteArray("y = take[bsd->bsd](x)") << ProblemCode::OpLetters
                                     << "cannot use";
    QTest::newRow("part of fewer letters")
        << QByteArray("y = take[bsd->bs; ffn](x)") << ProblemCode::OpLetters << "letters of the result";
    QTest::newRow("axis of an einsum")
        << QByteArray("y = einsum[bsd,df->bsk; ssm_state](x, w)") << ProblemCode::OpLetters << "cannot use";
    QTest::newRow("part of a whole") << QByteArray("y = take[bsd->bsf; ffn](x)")
                                     << ProblemCode::PartsIncomplete << "the parts of \"x\" leave";
    QTest::newRow("not a sum") << QByteArray("y = swiglu[bsd,bsd->bs](x, x)") << ProblemCode::OpLetters
                               << "missing from the result";
  }
  void mistakesInTemplatesAreLocated() {
    QFETCH(QByteArray, line);
    QFETCH(ProblemCode, code);
    QFETCH(QString, what);
    QTemporaryDir dir;
    write(dir.filePath("blocks/gated_mlp.json"),
          "{\n\"block\": \"gated_mlp\",\n\"inputs\": {\"x\": [\"batch\", \"seq\", "
          "\"hidden\"]},\n\"parameters\": {\"w\": [\"hidden\", \"ffn\"]},\n\"ops\": [\n\"" +
              line + "\"\n],\n\"output\": \"y\"\n}");
    const ModelLibrary library = ModelLibrary::load(
        {(data_dir() / "models").string(), dir.path().toStdString()});
    const Problem problem = library.problems().empty()
                                ? std::get<Problem>(build_graph(structure_of(tiny_design()), library))
                                : library.problems().front();
    QVERIFY2(problem.code == code, to_string(problem).c_str());
    QVERIFY2(problem.where.starts_with("blocks/gated_mlp.json:6:"), problem.where.c_str());
    QVERIFY2(QString::fromStdString(to_string(problem)).contains(what), to_string(problem).c_str());
  }

  // Words that earlier files have are read, too.
  void gathered_inputs_data() {
    QTest::addColumn<bool>("saved");
    for (const char* word : {"saved", "kept"}) QTest::newRow(word) << true;
    for (const char* word : {"regathered", "again"}) QTest::newRow(word) << false;
  }
  void gathered_inputs() {
    QFETCH(bool, saved);
    QTemporaryDir dir;
    const auto profile = [&](const char* id, const char* base, const char* word) {
      write(dir.filePath(QString("profiles/%1.json").arg(id)),
            QString("{\"profile\": \"%1\", \"extends\": \"%2\", \"gathered_inputs\": \"%3\"}")
                .arg(id, base, word)
                .toUtf8());
    };
    profile("base", "flash", saved ? "regathered" : "saved");
    profile("a", "base", QTest::currentDataTag());
    const ModelLibrary library = ModelLibrary::load(
        {(data_dir() / "models").string(), dir.path().toStdString()});
    QVERIFY(library.problems().empty());
    QCOMPARE(library.profile("a")->saves_gathered, saved);
    QCOMPARE(library.profile("base")->saves_gathered, !saved);
  }

  // Only what differs is written down; the rest comes from the base, and from its base.
  void profilesExtendEachOther() {
    QTemporaryDir dir;
    write(dir.filePath("profiles/a.json"),
          R"({"profile": "a", "extends": "b", "ops": {"gelu": {"flops": 3}}})");
    write(dir.filePath("profiles/b.json"),
          R"({"profile": "b", "label": "B", "source": "s", "extends": "flash", "packed": [],
          "reduce": "per_consumer", "gathered_inputs": "saved", "gradient_sums": "at_once", "slowdown": 1.5,
          "ops": {"gelu": {"flops": 2}, "add": {"flops": 7}}})");
    const ModelLibrary library = ModelLibrary::load(
        {(data_dir() / "models").string(), dir.path().toStdString()});
    QVERIFY(library.problems().empty());
    const KernelProfile *a = library.profile("a"), *flash = library.profile("flash");
    QVERIFY(a && flash && !flash->packed.empty());
    QCOMPARE(a->rule("gelu")->flops, int64_t(3));
    QCOMPARE(a->rule("add")->flops, int64_t(7));
    QVERIFY(a->rule("attention")->saves_inputs == flash->rule("attention")->saves_inputs);
    QCOMPARE(a->rules.size(), flash->rules.size());
    QVERIFY(a->packed.empty() && a->reduce_per_consumer && !flash->reduce_per_consumer);
    QVERIFY(a->saves_gathered && a->adds_gradients_at_once && !flash->saves_gathered &&
            !flash->adds_gradients_at_once);
    QCOMPARE(a->slowdown, 1.5);
    QCOMPARE(flash->slowdown, 1.0);
    QCOMPARE(a->label, std::string("a"));  // what it is and where from is its own
    QVERIFY(a->source.empty());
  }

  void mistakesInProfilesAreLocated_data() {
    QTest::addColumn<QByteArray>("first");
    QTest::addColumn<QByteArray>("second");
    QTest::addColumn<QStringList>("problems");
    QTest::newRow("unknown base")
        << QByteArray("{\"profile\": \"a\",\n\"extends\": \"fast\"}") << QByteArray()
        << QStringList{"profiles/a.json:2: \"a\" extends \"fast\", which is not a profile; accepted: one of"};
    QTest::newRow("base left out") << QByteArray("{\"profile\": \"a\",\n\"extends\": \"b\"}")
                                   << QByteArray("{\"profile\": \"b\",\n\n\"extends\": \"fast\"}")
                                   << QStringList{
                                          "profiles/b.json:3: \"b\" extends \"fast\"",
                                          "profiles/a.json:2: \"a\" extends \"b\", which is not a profile"};
    QTest::newRow("itself") << QByteArray("{\"profile\": \"a\",\n\"extends\": \"a\"}") << QByteArray()
                            << QStringList{"profiles/a.json:2: \"a\" extends itself: a -> a"};
    QTest::newRow("cycle") << QByteArray("{\"profile\": \"a\",\n\"extends\": \"b\"}")
                           << QByteArray("{\"profile\": \"b\",\n\"extends\": \"a\"}")
                           << QStringList{"profiles/b.json:2: \"b\" extends itself: b -> a -> b",
                                          "profiles/a.json:2: \"a\" extends \"b\", which is not a profile"};
    // The built-in profile of that name stands in.
    QTest::newRow("cycle through a built-in one")
        << QByteArray("{\"profile\": \"flash\",\n\"extends\": \"megatron-2022\"}") << QByteArray()
        << QStringList{"profiles/a.json:2: \"flash\" extends itself: flash -> megatron-2022 -> flash"};
    QTest::newRow("no text") << QByteArray("{\"profile\": \"a\",\n\"extends\": 3}") << QByteArray()
                             << QStringList{"profiles/a.json:2:12: \"extends\" is missing or not a string"};
    for (const char* factor : {"0.9", "11", "\"2\""})
      QTest::newRow(factor) << QByteArray("{\"profile\": \"a\", \"extends\": \"flash\",\n\"slowdown\": ") +
                                   factor + "}"
                            << QByteArray()
                            << QStringList{QString("profiles/a.json:2: \"slowdown\" is ") + factor +
                                           "; accepted: a number from 1 to 10"};
    QTest::newRow("launches")
        << QByteArray("{\"profile\": \"a\", \"extends\": \"flash\",\n\"launches\": {\"rope\": [1, -2]}}")
        << QByteArray()
        << QStringList{
               "profiles/a.json:2: \"launches\" of rope is [1,-2]; accepted: two numbers of kernels from "
               "0 to 1,000: forward, backward"};
    QTest::newRow("launches of no kind")
        << QByteArray("{\"profile\": \"a\", \"extends\": \"flash\",\n\"launches\": {\"rotate\": [1, 1]}}")
        << QByteArray()
        << QStringList{"profiles/a.json:2: \"launches\" of a names \"rotate\", which has no rule"};
    QTest::newRow("no base and no ops") << QByteArray("{\"profile\": \"a\", \"packed\": []}") << QByteArray()
                                        << QStringList{"profiles/a.json:1:1: \"ops\" is missing"};
    QTest::newRow("reduce")
        << QByteArray("{\"profile\": \"a\", \"extends\": \"flash\",\n\"reduce\": \"never\"}") << QByteArray()
        << QStringList{"profiles/a.json:2: \"reduce\" is \"never\"; accepted: summed or per_consumer"};
    QTest::newRow("fused kind")
        << QByteArray("{\"profile\": \"a\", \"extends\": \"flash\",\n\"fused\": [[\"dropout\", \"ad\"]]}")
        << QByteArray()
        << QStringList{
               "profiles/a.json:2: \"fused\" of a names \"ad\", which has no rule; accepted: op kinds"};
    QTest::newRow("fused chain")
        << QByteArray("{\"profile\": \"a\", \"extends\": \"flash\",\n\"fused\": [[\"dropout\"]]}")
        << QByteArray()
        << QStringList{
               "profiles/a.json:2:11: an entry of \"fused\" is [\"dropout\"]; accepted: a list of two"};
    QTest::newRow("chain of an engine")
        << QByteArray(
               "{\"profile\": \"a\", \"extends\": \"flash\",\n\"fused_results\": [[\"add\", \"norm\"]]}")
        << QByteArray()
        << QStringList{
               "profiles/a.json:2: \"fused_results\" of a names \"norm\", which has no rule; accepted: op "
               "kinds"};
    QTest::newRow("merged kinds")
        << QByteArray("{\"profile\": \"a\", \"extends\": \"flash\",\n\"merged\": [[]]}") << QByteArray()
        << QStringList{"profiles/a.json:2:12: an entry of \"merged\" is []; accepted: a list of op kinds"};
    QTest::newRow("sums of layers")
        << QByteArray("{\"profile\": \"a\", \"extends\": \"flash\",\n\"layer_sums\": \"never\"}")
        << QByteArray()
        << QStringList{"profiles/a.json:2: \"layer_sums\" is \"never\"; accepted: own_kernel or next_norm"};
    QTest::newRow("gathered inputs")
        << QByteArray("{\"profile\": \"a\", \"extends\": \"flash\",\n\"gathered_inputs\": \"gone\"}")
        << QByteArray()
        << QStringList{"profiles/a.json:2: \"gathered_inputs\" is \"gone\"; accepted: saved or regathered"};
    QTest::newRow("condition")
        << QByteArray(
               "{\"profile\": \"a\", \"extends\": \"flash\", \"ops\": {\"rope\": {\"stats\": [\n{\"name\": "
               "\"t\", \"over\": \"se\", \"dtype\": \"bfloat16\", \"when\": \"monday\"}]}}}")
        << QByteArray() << QStringList{"profiles/a.json:2: \"when\" is \"monday\""};
  }
  void mistakesInProfilesAreLocated() {
    QFETCH(QByteArray, first);
    QFETCH(QByteArray, second);
    QFETCH(QStringList, problems);
    QTemporaryDir dir;
    write(dir.filePath("profiles/a.json"), first);
    if (!second.isEmpty()) write(dir.filePath("profiles/b.json"), second);
    const ModelLibrary library = ModelLibrary::load(
        {(data_dir() / "models").string(), dir.path().toStdString()});
    QCOMPARE(qsizetype(library.problems().size()), problems.size());
    for (qsizetype i = 0; i < problems.size(); ++i) {
      const std::string text = to_string(library.problems()[static_cast<size_t>(i)]);
      QVERIFY2(QString::fromStdString(text).startsWith(problems[i]), text.c_str());
    }
    QVERIFY(!library.profile("a") && !library.profile("b"));
    QVERIFY(std::holds_alternative<std::shared_ptr<const Graph>>(
        build_graph(structure_of(tiny_design()), library)));
  }

  void brokenBasesAreTold() {
    for (const auto& [base, code] :
         {std::pair{"fast", ProblemCode::UnknownProfile}, std::pair{"a", ProblemCode::ProfileCycle}}) {
      QTemporaryDir dir;
      write(dir.filePath("profiles/a.json"), QByteArray(R"({"profile": "a", "extends": ")") + base + "\"}");
      const ModelLibrary library = ModelLibrary::load(
          {(data_dir() / "models").string(), dir.path().toStdString()});
      QVERIFY(library.problems().size() == 1 && library.problems().front().code == code);
    }
  }

  void operandsThatAnOpLacksAreTold() {
    QTemporaryDir dir;
    write(dir.filePath("profiles/a.json"),
          R"({"profile": "a", "extends": "flash", "ops": {"rope": {"saves_inputs": [4]}}})");
    const ModelLibrary library = ModelLibrary::load(
        {(data_dir() / "models").string(), dir.path().toStdString()});
    Design d = tiny_design();
    d.workload.profile = "a";
    const auto graph = build_graph(structure_of(d), library);
    QVERIFY(std::holds_alternative<Problem>(graph));
    QVERIFY(std::get<Problem>(graph).code == ProblemCode::ProfileRule);
    QVERIFY(
        QString::fromStdString(to_string(std::get<Problem>(graph))).contains("a saves operand 4 of rope"));
  }
};

QTEST_APPLESS_MAIN(GraphTemplateTest)
#include "graph_template_test.moc"
