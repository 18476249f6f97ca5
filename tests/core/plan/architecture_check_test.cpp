// The check of texts of architectures and blocks: places of mistakes, and numbers of the model.
#include <QtTest>

#include "plan/architecture_check.h"

using namespace shardscape;

namespace {

std::string llama_text() {
  return std::get<std::string>(architecture_text("llama", ModelLibrary::instance()));
}

std::string mlp_text() { return std::get<std::string>(block_text("gated_mlp", ModelLibrary::instance())); }

// The text with one replacement.
std::string changed(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  return at == std::string::npos ? "" : text.replace(at, from.size(), to);
}

// "line:column" of the text's first occurrence of the word.
QString place_in(const std::string& text, const std::string& word) {
  const size_t at = text.find(word), line = text.rfind('\n', at);
  return QString("t:%1:%2")
      .arg(1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'))
      .arg(at - (line == std::string::npos ? 0 : line + 1) + 1);
}

struct Mistake {
  const char *name, *from, *to, *at, *what;
};

}  // namespace

class ArchitectureCheckTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void mistakes_data() {
    QTest::addColumn<bool>("block");
    QTest::addColumn<QString>("from");
    QTest::addColumn<QString>("to");
    QTest::addColumn<QString>("at");
    QTest::addColumn<QString>("what");
    const auto add = [](bool block, const Mistake& m) {
      QTest::newRow(m.name) << block << m.from << m.to << m.at << m.what;
    };
    for (const Mistake& mistake :
         {Mistake{"comma", "\"llama\",", "\"llama\"", "\"embedding\"", "unexpected string literal"},
          Mistake{"key", "\"pattern\"", "\"patern\"", "\"patern\"", "did you mean \"pattern\"?"},
          Mistake{"kind", "[\"layer\"]", "[\"leyer\"]", "\"leyer\"", "did you mean \"layer\"?"},
          Mistake{"line", "= residual(x, attention)", "= residual x", "x\",", "cannot be read at column"},
          Mistake{"block", "gated_mlp(n2)", "gated_mpl(n2)", "gated_mpl", "did you mean \"gated_mlp\"?"},
          Mistake{"block with options", "self_attention(n1", "self_atention(n1", "self_atention",
                  "did you mean \"self_attention\"?"},
          Mistake{"option", "; rope", "; rpe", "self_attention", "did you mean \"rope\"?"},
          Mistake{"argument", "mlp(n2)", "mlp(n3)", "n3)", "did you mean \"n1\"?"},
          Mistake{"inputs", "gated_mlp(n2)", "gated_mlp(n2, h)", "gated_mlp", "takes 1 inputs, not 2"},
          Mistake{"number", "\"pattern\": [\"layer\"]", "\"pattern\": 7", "7", "not a list"}})
      add(false, mistake);
    for (const Mistake& mistake :
         {Mistake{"op", "swiglu", "swigul", "swigul", "did you mean \"swiglu\"?"},
          Mistake{"axis", "\"wu\": [\"hidden\", \"ffn\"]", "\"wu\": [\"hiden\", \"ffn\"]", "\"hiden\"",
                  "did you mean \"hidden\"?"},
          Mistake{"letters", "bsf,fd->bsd", "bsf,fd>bsd", "bsf,fd>bsd", "cannot be read"},
          Mistake{"dimensions", "[bsd,df->bsf](x, wg)", "[bsd,dfe->bsf](x, wg)", "wg)", "has 2 dimensions"},
          Mistake{"role", "\"wg\": \"gate\"", "\"wg\": \"gat\"", "\"gat\"", "did you mean \"gate\"?"},
          Mistake{"parameter of a role", "{\"wg\": \"gate\"", "{\"ww\": \"gate\"", "\"ww\": \"gate\"",
                  "is not a parameter"},
          Mistake{"output", "\"output\": \"y\"", "\"output\": \"yy\"", "\"yy\"",
                  "not the result of any line"}})
      add(true, mistake);
  }
  void mistakes() {
    QFETCH(bool, block);
    QFETCH(QString, from);
    QFETCH(QString, to);
    QFETCH(QString, at);
    QFETCH(QString, what);
    const std::string text = changed(block ? mlp_text() : llama_text(), from.toStdString(), to.toStdString());
    QVERIFY(!text.empty());
    const auto check = check_architecture_text(text, "t", default_design());
    QVERIFY(!check->mistakes.empty());
    const Problem& first = check->mistakes.front();
    QVERIFY2(QString::fromStdString(first.what).contains(what), first.what.c_str());
    QCOMPARE(QString::fromStdString(first.where), place_in(text, at.toStdString()));
  }

  // A mistake of the whole file has the file as its place.
  void theWholeFile() {
    const std::string text = changed(mlp_text(), "\"ops\": [", "\"ops\": [" + std::string(70'000, ' '));
    const auto check = check_architecture_text(text, "t", default_design());
    QCOMPARE(check->mistakes.size(), size_t{1});
    QCOMPARE(check->mistakes.front().where, std::string("t"));
    QVERIFY2(check->mistakes.front().accepted == "at most 65536 bytes",
             check->mistakes.front().accepted.c_str());
  }

  // All mistakes that a reading finds, each at its place: of lines, of options, and one of every kind of
  // layers.
  void severalMistakes_data() {
    QTest::addColumn<bool>("block");
    QTest::addColumn<QStringList>("changes");  // from, to, place of the mistake
    QTest::newRow("lines") << false << QStringList{"= residual(x, attention)", "= residual x", "x\",",
                                                   "n = rms_norm(x)",          "n = rms_norm", "\n"};
    QTest::newRow("options") << false << QStringList{"; rope",
                                                     "; rpe",
                                                     "self_attention",
                                                     "= gated_mlp(n2",
                                                     "= relu2_mlp(n2; fast",
                                                     "relu2_mlp"};
    QTest::newRow("axes") << true
                          << QStringList{"\"wu\": [\"hidden\", \"ffn\"]",
                                         "\"wu\": [\"hiden\", \"ffn\"]",
                                         "\"hiden\"",
                                         "\"wd\": [\"ffn\"",
                                         "\"wd\": [\"fnn\"",
                                         "\"fnn\""};
    QTest::newRow("results") << true
                             << QStringList{"\"output\": \"y\"",
                                            "\"output\": \"yy\"",
                                            "\"yy\"",
                                            "\"recompute\": {",
                                            "\"recompute\": {\"mlb\": \"all\", ",
                                            "\"mlb\""};
    QTest::newRow("segments") << false << QStringList{"gated_mlp(n2)", "gated_mpl(n2)", "gated_mpl",
                                                      "lm_head(n)",    "lm_haed(n)",    "lm_haed"};
  }
  void severalMistakes() {
    QFETCH(bool, block);
    QFETCH(QStringList, changes);
    std::string text = block ? mlp_text() : llama_text();
    for (qsizetype i = 0; i < changes.size(); i += 3)
      text = changed(text, changes[i].toStdString(), changes[i + 1].toStdString());
    QVERIFY(!text.empty());
    const auto check = check_architecture_text(text, "t", default_design());
    QStringList places;
    for (const Problem& mistake : check->mistakes) places << QString::fromStdString(mistake.where);
    QCOMPARE(places.size(), changes.size() / 3);
    for (qsizetype i = 0; i < changes.size(); i += 3)
      if (!changes[i + 2].contains('\n'))
        QVERIFY2(places.contains(place_in(text, changes[i + 2].toStdString())),
                 qPrintable(changes[i + 2] + ": " + places.join(' ')));
  }

  // A correct text counts the same as the preset.
  void numbers() {
    const Design design = default_design();
    const auto check = check_architecture_text(llama_text(), "t", design);
    QVERIFY(check->ok());
    QVERIFY(check->counted());
    QCOMPARE(static_cast<int64_t>(check->report->model_parameters.value), int64_t(8030261248));
    QCOMPARE(check->kinds.size(), size_t(1));
    const KindNumbers& layer = check->kinds.front();
    QCOMPARE(layer.layers, int64_t(32));
    QCOMPARE(layer.mixer, std::string("self_attention(rope)"));
    QCOMPARE(layer.feed_forward, std::string("gated_mlp"));
    // Q, K, V and output of the attention, three matrices of the MLP, and two norms.
    const int64_t d = 4096;
    QCOMPARE(static_cast<int64_t>(layer.parameters), 2 * d * d + 2 * d * 1024 + 3 * d * 14336 + 2 * d);
    QVERIFY(layer.flops_per_token > 6 * static_cast<double>(layer.parameters));
    // Tensor parallelism shares the FLOPs of GEMMs and attention; only norms are repeated.
    Design split = check->report->design;
    split.parallel.tp = 2;
    const double shared = kind_numbers(*make_report(split)).front().flops_per_token;
    QVERIFY(std::abs(shared / layer.flops_per_token - 1) < 0.01);
  }

  // A block is counted in the architecture of the design, in another one, or in a layer made for it.
  void blocks() {
    const auto check = check_architecture_text(with_id(mlp_text(), "my_mlp"), "t", default_design());
    for (const Problem& problem : check->mistakes) QFAIL(to_string(problem).c_str());
    QVERIFY(check->counted());
    QCOMPARE(check->kinds.front().feed_forward, std::string("my_mlp"));
    QCOMPARE(static_cast<int64_t>(check->report->model_parameters.value), int64_t(8030261248));
    const auto mamba = check_architecture_text(
        std::get<std::string>(block_text("mamba2_mixer", ModelLibrary::instance())), "t", default_design());
    QVERIFY(mamba->ok());
    QVERIFY(!mamba->completed.empty());
  }

  // A text with the id of the design's architecture replaces it only in its own library.
  void libraries_are_separate() {
    const std::string text = changed(llama_text(), "\"mlp = gated_mlp(n2)\"", "\"mlp = relu2_mlp(n2)\"");
    const auto check = check_architecture_text(text, "t", default_design());
    QVERIFY(check->counted());
    QCOMPARE(check->kinds.front().feed_forward, std::string("relu2_mlp"));
    const auto cache = std::make_shared<PlanCache>();
    const auto usual = make_report(default_design(), cache);
    QCOMPARE(static_cast<int64_t>(usual->model_parameters.value), int64_t(8030261248));
    // A shared cache tells the libraries apart.
    Wide other = 0;
    {
      const ModelLibrary::Scope scope(*check->library);
      other = make_report(default_design(), cache)->model_parameters.value;
    }
    QCOMPARE(other, check->report->model_parameters.value);
    QVERIFY(other != usual->model_parameters.value);
    QCOMPARE(make_report(default_design(), cache)->model_parameters.value, usual->model_parameters.value);
  }

  // A model with made kinds and a pattern of its own.
  void made_kinds() {
    Design design = default_design();
    design.parallel = {};
    design.workload.batch = 4;
    design.model.architecture = "llama; wide = layer(feed_forward = relu2_mlp)";
    design.model.layer_pattern = "(layer*3, wide)*";
    const auto report = make_report(design);
    for (const Problem& problem : report->problems) QFAIL(to_string(problem).c_str());
    const auto kinds = kind_numbers(*report);
    QCOMPARE(kinds.size(), size_t(2));
    QCOMPARE(kinds[1].layers, int64_t(8));
    QCOMPARE(kinds[0].parameters - kinds[1].parameters, Wide(4096) * 14336);  // one matrix less
    QCOMPARE(static_cast<int64_t>(report->model_parameters.value),
             int64_t(8030261248) - int64_t(8) * 4096 * 14336);
  }
};

QTEST_GUILESS_MAIN(ArchitectureCheckTest)
#include "architecture_check_test.moc"
