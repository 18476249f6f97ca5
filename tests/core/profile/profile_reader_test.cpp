// Traces of torch.profiler become profiles; damaged ones become messages.
#include <QTemporaryDir>
#include <QtTest>
#include <fstream>
#include <random>

#include "profile/profile.h"
#include "profile/rank_profile.h"
#include "profile/trace_splitter.h"
#include "support/gzip_file.h"
#include "support/profile_trace.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

const char* const kOlderTrace =
    R"---([{"ph": "X", "cat": "Operator", "name": "ProfilerStep#1", "tid": "9", "ts": 1, "dur": 9},
            {"ph": "X", "cat": "Runtime", "name": "cudaLaunchKernel", "tid": "9", "ts": 2, "dur": 1,
             "args": {"correlation": 4, "external id": 3}},
            {"ph": "X", "cat": "Kernel", "name": "k", "tid": "stream 7", "ts": 3, "dur": 2,
             "args": {"stream": 7, "correlation": "4", "external id": 3}},
            {"ph": "X", "cat": "Memset", "name": "Memset (Device)", "ts": 6, "dur": 0,
             "args": {"bytes": 8}}])---";
const char* const kOddTimes = R"({"traceEvents": [{"cat": "kernel", "name": "a", "ts": 1, "dur": -1},
                            {"cat": "kernel", "name": "b", "dur": 1},
                            {"cat": "kernel", "name": "c", "ts": 1e300, "dur": 1},
                            {"cat": "kernel", "name": "d", "ts": 1, "dur": 1}]})";

ProfileTrace small_trace() {
  ProfileTrace trace;
  trace.annotation("ProfilerStep#3", 0, 100)
      .op(1, "aten::mm", 1, 5, ", \"Input Dims\": [[8, 4], [4, 2]], \"Input type\": [\"float\", \"float\"]")
      .launch(1, 2)
      .kernel("gemm \\\"]}, \\\\", 10, 5, 1)
      .module("Block_0", 0, 50)
      .add("python_function", "file.py(3): f", "1", 0, 1, "")
      .collective("ncclDevKernel_AllReduce", "allreduce", 20, 5, 2, 64, 64, 8);
  return trace;
}

class Files {
 public:
  std::string write(const std::string& text, const char* name = "trace.json") {
    const std::string path = folder_.filePath(name).toStdString();
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  std::string zip(const std::string& text, int times = 1) {
    const std::string path = folder_.filePath("trace.json.gz").toStdString();
    write_gzip(path, text, times);
    return path;
  }
  std::string path() const { return folder_.path().toStdString(); }

 private:
  QTemporaryDir folder_;
};

Profile read(const std::string& file) {
  auto result = read_profile(file);
  if (const auto* problem = std::get_if<Problem>(&result)) {
    QTest::qFail(to_string(*problem).c_str(), __FILE__, __LINE__);
    return {};
  }
  return std::get<Profile>(std::move(result));
}

std::string failure(const std::string& file) {
  const auto result = read_profile(file);
  const auto* problem = std::get_if<Problem>(&result);
  if (!problem) return "";
  const bool format = problem->code == ProblemCode::ProfileFormat;
  return std::string(format ? "profile-format" : code_text(problem->code)) + " " + to_string(*problem);
}

}  // namespace

class ProfileReaderTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void fields() {
    Files files;
    const Profile p = read(files.write(small_trace().text(5, 64)));
    QCOMPARE(p.device, std::string("Test GPU"));
    QCOMPARE(*p.rank, 5);
    QCOMPARE(*p.ranks, 64);
    QCOMPARE(p.events, 7);
    QCOMPARE(p.spans.size(), size_t{2});
    QCOMPARE(p.name(p.spans[0]), std::string("gemm \"]}, \\"));
    QCOMPARE(p.spans[0].begin, 10000);
    QCOMPARE(p.spans[0].end, 15000);
    QCOMPARE(p.spans[0].correlation, 1);
    QCOMPARE(p.spans[0].op, 1001);
    QCOMPARE(p.spans[0].stream, 7);
    QCOMPARE(p.collectives.at(static_cast<size_t>(p.spans[1].collective)).group_size, 8);
    QCOMPARE(p.host.size(), size_t{4});  // without the function of Python that is no module
    const auto op = std::find_if(p.host.begin(), p.host.end(),
                                 [](const HostSpan& span) { return span.inputs >= 0; });
    QVERIFY(op != p.host.end());
    QCOMPARE(p.inputs.at(static_cast<size_t>(op->inputs)).shapes[0], (std::vector<int64_t>{8, 4}));
    QCOMPARE(p.inputs.at(0).types[1], std::string("float"));
  }

  // A person who closes the window does not wait for the end of a large file.
  void a_stop_ends_reading() {
    constexpr int kEvents = 20'000;  // more than the splitter reads at once
    ProfileTrace trace;
    for (int i = 0; i < kEvents; ++i) trace.kernel("k", i, 1, i + 1);
    Files files;
    const std::string path = files.write(trace.text(0, 1));
    for (const bool at_begin : {true, false}) {
      std::stop_source stop;
      if (at_begin) stop.request_stop();
      int events = 0;
      const TraceParts parts{[&](std::string_view) {
                               ++events;
                               stop.request_stop();
                               return std::string();
                             },
                             [](std::string_view) { return false; },
                             [](std::string_view, std::string_view) { return std::string(); }};
      auto opened = CompressedFile::open(path);
      QVERIFY(!split_trace(std::get<CompressedFile>(opened), path, parts, stop.get_token()));
      QCOMPARE(events == 0, at_begin);
      QVERIFY(events < kEvents);
      const auto profile = read_profile(path, stop.get_token());
      QCOMPARE(std::get<Profile>(profile).events, 0);
      const auto ranks = profiled_ranks({path, path}, 0, {}, stop.get_token());
      QVERIFY(std::get<std::vector<RankProfile>>(ranks).empty());
    }
    QCOMPARE(read(path).events, int64_t{kEvents});
  }

  // Before 2022: capitalized categories, texts for threads, "external id".
  void older_traces() {
    Files files;
    const Profile p = read(files.write(kOlderTrace));
    QCOMPARE(p.spans.size(), size_t{2});
    QCOMPARE(p.spans[0].correlation, 4);
    QCOMPARE(p.spans[0].op, 3);
    QVERIFY(p.spans[1].work == DeviceWork::Fill);
    QCOMPARE(p.spans[1].bytes, 8);
    QVERIFY(p.host[0].work == HostWork::Annotation);
    QVERIFY(p.host[1].work == HostWork::Launch);
  }

  void a_host_op_gives_a_collective_its_arguments() {
    ProfileTrace trace;
    trace
        .op(1, "record_param_comms", 0, 1,
            ", \"Collective name\": \"allgather\", \"In msg nelems\": 4, \"Out msg nelems\": 32, \"Group "
            "size\": 8")
        .kernel("ncclKernel_AllGather", 5, 1, 1);
    Files files;
    const Profile p = read(files.write(trace.text()));
    QVERIFY(p.spans[0].collective >= 0);
    QCOMPARE(p.collectives.at(static_cast<size_t>(p.spans[0].collective)).out_elements, 32);
  }

  void compressed_files_read_the_same() {
    Files files;
    const std::string text = small_trace().text();
    const Profile plain = read(files.write(text)), zipped = read(files.zip(text));
    QCOMPARE(zipped.events, plain.events);
    QCOMPARE(zipped.names, plain.names);
  }

  // Events of random length cross the borders of the parts that are read.
  void long_traces() {
    std::mt19937 random(7);
    ProfileTrace trace;
    const int64_t events = 3000;
    for (int64_t i = 0; i < events; ++i) {
      std::string name(random() % 4000, 'x');
      for (auto pairs = random() % 3; pairs > 0; --pairs) name += random() % 2 ? "\\\\" : "\\\"";
      trace.kernel(name, static_cast<double>(i), 1, i);
    }
    Files files;
    const Profile p = read(files.zip(trace.text()));
    QCOMPARE(p.events, events);
    QCOMPARE(p.spans.size(), static_cast<size_t>(events));
    for (int64_t i = 0; i < events; ++i) QCOMPARE(p.spans[static_cast<size_t>(i)].correlation, i);
  }

  void unusable_times_are_counted() {
    Files files;
    const Profile p = read(files.write(kOddTimes));
    QCOMPARE(p.skipped, 3);
    QCOMPARE(p.spans.size(), size_t{1});
  }

  void mistakes_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("message");
    QTest::newRow("empty") << QByteArray() << QByteArray("the file ends before its first event");
    QTest::newRow("number") << QByteArray("3") << QByteArray("the text is no JSON object");
    QTest::newRow("no events") << QByteArray("{\n\"a\": {\"b\": [1, 2]}\n}")
                               << QByteArray(":3: the file has no \"traceEvents\"");
    QTest::newRow("no list") << QByteArray("{\"traceEvents\": 4}")
                             << QByteArray("\"traceEvents\" is no list");
    QTest::newRow("no event") << QByteArray("{\"traceEvents\": [\n4]}")
                              << QByteArray(":2: an event is no JSON object");
    QTest::newRow("no colon") << QByteArray("{\"traceEvents\" []}") << QByteArray("':' is missing here");
    QTest::newRow("no comma") << QByteArray("{\"traceEvents\": [{}\n{}]}")
                              << QByteArray(":2: ',' or ']' is missing here");
    QTest::newRow("event") << QByteArray("{\"traceEvents\": [{},\n{},\n{\"name\": nul}]}")
                           << QByteArray(":3: the event is no valid JSON");
    QTest::newRow("cut") << QByteArray("{\"traceEvents\": [{},\n{\"name\": \"a\"")
                         << QByteArray(":2: the file ends after 1 complete events");
    QTest::newRow("deep") << "{\"a\": " + QByteArray(100000, '[') << QByteArray("nested too deeply");
    QTest::newRow("an endless event")
        << "{\"traceEvents\": [{\"name\": \"" + QByteArray(5 << 20, 'a') + "\"}]}"
        << QByteArray("a part of the trace is longer than 4 MiB");
    QTest::newRow("device") << QByteArray("{\"deviceProperties\": [nul], \"traceEvents\": []}")
                            << QByteArray("\"deviceProperties\" is no valid JSON");
  }
  void mistakes() {
    QFETCH(QByteArray, text);
    QFETCH(QByteArray, message);
    Files files;
    const std::string wrong = failure(files.write(text.toStdString()));
    QVERIFY2(wrong.starts_with("profile-format"), wrong.c_str());
    QVERIFY2(wrong.find(message.toStdString()) != std::string::npos, wrong.c_str());
    QVERIFY2(wrong.find("trace.json") != std::string::npos, wrong.c_str());
  }

  // A file that was cut anywhere has a message; a file with wrong bytes has one, or is read.
  void damaged_files() {
    Files files;
    const std::string text = small_trace().text();
    for (size_t length = 0; length + 2 < text.size(); length += 3)
      QVERIFY2(!failure(files.write(text.substr(0, length))).empty(), std::to_string(length).c_str());
    std::mt19937 random(3);
    for (int i = 0; i < 500; ++i) {
      std::string changed = text;
      for (int k = 0; k < 3; ++k) changed[random() % changed.size()] = static_cast<char>(random());
      read_profile(files.write(changed));
    }
  }

  void damaged_compression() {
    Files files;
    std::ifstream file(files.zip(small_trace().text()), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    const std::string cut = failure(files.write(bytes.substr(0, bytes.size() / 2)));
    QVERIFY2(cut.find("the gzip data ends too early") != std::string::npos, cut.c_str());
    std::string changed = bytes;
    changed[bytes.size() / 2] ^= 0x55;
    QVERIFY(!failure(files.write(changed)).empty());
    const std::string bomb = failure(files.zip(std::string(1 << 20, ' '), 100));
    QVERIFY2(bomb.find("expands more than") != std::string::npos, bomb.c_str());
  }

  void folders() {
    Files files;
    const auto none = profile_files({files.path()});
    QVERIFY(std::holds_alternative<Problem>(none));
    files.write("", "b.json");
    files.write("", "a.pt.trace.json.gz");
    files.write("", "notes.txt");
    const auto found = std::get<std::vector<std::string>>(profile_files({files.path(), "other"}));
    QCOMPARE(found, (std::vector<std::string>{files.path() + "/a.pt.trace.json.gz", files.path() + "/b.json",
                                              "other"}));
    const std::string missing = failure(files.path() + "/missing.json");
    QVERIFY2(missing.starts_with("file-unreadable"), missing.c_str());
  }
};

QTEST_APPLESS_MAIN(ProfileReaderTest)
#include "profile_reader_test.moc"
