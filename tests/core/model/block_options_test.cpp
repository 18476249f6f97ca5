// Options of blocks and architectures: conditional lines, words, parameters and labels.
#include <QtTest>

#include "model/block_options.h"
#include "model/library.h"

using namespace shardscape;

namespace {

QString lines_text(const BlockTemplate& block) {
  QStringList out;
  for (const OpLine& line : block.ops) {
    QStringList args;
    for (const std::string& arg : line.args) args << QString::fromStdString(arg);
    out << QString::fromStdString(line.output + "=" + line.callee + "[" + line.spec + "](") + args.join(',') +
               ")";
  }
  return out.join(' ');
}

QString parameters_text(const BlockTemplate& block) {
  QStringList out;
  for (const BlockParam& param : block.params) out << QString::fromStdString(param.name);
  return out.join(' ');
}

class Folder {
 public:
  Folder() {
    QDir(dir_.path()).mkpath("blocks");
    QDir(dir_.path()).mkpath("architectures");
  }
  void write(const QString& name, QString text) {
    QFile file(dir_.filePath(name));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(text.replace('\'', '"').toUtf8());
  }
  ModelLibrary library() const { return ModelLibrary::load({dir_.path().toStdString()}); }

 private:
  QTemporaryDir dir_;
};

QString first_problem(const ModelLibrary& library) {
  return library.problems().empty() ? "" : QString::fromStdString(to_string(library.problems().front()));
}

QString block_text(const QString& options, const QString& ops) {
  return "{'block': 'b', 'inputs': {'x': ['batch', 'seq', 'hidden']}, 'parameters': {'w': ['hidden', 'ffn'], "
         "'bias': ['ffn']}, 'options': {" +
         options + "},\n 'ops': [" + ops + "], 'output': 'y', 'labels': {'y': 'Up', 'y if bias': 'Up bias'}}";
}

const QString kBias =
    "'y = einsum[bsd,df->bsf](x, w) unless bias', 'y0 = einsum[bsd,df->bsf](x, w) if bias', "
    "'y = bias_add[bsf,f->bsf; wide if wide, round](y0, bias) if bias'";
const QString kOptions = "'bias': 'has a bias', 'wide': 'is wide'";

}  // namespace

class BlockOptionsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void lines_data() {
    QTest::addColumn<QString>("call");
    QTest::addColumn<QString>("lines");
    QTest::addColumn<QString>("parameters");
    QTest::addColumn<QString>("label");
    QTest::newRow("none") << "b"
                          << "y=einsum[bsd,df->bsf](x,w)"
                          << "w"
                          << "Up";
    QTest::newRow("bias") << "b; bias"
                          << "y0=einsum[bsd,df->bsf](x,w) y=bias_add[bsf,f->bsf; round](y0,bias)"
                          << "w bias"
                          << "Up bias";
    QTest::newRow("both") << "b; bias, wide"
                          << "y0=einsum[bsd,df->bsf](x,w) y=bias_add[bsf,f->bsf; wide, round](y0,bias)"
                          << "w bias"
                          << "Up bias";
  }
  void lines() {
    QFETCH(QString, call);
    Folder folder;
    folder.write("blocks/b.json", block_text(kOptions, kBias));
    folder.write("blocks/c.json", "{'block': 'c', 'label': 'Other', 'is': '" + call + "'}");
    const ModelLibrary library = folder.library();
    QVERIFY2(library.problems().empty(), qPrintable(first_problem(library)));
    const BlockTemplate* block = library.block("c");
    QVERIFY(block);
    QTEST(lines_text(*block), "lines");
    QTEST(parameters_text(*block), "parameters");
    QTEST(QString::fromStdString(block->labels.at("y")), "label");
    QCOMPARE(QString::fromStdString(block->label), QString("Other"));
  }

  // The result of a line that goes stands for the line's first argument, through several lines.
  void results_of_lines_that_go() {
    Folder folder;
    folder.write("blocks/b.json",
                 block_text(kOptions,
                            "'h = einsum[bsd,df->bsf](x, w)', 'n = gelu[bsf->bsf](h) if bias', "
                            "'m = gelu[bsf->bsf](n) if wide', 'y = add[bsf,bsf->bsf](m, n)'"));
    const ModelLibrary library = folder.library();
    QVERIFY2(library.problems().empty(), qPrintable(first_problem(library)));
    QCOMPARE(lines_text(*library.block("b")), QString("h=einsum[bsd,df->bsf](x,w) y=add[bsf,bsf->bsf](h,h)"));
  }

  // A call in a block passes on an option of the outer block only where that block has it.
  void options_of_inner_calls() {
    Folder folder;
    folder.write("blocks/b.json", block_text(kOptions, kBias));
    folder.write("blocks/outer.json",
                 "{'block': 'outer', 'inputs': {'x': ['batch', 'seq', 'hidden']}, 'parameters': {}, "
                 "'options': {'wide': 'is wide'}, 'ops': ['y = b(x; wide, bias)'], 'output': 'y'}");
    folder.write("blocks/wide.json", "{'block': 'wide', 'is': 'outer; wide'}");
    const ModelLibrary library = folder.library();
    QVERIFY2(library.problems().empty(), qPrintable(first_problem(library)));
    QCOMPARE(lines_text(*library.block("outer")), QString("y=b; bias[](x)"));
    QCOMPARE(lines_text(*library.block("wide")), QString("y=b; bias, wide[](x)"));
    QVERIFY(library.block("b; bias"));
    QVERIFY(library.block("b; bias, wide"));
  }

  void architectures() {
    Folder folder;
    folder.write("blocks/b.json", block_text(kOptions, kBias));
    folder.write(
        "architectures/a.json",
        "{'architecture': 'a', 'options': {'wide': 'w', 'norm': 'n'}, 'embedding': ['x = b(x)'], 'layers': "
        "{'layer': ['n = gelu(x) if norm', 'y = b(n; bias, wide)']}, 'pattern': ['layer'], 'head': "
        "['y = b(x)']}");
    const ModelLibrary library = folder.library();
    QVERIFY2(library.problems().empty(), qPrintable(first_problem(library)));
    const auto layer = [&](const char* id) -> QString {
      const Architecture* architecture = library.architecture(id);
      if (!architecture) return "none";
      QStringList out;
      for (const OpLine& line : architecture->kinds.front().lines)
        out << QString::fromStdString(line.callee + "(" + line.args.front() + ")");
      return out.join(" / ");
    };
    QCOMPARE(layer("a"), QString("b; bias(x)"));
    QCOMPARE(layer("a; norm"), QString("gelu(x) / b; bias(n)"));
    QCOMPARE(layer("a; norm, wide"), QString("gelu(x) / b; bias, wide(n)"));
    QCOMPARE(layer("a;wide,norm"), layer("a; wide, norm"));
    QCOMPARE(layer("a; tall"), QString("none"));
  }

  void problems_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("what");
    QTest::newRow("call of an unknown option") << "architectures/a.json"
                                               << "{'architecture': 'a', 'embedding': ['x = b(x)'], "
                                                  "'layers': {'layer': ['y = b(x; tall)']}, 'pattern': "
                                                  "['layer'], 'head': ['y = b(x)']}"
                                               << "\"b\" has no option \"tall\"";
    QTest::newRow("condition on an unknown option")
        << "blocks/c.json" << block_text("'bias': 'has a bias'", "'y = einsum[bsd,df->bsf](x, w) if tall'")
        << "has no option \"tall\"";
    QTest::newRow("unknown block") << "blocks/c.json"
                                   << "{'block': 'c', 'is': 'd; bias'}"
                                   << "\"is\" names \"d\", which is not a block with lines";
    QTest::newRow("word behind a line")
        << "blocks/c.json" << block_text(kOptions, "'y = einsum[bsd,df->bsf](x, w) when bias'")
        << "cannot be read at column";
    QTest::newRow("no option behind ;")
        << "blocks/c.json" << block_text(kOptions, "'y = gelu(x; )'") << "cannot be read at column";
  }
  void problems() {
    QFETCH(QString, file);
    QFETCH(QString, text);
    QFETCH(QString, what);
    Folder folder;
    folder.write("blocks/b.json", block_text(kOptions, kBias));
    folder.write(file, text);
    const ModelLibrary library = folder.library();
    QCOMPARE(library.problems().size(), size_t(1));
    QVERIFY2(first_problem(library).contains(what), qPrintable(first_problem(library)));
    QVERIFY2(first_problem(library).contains(file), qPrintable(first_problem(library)));
    QVERIFY(!library.architecture("a"));
    QVERIFY(library.block("b"));
  }
};

QTEST_GUILESS_MAIN(BlockOptionsTest)
#include "block_options_test.moc"
