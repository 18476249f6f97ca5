// Random numbers, arrivals, lengths, and files of requests.
#include <QTemporaryDir>
#include <QtTest>
#include <cmath>
#include <numeric>

#include "serving/requests/arrivals.h"
#include "serving/requests/lengths.h"
#include "serving/requests/random.h"
#include "serving/requests/trace_file.h"

using namespace shardscape;

namespace {

std::vector<double> times(const Arrivals& arrivals, int64_t count) {
  return std::get<std::vector<double>>(arrival_times(arrivals, count));
}

struct Moments {
  double mean = 0, variation = 0;  // standard deviation / mean
};
Moments moments(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double square = 0;
  for (const double value : values) square += (value - mean) * (value - mean);
  return {mean, std::sqrt(square / count) / mean};
}

std::vector<double> gaps(const std::vector<double>& times) {
  std::vector<double> out;
  for (size_t i = 1; i < times.size(); ++i) out.push_back(times[i] - times[i - 1]);
  return out;
}

bool near(double value, double expected, double relative) {
  return std::abs(value - expected) <= relative * std::abs(expected);
}

const char kHeader[] = "arrival_s,input_tokens,output_tokens,session,parent,block_hashes\n";

// gzip of kPlain up to its second row, and of the second row: two members of one file.
constexpr char kPlain[] = "arrival_s,input_tokens,output_tokens\n0,5,6\n1,7,8\n";
const QByteArray kGzipHead = QByteArray::fromHex(
    "1f8b08000000000002034b2c2aca2c4bcc892fd6c9cc2b282d892fc9cf4ecd2bd6c92f2d41f0b80c744c75ccb800e495c7142b00"
    "0000");
const QByteArray kGzipRow = QByteArray::fromHex("1f8b080000000000020333d431d7b1e00200d79d34d106000000");
// gzip of "input_length,output_length\n5,6\n".
const QByteArray kGzipLengths = QByteArray::fromHex(
    "1f8b0800000000000203cbcc2b282d89cf49cd4b2fc9d0c92f2d41f0b84c75ccb8006bad60401f000000");

void write(const std::string& path, const QByteArray& bytes) {
  QFile file(QString::fromStdString(path));
  QVERIFY(file.open(QIODevice::WriteOnly));
  QCOMPARE(file.write(bytes), bytes.size());
}

}  // namespace

class WorkloadTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // SplitMix64 with seed 1234567, as its reference implementation (Vigna, splitmix64.c) prints it.
  void bits_are_those_of_splitmix() {
    uint64_t state = 1234567;
    std::vector<uint64_t> values;
    for (int i = 0; i < 3; ++i) values.push_back(mixed_bits(state += 0x9e3779b97f4a7c15u));
    QCOMPARE(values[0], uint64_t{6457827717110365317u});
    QCOMPARE(values[1], uint64_t{3203168211198807973u});
    QCOMPARE(values[2], uint64_t{9817491932198370423u});
  }

  void logarithm_and_exponential_are_exact() {
    Random random(1);
    for (int i = 0; i < 100000; ++i) {
      const double x = std::exp(40 * random.uniform() - 20), y = 60 * random.uniform() - 30;
      QVERIFY(std::abs(portable_log(x) - std::log(x)) <= 2e-15 * std::max(1.0, std::abs(std::log(x))));
      QVERIFY(near(portable_exp(y), std::exp(y), 1e-14));
    }
  }

  // Bytes that must never change, whatever the machine and the compiler.
  void a_seed_gives_the_same_times() {
    const std::vector<double> poisson = times(steady_arrivals(ArrivalKind::Poisson, 2, 7), 1000);
    const std::vector<double> bursts = times(steady_arrivals(ArrivalKind::Gamma, 2, 7, 0.5), 1000);
    QCOMPARE(QString::number(poisson.back(), 'g', 17), QStringLiteral("517.64634155889507"));
    QCOMPARE(QString::number(bursts.back(), 'g', 17), QStringLiteral("502.06824679661349"));
    QVERIFY(poisson != times(steady_arrivals(ArrivalKind::Poisson, 2, 8), 1000));
    // A longer run only appends.
    const std::vector<double> longer = times(steady_arrivals(ArrivalKind::Poisson, 2, 7), 1500);
    QVERIFY(std::equal(poisson.begin(), poisson.end(), longer.begin()));
  }

  // The coefficient of variation of gamma gaps is 1 / sqrt(burstiness).
  void gaps_have_their_rate_and_burstiness_data() {
    QTest::addColumn<int>("kind");
    QTest::addColumn<double>("burstiness");
    QTest::addColumn<double>("variation");
    QTest::newRow("constant") << int(ArrivalKind::Constant) << 1.0 << 0.0;
    QTest::newRow("poisson") << int(ArrivalKind::Poisson) << 1.0 << 1.0;
    QTest::newRow("gamma 1") << int(ArrivalKind::Gamma) << 1.0 << 1.0;
    QTest::newRow("gamma 1/4") << int(ArrivalKind::Gamma) << 0.25 << 2.0;
    QTest::newRow("gamma 4") << int(ArrivalKind::Gamma) << 4.0 << 0.5;
  }
  void gaps_have_their_rate_and_burstiness() {
    QFETCH(int, kind);
    QFETCH(double, burstiness);
    QFETCH(double, variation);
    const Moments all = moments(
        gaps(times(steady_arrivals(static_cast<ArrivalKind>(kind), 5, 3, burstiness), 200000)));
    QVERIFY(near(all.mean, 0.2, 0.015));
    QVERIFY(std::abs(all.variation - variation) < 0.03 * std::max(1.0, variation));
  }

  // 10 s at 1 per s, 2 s at 5 per s, and again: 20 arrivals in each period.
  void rates_repeat() {
    auto pieces = rate_pieces({10, 1, 10, 5}, 12, "rate");
    Arrivals arrivals{ArrivalKind::Constant, std::get<std::vector<RatePiece>>(pieces), 1, 0, true};
    const std::vector<double> at = times(arrivals, 100);
    for (int period = 0; period < 5; ++period) {
      QVERIFY(near(at[static_cast<size_t>(20 * period + 9)], 12 * period + 10, 1e-12));
      QVERIFY(near(at[static_cast<size_t>(20 * period + 14)], 12 * period + 11, 1e-12));
      QVERIFY(near(at[static_cast<size_t>(20 * period + 19)], 12 * period + 12, 1e-12));
    }
    // A ramp between points, then the last rate without an end.
    pieces = rate_pieces({0, 0, 10, 2}, 0, "rate");
    arrivals.rate = std::get<0>(pieces);
    arrivals.repeats = false;
    QVERIFY(near(times(arrivals, 20)[9], 10, 1e-12) && near(times(arrivals, 20)[19], 15, 1e-12));
  }
  void points_of_a_rate_are_checked_data() {
    QTest::addColumn<QList<double>>("points");
    QTest::addColumn<double>("period");
    QTest::newRow("none") << QList<double>{} << 0.0;
    QTest::newRow("no pair") << QList<double>{0, 1, 2} << 0.0;
    QTest::newRow("time goes back") << QList<double>{5, 1, 4, 1} << 0.0;
    QTest::newRow("negative rate") << QList<double>{0, -1} << 0.0;
    QTest::newRow("after the period") << QList<double>{0, 1, 20, 1} << 10.0;
  }
  void points_of_a_rate_are_checked() {
    QFETCH(QList<double>, points);
    QFETCH(double, period);
    const auto read = rate_pieces({points.begin(), points.end()}, period, "rate_profile");
    QVERIFY(std::holds_alternative<Problem>(read));
    QCOMPARE(std::get<Problem>(read).code, ProblemCode::WorkloadInvalid);
    QCOMPARE(std::get<Problem>(read).where, std::string("rate_profile"));
    QVERIFY(
        std::holds_alternative<Problem>(arrival_times({ArrivalKind::Poisson, {{5, 0, 0}}, 1, 0, true}, 1)));
  }

  // Three turns: prompts grow by the answer and the new tokens; the last session is short.
  void sessions_have_growing_prompts() {
    Workload w = closed_loop(2, std::vector<RequestLength>(3000, {10, 5}));
    form_sessions(w, 3, 4, 1);
    double sum = 0;
    for (size_t i = 0; i < w.requests.size(); ++i) {
      const Request& r = w.requests[i];
      const auto turn = static_cast<int32_t>(i % 3);
      QCOMPARE(r.parent, turn == 0 ? -1 : static_cast<int32_t>(i) - 1);
      QCOMPARE(r.session, static_cast<int32_t>(i / 3));
      QCOMPARE(r.prompt, 10 + 15 * turn);
      if (turn > 0) sum += r.arrival;
    }
    QVERIFY(near(sum / 2000, 4, 0.1));
  }

  // 10 s at 2 per s, a ramp to 6 per s over 10 s, then 1 per s: 20 + 40 arrivals, and one per second.
  void rates_have_steps_and_ramps() {
    Arrivals arrivals{ArrivalKind::Constant, {{10, 2, 2}, {10, 2, 6}, {0, 1, 1}}, 1, 0};
    const std::vector<double> at = times(arrivals, 65);
    QCOMPARE(at[19], 10.0);
    QVERIFY(near(at[59], 20, 1e-12));
    QVERIFY(near(at[64], 25, 1e-12));
    // The ramp: 2 t + 0.2 t^2 arrivals after t seconds; 12 at t = 3.66.
    QVERIFY(near(at[31], 10 + (-2 + std::sqrt(4 + 0.8 * 12)) / 0.4, 1e-12));
    arrivals.kind = ArrivalKind::Poisson;
    const auto count = [&](double from, double to) {
      double sum = 0;
      for (uint64_t seed = 0; seed < 200; ++seed) {
        arrivals.seed = seed;
        for (const double t : times(arrivals, 100)) sum += t >= from && t < to;
      }
      return sum / 200;
    };
    QVERIFY(near(count(0, 10), 20, 0.06));
    QVERIFY(near(count(10, 15), 15, 0.06));  // rates 2 to 4
    QVERIFY(near(count(15, 20), 25, 0.06));  // rates 4 to 6
  }

  void impossible_rates_are_refused() {
    for (const Arrivals& arrivals :
         {Arrivals{ArrivalKind::Poisson, {}, 1, 0}, steady_arrivals(ArrivalKind::Poisson, 0),
          steady_arrivals(ArrivalKind::Constant, -1), steady_arrivals(ArrivalKind::Gamma, 1, 0, 0)}) {
      const auto result = arrival_times(arrivals, 3);
      QVERIFY(std::holds_alternative<Problem>(result));
      QCOMPARE(std::get<Problem>(result).code, ProblemCode::WorkloadInvalid);
    }
    QCOMPARE(times(steady_arrivals(ArrivalKind::AllAtOnce, 0), 3), std::vector<double>(3, 0));
  }

  void lengths_follow_their_rule() {
    const LengthRule fixed{LengthKind::Fixed, 128}, uniform{LengthKind::Uniform, 1000, 0.8, 0},
        log_normal{LengthKind::LogNormal, 500, 1, 0.7};
    const auto rows = std::get<std::vector<RequestLength>>(drawn_lengths(uniform, log_normal, 50000, 5));
    std::vector<double> prompts, outputs;
    for (const RequestLength& row : rows) {
      QVERIFY(row.prompt >= 800 && row.prompt <= 1000 && row.output >= 1);
      prompts.push_back(row.prompt);
      outputs.push_back(row.output);
    }
    QVERIFY(near(moments(prompts).mean, 900, 0.002));
    QVERIFY(near(moments(outputs).mean, 500, 0.015));
    QVERIFY(near(moments(outputs).variation, std::sqrt(std::exp(0.49) - 1), 0.05));
    // Prompts and outputs come from streams of their own.
    const auto other = std::get<std::vector<RequestLength>>(drawn_lengths(uniform, fixed, 50000, 5));
    QCOMPARE(other[777].prompt, rows[777].prompt);
    QCOMPARE(other[777].output, 128);
    QCOMPARE(std::get<Problem>(drawn_lengths(fixed, {LengthKind::Fixed, 0}, 1, 0)).code,
             ProblemCode::WorkloadInvalid);
  }

  void data_sets_are_read_and_sampled() {
    QTemporaryDir folder;
    const std::filesystem::path path = folder.filePath("lengths.csv").toStdString();
    const auto write = [&](const char* text) {
      QFile file(QString::fromStdString(path.string()));
      QVERIFY(file.open(QIODevice::WriteOnly));
      file.write(text);
    };
    write("input_length,output_length\n10,20\n\n30,40\r\n");
    const auto rows = std::get<std::vector<RequestLength>>(read_lengths(path));
    QCOMPARE(rows, (std::vector<RequestLength>{{10, 20}, {30, 40}}));
    const auto drawn = sampled_lengths(rows, 1000, 2);
    const auto first = std::count(drawn.begin(), drawn.end(), rows[0]);
    QVERIFY(first > 400 && first < 600 && std::count(drawn.begin(), drawn.end(), rows[1]) == 1000 - first);
    write("input_length,output_length\n10,20\n30,0\n");
    const Problem problem = std::get<Problem>(read_lengths(path));
    QCOMPARE(problem.code, ProblemCode::TraceLineInvalid);
    QCOMPARE(problem.where, std::string("lengths.csv:3"));
    // Data sets of conversations have empty answers.
    QCOMPARE(std::get<std::vector<RequestLength>>(read_lengths(path, 0, true)),
             (std::vector<RequestLength>{{10, 20}, {30, 0}}));
  }

  void csv_traces_are_read() {
    const auto trace = std::get<Workload>(parse_trace(
        std::string(kHeader) + "0.5,1100,20,a,,7 8 9\n\n 1, 30, 5, b, ,\n2.5,1200,10,a,0,7-9\n", "t.csv"));
    QCOMPARE(trace.requests.size(), size_t{3});
    QCOMPARE(trace.tokens_per_hash, 512);
    QCOMPARE(trace.requests[0].arrival, 0.5);
    QCOMPARE(trace.requests[0].parent, -1);
    QCOMPARE(trace.requests[1].prompt, 30);
    QCOMPARE(trace.requests[1].output, 5);
    QCOMPARE(trace.requests[1].hashes, 0);
    QCOMPARE(trace.requests[2].parent, 0);
    QCOMPARE(trace.requests[2].session, trace.requests[0].session);
    QVERIFY(trace.requests[1].session != trace.requests[0].session);
    const auto first = trace.hashes_of(trace.requests[0]), last = trace.hashes_of(trace.requests[2]);
    QVERIFY(std::equal(first.begin(), first.end(), last.begin(), last.end()) && first.size() == 3);
    const auto sized = std::get<Workload>(
        parse_trace("block_hashes_16,output_tokens,input_tokens,arrival_s\n1 2,4,32,0\n", "t.csv"));
    QCOMPARE(sized.tokens_per_hash, 16);
    QCOMPARE(sized.requests[0].hashes, 2);
    QCOMPARE(sized.requests[0].prompt, 32);
  }

  void mooncake_and_json_traces_are_read() {
    const auto mooncake = std::get<Workload>(parse_trace(
        R"({"timestamp": 27482, "input_length": 6955, "output_length": 52, "hash_ids": [46, 47, 2353]})"
        "\n"
        R"({"timestamp": 30535, "input_length": 600, "output_length": 26, "hash_ids": [46]})",
        "conversation.jsonl"));
    QCOMPARE(mooncake.requests[0].arrival, 27.482);
    QCOMPARE(mooncake.requests[0].hashes, 3);
    QCOMPARE(mooncake.hashes_of(mooncake.requests[1])[0], uint64_t{46});
    const auto array = std::get<Workload>(
        parse_trace(R"([{"input_tokens": 5, "output_tokens": 6}, {"input_tokens": 7, "output_tokens": 8,
                        "arrival_s": 1.5}])",
                    "t.json"));
    QCOMPARE(array.requests[1].arrival, 1.5);
    QCOMPARE(array.requests[1].prompt, 7);
  }

  // Columns of published traces: Azure has dates, BurstGPT has seconds.
  void published_columns_are_read() {
    const auto azure = std::get<Workload>(
        parse_trace("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 23:59:59.7500000,374,44\n"
                    "2023-11-17 00:00:01.0000000,396,109\n",
                    "azure.csv"));
    QCOMPARE(azure.requests[0].arrival, 0.0);
    QCOMPARE(azure.requests[1].arrival, 1.25);
    QCOMPARE(azure.requests[1].prompt, 396);
    QCOMPARE(azure.requests[1].output, 109);
    const auto later = std::get<Workload>(
        parse_trace("TIMESTAMP,ContextTokens,GeneratedTokens\n2024-05-10 00:00:03.5+00:00,1,2\n"
                    "2024-05-10T00:00:03.009930Z,3,4\n",
                    "azure.csv"));
    QVERIFY(std::abs(later.requests[0].arrival - 0.49007) < 1e-9 && later.requests[1].arrival == 0);
    const auto burst = std::get<Workload>(
        parse_trace("Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
                    "5,ChatGPT,472,18,490,Conversation log\n45,GPT-4,1087,230,1317,API log\n",
                    "burst.csv"));
    QCOMPARE(burst.requests[1].arrival, 45.0);
    QCOMPARE(burst.requests[1].prompt, 1087);
    const auto wrong = [](const char* line) {
      const auto read = parse_trace(std::string("TIMESTAMP,ContextTokens,GeneratedTokens\n") + line, "t.csv");
      const auto* problem = std::get_if<Problem>(&read);
      return problem ? problem->where : std::string();
    };
    for (const char* line : {"2023-02-30 00:00:00,1,2", "2023-02-03,1,2", "2023-02-03 24:00:00,1,2",
                             "2023-02-03 00:00:00+02:00,1,2", "7,1,2"})
      QCOMPARE(wrong(line), std::string("t.csv:2"));
  }

  // Results of vllm bench: with start_times a trace, without them lengths. Failed requests are named.
  void results_of_vllm_bench_are_read() {
    const auto trace = std::get<Workload>(parse_trace(
        R"({"duration": 9, "input_lens": [100, 200], "output_lens": [5, 6], "start_times": [12.5, 11.0]})",
        "b"));
    QCOMPARE(trace.requests[0].arrival, 1.5);
    QCOMPARE(trace.requests[1].arrival, 0.0);
    QCOMPARE(trace.requests[1].prompt, 200);
    const auto problem_of = [](const char* text) { return std::get<Problem>(parse_trace(text, "b")); };
    QVERIFY(problem_of(R"({"input_lens": [100], "output_lens": [5]})").what.find("start_times") !=
            std::string::npos);
    QCOMPARE(problem_of(R"({"input_lens": [1, 2], "output_lens": [5, 0], "start_times": [0, 1]})").where,
             std::string("b: request 1"));
    QCOMPARE(
        problem_of(R"({"input_lens": [1], "output_lens": [5], "start_times": [0], "errors": ["x"]})").where,
        std::string("b: request 0"));
    QCOMPARE(problem_of(R"({"input_lens": [1], "output_lens": [5, 6]})").where, std::string("b"));
    QTemporaryDir folder;
    const std::string path = folder.filePath("lengths.json").toStdString();
    write(path, R"({"input_lens": [100, 200], "output_lens": [5, 6]})");
    QCOMPARE(std::get<std::vector<RequestLength>>(read_lengths(path)),
             (std::vector<RequestLength>{{100, 5}, {200, 6}}));
    // Texts have the tokens that the setting gives them; code points count.
    write(path, R"([{"conversations": [{"from": "human", "value": "123456789"}, {"value": "äöü"}]},
                    {"conversations": [{"value": "alone"}]}])");
    QCOMPARE(std::get<std::vector<RequestLength>>(read_lengths(path, 4)),
             (std::vector<RequestLength>{{3, 1}}));
    QCOMPARE(std::get<Problem>(read_lengths(path)).where, std::string("characters_per_token"));
    write(path, R"([{"text": 3}])");
    QCOMPARE(std::get<Problem>(read_lengths(path, 4)).where, std::string("lengths.json: request 0"));
  }

  // The name of the file does not matter. Members of a gzip file follow each other.
  void compressed_files_equal_plain_ones() {
    QTemporaryDir folder;
    const std::string path = folder.filePath("trace").toStdString();
    write(path, kGzipHead + kGzipRow);
    const auto zipped = std::get<Workload>(read_trace(path)),
               plain = std::get<Workload>(parse_trace(kPlain, "t"));
    QCOMPARE(zipped.requests.size(), size_t{2});
    for (size_t i = 0; i < 2; ++i) {
      QCOMPARE(zipped.requests[i].arrival, plain.requests[i].arrival);
      QCOMPARE(zipped.requests[i].prompt, plain.requests[i].prompt);
      QCOMPARE(zipped.requests[i].output, plain.requests[i].output);
    }
    write(path, kGzipLengths);
    QCOMPARE(std::get<std::vector<RequestLength>>(read_lengths(path)), (std::vector<RequestLength>{{5, 6}}));
  }
  void broken_gzip_files_are_refused_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QByteArray>("what");
    QTest::newRow("cut") << kGzipHead.left(30) << QByteArray("ends too early");
    QTest::newRow("header only") << kGzipHead.left(2) << QByteArray("ends too early");
    QTest::newRow("second member cut") << kGzipHead + kGzipRow.left(20) << QByteArray("ends too early");
    QByteArray damaged = kGzipHead;
    damaged[damaged.size() - 8] = static_cast<char>(damaged[damaged.size() - 8] + 1);  // its checksum
    QTest::newRow("checksum") << damaged << QByteArray("damaged");
    QTest::newRow("no member after the first") << kGzipHead + "1,7,8\n" << QByteArray("damaged");
  }
  void broken_gzip_files_are_refused() {
    QFETCH(QByteArray, bytes);
    QFETCH(QByteArray, what);
    QTemporaryDir folder;
    const std::string path = folder.filePath("trace.csv.gz").toStdString();
    write(path, bytes);
    for (const Problem& problem :
         {std::get<Problem>(read_trace(path)), std::get<Problem>(read_lengths(path))}) {
      QCOMPARE(problem.code, ProblemCode::FileUnreadable);
      QCOMPARE(problem.where, path);
      QVERIFY2(problem.what.find(what.toStdString()) != std::string::npos, problem.what.c_str());
    }
  }

  // Every bad line is refused with its place; nothing is skipped.
  void bad_lines_are_refused_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("where");
    QTest::addColumn<QByteArray>("what");
    const auto row = [](const char* name, QByteArray text, const char* where, const char* what) {
      QTest::newRow(name) << std::move(text) << QByteArray(where) << QByteArray(what);
    };
    row("empty", "", "t:0", "is empty");
    row("no header", "1,2,3\n", "t:1", "\"1\"");
    row("unknown column", "arrival_s,input_tokens,output_tokens,colour\n", "t:1", "colour");
    row("missing column", "arrival_s,input_tokens\n", "t:1", "output_tokens");
    row("column twice", "arrival_s,arrival_s,input_tokens,output_tokens\n", "t:1", "twice");
    row("no requests", kHeader, "t:1", "no request");
    row("too few values", QByteArray(kHeader) + "0,1,2,,,\n1,2,3\n", "t:3", "3 values");
    row("negative arrival", QByteArray(kHeader) + "-1,1,2,,,\n", "t:2", "-1");
    row("arrival without end", QByteArray(kHeader) + "inf,1,2,,,\n", "t:2", "inf");
    row("no tokens", QByteArray(kHeader) + "1,0,2,,,\n", "t:2", "\"0\"");
    row("half a token", QByteArray(kHeader) + "1,2.5,2,,,\n", "t:2", "2.5");
    row("parent after child", QByteArray(kHeader) + "1,2,2,,0,\n", "t:2", "earlier row");
    row("hash of letters", QByteArray(kHeader) + "1,2,2,,,ab\n", "t:2", "ab");
    row("range backwards", QByteArray(kHeader) + "1,2000,2,,,4-2\n", "t:2", "4-2");
    row("more hashes than blocks", QByteArray(kHeader) + "1,512,2,,,1 2\n", "t:2", "2 hashes");
    row("mooncake line", "{\"timestamp\": 1, \"input_length\": 5, \"output_length\": 2}\n{\"timestamp\": 1}",
        "t:2", "input_length");
    row("mooncake cut", "{\"timestamp\": 1, \"input_le", "t:1", "JSON");
    row("mooncake hash", "{\"timestamp\": 1, \"input_length\": 5, \"output_length\": 2, \"hash_ids\": [-1]}",
        "t:1", "hash");
    row("conversation", R"([{"id": "x", "conversations": []}])", "t: element 0", "without a time");
    row("array", R"([{"input_tokens": 4, "output_tokens": 5}, {"input_tokens": 4}])", "t: element 1",
        "output_tokens");
    row("empty array", "[]", "t: element 0", "no request");
  }
  void bad_lines_are_refused() {
    QFETCH(QByteArray, text);
    QFETCH(QByteArray, where);
    QFETCH(QByteArray, what);
    const auto result = parse_trace(text.toStdString(), "t");
    QVERIFY(std::holds_alternative<Problem>(result));
    const Problem& problem = std::get<Problem>(result);
    QCOMPARE(problem.code, ProblemCode::TraceLineInvalid);
    QCOMPARE(problem.where, where.toStdString());
    QVERIFY2(problem.what.find(what.toStdString()) != std::string::npos, problem.what.c_str());
    QVERIFY(!problem.accepted.empty());
  }
};

QTEST_APPLESS_MAIN(WorkloadTest)
#include "workload_test.moc"
