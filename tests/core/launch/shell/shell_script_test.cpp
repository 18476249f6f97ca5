// Launch scripts are read, not run: which commands with which words?
#include <QtTest>

#include "launch/shell/shell_script.h"
#include "launch/shell/shell_words.h"

using namespace shardscape;

namespace {

ShellScript read(const std::string& text, ShellInput input = {}) {
  auto out = read_shell_script(text, input);
  if (const auto* problem = std::get_if<Problem>(&out)) qFatal("%s", to_string(*problem).c_str());
  return std::get<ShellScript>(out);
}

// "a|b;c|d": words and commands.
QString shown(const ShellScript& script) {
  QStringList commands;
  for (const ShellCommand& command : script.commands) {
    QStringList words;
    for (const std::string& word : command.words) words << QString::fromStdString(word);
    commands << words.join('|');
  }
  return commands.join(';');
}

}  // namespace

class ShellScriptTest : public QObject {
  Q_OBJECT
 private slots:
  void commands_data() {
    QTest::addColumn<QString>("script");
    QTest::addColumn<QString>("commands");
    const auto row = [](const char* name, const char* script, const char* commands) {
      QTest::newRow(name) << QString(script) << QString(commands);
    };
    row("words", "run a 'b c' \"d  e\" f\\ g", "run|a|b c|d  e|f g");
    row("variables", "N=4; M=\"x y\"\nrun $N ${N}0 $M \"$M\" '$N'", "run|4|40|x|y|x y|$N");
    row("continuation", "run a \\\n  b", "run|a|b");
    row("comment", "run a # b\n# c\nrun d#e", "run|a;run|d#e");
    row("defaults", "A=${B:-2}; C=; run $A ${C:-3} ${C-4} ${D:=5} $D ${A:+6}", "run|2|3|5|5|6");
    row("an empty value in quotes is a word", "run ${A:-} \"${A:-}\"", "run|");
    row("parts", "P=a/b.json; run ${P##*/} ${P%.json} ${P/a/c} ${#P} ${P:2:3}",
        "run|b.json|a/b|c/b.json|8|b.j");
    row("case of letters", "A=fp8; run ${A^^} ${A^}", "run|FP8|Fp8");
    row("arithmetic", "N=8; M=2; run $((N * M + 1)) $((N/3)) $(( N > 4 && M != 2 )) $((2**10)) $((N/0))",
        "run|17|2|0|1024|0");
    row("signs of arithmetic", "run $((1<<3)) $((2*3**2)) $((0x10)) $((2**3**2)) $((6&3|8)) $((~0)) $((5,7))",
        "run|8|18|16|512|10|-1|7");
    row("assignments in arithmetic",
        "x=1; run $((x++)) $x $((x=9)) $x $((++x)) $((x+=5)) $((0 && (x=1))) $x; ((x*=2)); run $x",
        "run|1|2|9|9|10|15|0|15;run|30");
    row("array",
        "A=(--tp 2 # degree, don't count\n --pp $((1+1)))\nA+=(\"c d\")\nrun \"${A[@]}\" ${#A[@]} ${A[1]}",
        "run|--tp|2|--pp|2|c d|5|2");
    row("an array in unquoted words splits", "A=(\"--fp8-format hybrid\"); run ${A[@]}",
        "run|--fp8-format|hybrid");
    row("named array", "declare -A S=([8B]=32 [70B]=80); M=70B; run ${S[$M]}", "run|80");
    row("append", "O=\"--a\"; O+=\" --b 1\"; run $O", "run|--a|--b|1");
    row("if", "T=4\nif [ $T -gt 8 ]; then run big; elif [[ $T == 4 ]]; then run four; else run none; fi",
        "run|four");
    row("pattern", "M=llama3-8b\nif [[ $M == llama* && ! $M == *70b ]]; then run yes; fi", "run|yes");
    row("a quoted star is a star", "M=ab\nif [[ $M == \"a*\" ]]; then run yes; fi", "");
    row("case", "case fp8 in bf16|fp16) run half;; fp*) run narrow;; *) run other;; esac", "run|narrow");
    row("for", "for n in 1 2; do run $n; done", "run|1;run|2");
    row("counting for", "for (( i = 0; i < 3; i++ )); do [ $i = 1 ] && continue; run $i; done",
        "run|0;run|2");
    row("while", "while [ $# -gt 0 ]; do case $1 in --tp) TP=$2; shift;; esac; shift; done; run \"$TP\"",
        "run|");
    row("and, or", "true && run a || run b; false && run c || run d", "run|a;run|d");
    row("function", "f() { run $1 \"$@\"; }\nf x 'y z'", "run|x|x|y z");
    row("eval", "C=\"run a\"; eval $C b", "run|a|b");
    row("shell in a command", "T=2; srun -N 4 bash -x -c \"torchrun a.py --tp $T\"",
        "srun|-N|4|bash|-x|-c|torchrun a.py --tp 2;torchrun|a.py|--tp|2");
    row("environment of one command", "A=1 run b", "run|b");
    row("known substitutions",
        "run $(dirname a/b/c.sh) `basename a/b` $(echo x y) $(cd a && pwd) $(expr 2 \\* 3)",
        "run|a/b|b|x|y|.|6");
    row("other substitutions are empty", "run $(nvidia-smi -L) a", "run|a");
    row("redirections", "run a 2>&1 | tee log.txt; run b &> x", "run|a;tee|log.txt;run|b");
    row("exit is not followed", "if [ ! -f x.py ]; then exit 1; fi\nrun a", "run|a");
    row("pipe of both outputs", "run a |& tee log; run b >| x", "run|a;tee|log;run|b");
    row("function in a subshell", "f() ( A=2; run $A ); A=1; f; run $A", "run|2;run|1");
    row("case branches that run on", "case a in a) run 1;& b) run 2;; c) run 3;; esac", "run|1;run|2");
    row("case branches that are tested", "case a in a) run 1;;& b) run 2;; *) run 3;; esac", "run|1;run|3");
    row("brackets in arithmetic", "((a=(1+2)*(3))); run $a; ( (run b) )", "run|9;run|b");
    row("parts of lists", "set -- a b c; A=(x y z); run \"${@:2}\" \"${A[@]:1:2}\" ${A[@]: -1} \"${@:9}\"",
        "run|b|c|y|z|z");
    row("changes of lists", "A=(a.py b.py); run \"${A[@]%.py}\" ${A[@]/b/c}", "run|a|b|a.py|c.py");
    row("indexes of lists", "declare -A S=([k]=1 [m]=2); run \"${!S[@]}\"; A=(x y); run ${!A[@]}",
        "run|k|m;run|0|1");
    row("indirect names", "A=B; B=3; run ${!A}", "run|3");
    row("parts from the end", "X=abcdef; run ${X: -2} ${X:1:-2} ${X:0-3:1} ${X:9}", "run|ef|bcd|d");
    row("ranges", "run a{0..3} {3..1} {0..6..3} '{1..2}' {a,b}", "run|a0|a1|a2|a3|3|2|1|0|3|6|{1..2}|a|b");
    row("lists in braces", "x=1; run a{b,{c,d}}e {,${x}}f '{a,b}' {a} \\{a,b} v={1,\"2 3\"}",
        "run|abe|ace|ade|f|1f|{a,b}|{a}|{a,b}|v=1|v=2 3");
    row("local variables", "A=1; f() { local A=2 B; B=5; run $A; }; f; run $A ${B:-no}", "run|2;run|1|no");
    row("local takes the old value", "A=1; f() { local A=$A$A; run $A; }; f; run $A", "run|11;run|1");
    row("number of arguments", "set -- a b; run $# ${#}", "run|2|2");
    row("printf",
        "A=(0 1 1); printf -v B \"[%s]\" \"$(IFS=', '; echo \"${A[*]}\")\"; run $B $(printf '%d-%%' 7) "
        "\"${A[*]}\"",
        "run|[0,1,1]|7-%|0 1 1");
    row("subshell", "A=1; (A=2; run $A); run $A", "run|2;run|1");
    row("environment ends with its command", "f() { run $A; }; A=1; A=2 f; run $A", "run|2;run|1");
    row("status of functions", "f() { return 1; }; g() { return 0; }; f && run a; g && run b; f || run c",
        "run|b;run|c");
    row("getopts", "while getopts a: o; do run $o; done; run b", "run|b");
    row("options",
        "set -- -t 4 -vp8 -- x; while getopts 't:vp:' o; do case $o in t) T=$OPTARG;; p) P=$OPTARG;; v) "
        "V=1;; "
        "esac; done; shift $((OPTIND-1)); run $T $P $V $1",
        "run|4|8|1|x");
    row("options that the script lacks", "set -- -q -t; while getopts ':t:' o; do run $o $OPTARG; done",
        "run|?|q;run|:|t");
    row("read", "while read -r l; do run $l; done; run b", "run|b");
    row("waiting for a file", "while [ ! -f x ]; do sleep 1; done; run b", "run|b");
    row("waiting inside", "while true; do if [ -f x ]; then break; fi; sleep 1; done; run b", "run|b");
    row("placeholder", "export P=<your partition>\nrun a", "run|a");
  }
  void commands() {
    QFETCH(QString, script);
    QFETCH(QString, commands);
    QCOMPARE(shown(read(script.toStdString())), commands);
  }

  void arguments_and_environment() {
    const ShellScript script = read("run $2 ${11:-no} $TP $#", {{"a", "b"}, {{"TP", "8"}}, {}});
    QCOMPARE(shown(script), QString("run|b|no|8|2"));
  }

  void sourced_files() {
    ShellInput input;
    input.source = [](const std::string& path) -> std::optional<std::string> {
      return path == "./common.sh" ? std::optional<std::string>("TP=4") : std::nullopt;
    };
    const ShellScript script = read("source $(dirname $0)/common.sh\n. missing.sh\nrun $TP", input);
    QCOMPARE(shown(script), QString("run|4"));
    QCOMPARE(script.notes.size(), size_t(1));
    QCOMPARE(script.notes[0].line, 2);
    QVERIFY(script.notes[0].text.find("missing.sh") != std::string::npos);
    QCOMPARE(script.variables.at("TP"), std::string("4"));
  }

  void child_scripts() {
    ShellInput input;
    input.source = [](const std::string& path) -> std::optional<std::string> {
      return path == "child.sh" ? std::optional<std::string>("run $1 ${A:-no} ${B:-no} ${C:-no}; A=9")
                                : std::nullopt;
    };
    for (const char* start : {"bash", "srun -N 2 bash -x", "C=3 bash"}) {
      const ShellScript script = read("A=1; export B=2\n" + std::string(start) + " child.sh x\nrun $A",
                                      input);
      QCOMPARE(shown(script), QString("run|x|no|2|%1;run|1").arg(*start == 'C' ? "3" : "no"));
    }
    const ShellScript missing = read("bash other.sh\n", input);
    QCOMPARE(shown(missing), QString("bash|other.sh"));
    QCOMPARE(missing.notes.size(), size_t(1));
  }

  void notes_data() {
    QTest::addColumn<QString>("script");
    QTest::addColumn<QString>("note");
    QTest::newRow("condition") << "if grep -q a f; then run; fi"
                               << "`grep -q a f`";
    QTest::newRow("read") << "read A B"
                          << "`read A B`";
    QTest::newRow("printf") << "printf -v A %x 1"
                            << "`printf -v A %x 1`";
    QTest::newRow("loop") << "until [ -e x ]; do sleep 1; done"
                          << "is left";
  }
  void notes() {
    QFETCH(QString, script);
    QFETCH(QString, note);
    const ShellScript out = read(script.toStdString());
    const auto has = [&](const ShellNote& one) { return QString::fromStdString(one.text).contains(note); };
    QVERIFY(std::any_of(out.notes.begin(), out.notes.end(), has));
  }

  void here_documents() {
    const ShellScript script = read("M=2\ncat <<EOF > ds.json\n{\"stage\": $M}\nEOF\nrun ds.json");
    QCOMPARE(script.files.at("ds.json"), std::string("{\"stage\": 2}\n"));
    QCOMPARE(shown(script), QString("cat;run|ds.json"));
  }

  void texts_of_here_documents_data() {
    QTest::addColumn<QString>("script");
    QTest::addColumn<QString>("commands");
    const auto row = [](const char* name, const char* script, const char* commands) {
      QTest::newRow(name) << QString(script) << QString(commands);
    };
    row("cat", "N=2\nA=$(cat <<EOF\n--n $N \\\n  --m\n--bf16\nEOF\n)\nrun $A", "run|--n|2|--m|--bf16");
    row("cat in quotes", "A=\"$(cat <<EOF\na b\n\nEOF\n)\"\nrun \"$A\"", "run|a b");
    row("cat of a text with quotes around its end", "A=$(cat <<'EOF'\n$N x\nEOF\n)\nrun $A", "run|$N|x");
    row("read", "N=2\nread -r -d '' A <<EOF || true\n --n $N\n --m\nEOF\nrun $A", "run|--n|2|--m");
    row("read in one word", "N=2\nread -rd '' A <<'EOF'\n --n $N\n --m\nEOF\nrun $A", "run|--n|$N|--m");
    row("read of a line", "read A B <<EOF\nx y z\nu\nEOF\nrun $A \"$B\"", "run|x|y z");
  }
  void texts_of_here_documents() {
    QFETCH(QString, script);
    QFETCH(QString, commands);
    const ShellScript out = read(script.toStdString());
    QCOMPARE(shown(out), commands);
    QVERIFY(out.notes.empty());
  }

  void a_here_document_of_a_shell_runs() {
    QCOMPARE(shown(read("N=3\nsbatch <<EOF\n#SBATCH --nodes=2\nrun a $N\nEOF\n")), QString("run|a|3"));
  }

  void lines_and_notes() {
    const ShellScript script = read("A=1\n\nrun $B \\\n $A\nrun c");
    QCOMPARE(script.commands[0].line, 3);
    QCOMPARE(script.commands[1].line, 5);
    QCOMPARE(script.notes.size(), size_t(1));
    QCOMPARE(script.notes[0].text, std::string("$B has no value here and counts as empty"));
  }

  void broken_data() {
    QTest::addColumn<QString>("script");
    QTest::addColumn<QString>("where");
    QTest::newRow("quote") << "A=1\nrun \"a"
                           << "line 2";
    QTest::newRow("bracket") << "A=(1 2"
                             << "line 1";
    QTest::newRow("if") << "if true; then\nrun a"
                        << "line 2";
    QTest::newRow("stray") << "run a\nfi )"
                           << "line 2";
    QTest::newRow("endless") << "while true; do A=1; done"
                             << "line 1";
    QTest::newRow("endless recursion") << "f() { f; }\nf"
                                       << "line 1";
    QTest::newRow("deep") << QString("{ ").repeated(1000) << "line 1";
  }
  void broken() {
    QFETCH(QString, script);
    QFETCH(QString, where);
    const auto out = read_shell_script(script.toStdString(), {});
    QVERIFY(std::holds_alternative<Problem>(out));
    QCOMPARE(QString::fromStdString(std::get<Problem>(out).where), where);
  }

  // Long and deep texts end in a second, with little memory.
  void hostile_data() {
    QTest::addColumn<QString>("script");
    QTest::addColumn<bool>("fine");
    const auto many = [](const char* text, int times) { return QString(text).repeated(times); };
    QTest::newRow("argument 00") << "run ${00}" << true;
    QTest::newRow("deep defaults") << "run \"" + many("${a:-", 200'000) + '"' << false;
    QTest::newRow("deep choices") << "run $((" + many("1?", 300'000) + "))" << false;
    QTest::newRow("deep signs") << "run $((" + many("-", 300'000) + "1))" << false;
    QTest::newRow("doubled array") << "A=(1 2)\n" + many("A+=(\"${A[@]}\")\n", 40) << false;
    QTest::newRow("doubled text") << "A=ab\n" + many("A+=$A\n", 60) << false;
    QTest::newRow("long words") << "A=" + many("x", 1'000'000) + "\nwhile true; do run $A; done" << false;
    QTest::newRow("replaced") << "A=" + many("x", 262'144) + "\nrun ${A//*y/b}" << false;
    QTest::newRow("removed") << "A=" + many("x", 1'000'000) + "\nrun ${A%%*y}" << false;
    QTest::newRow("brackets in a document") << "cat <<E\n" + many("(", 200'000) + "\nE\n" << true;
    QTest::newRow("long arithmetic") << "A=" + many("1+", 500'000) + "1\nwhile true; do B=$(($A)); done"
                                     << false;
    QTest::newRow("many arguments") << "set -- " + many("a ", 100'000) +
                                           "\nwhile [ $# -gt 0 ]; do shift; done"
                                    << false;
    QTest::newRow("placeholders") << "run " + many("A=<", 100'000) << false;
    QTest::newRow("long function") << "f() { " + many("a;", 50'000) + " }; while true; do f; done" << false;
  }
  void hostile() {
    QFETCH(QString, script);
    QFETCH(bool, fine);
    const auto out = read_shell_script(script.toStdString(), {});
    QCOMPARE(std::holds_alternative<ShellScript>(out), fine);
  }

  // Any bytes give a script or a problem.
  void any_bytes() {
    const std::string alphabet = "aA1 \n\"'`$(){}[]=;&|<>#\\*?!+-/:%@~";
    uint32_t seed = 7;
    const auto next = [&] { return seed = seed * 1664525u + 1013904223u; };
    for (int i = 0; i < 4000; ++i) {
      std::string text;
      for (uint32_t n = next() >> (i % 100 == 0 ? 16 : 26); n > 0; --n)
        text += alphabet[(next() >> 8) % alphabet.size()];
      (void)read_shell_script(text, {});
    }
  }
};

QTEST_APPLESS_MAIN(ShellScriptTest)
#include "shell_script_test.moc"
