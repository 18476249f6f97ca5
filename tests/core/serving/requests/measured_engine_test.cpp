// The scheduler with given blocks and kernel times, against a recorded run of vLLM. Nothing is fitted.
#include <QFile>
#include <QtTest>
#include <array>
#include <cmath>
#include <map>

#include "serving/requests/service_results.h"
#include "support/request_cases.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

// The cells of all lines after the header. Lines with # are comments.
QList<QStringList> rows(const char* name) {
  QFile file(QString(SHARDSCAPE_TEST_DATA "/requests/") + name);
  QList<QStringList> out;
  if (!file.open(QIODevice::ReadOnly)) return out;
  for (const QString& line : QString::fromUtf8(file.readAll()).split('\n', Qt::SkipEmptyParts))
    if (!line.startsWith('#')) out << line.split(',');
  out.removeFirst();
  return out;
}

// Linear interpolation between measured points, and past the last two.
class Curve {
 public:
  void add(double x, double y) { points_[x] = y; }
  double at(double x) const {
    auto high = points_.upper_bound(x);
    if (high == points_.begin()) return high->second;
    if (high == points_.end()) --high;
    const auto low = std::prev(high);
    return low->second + (high->second - low->second) * (x - low->first) / (high->first - low->first);
  }

 private:
  std::map<double, double> points_;
};

// Kernel times of an RTX 4090. Steps of at most 512 tokens run as a CUDA graph of a captured size. The chunk
// with the most attention shares a kernel with the decode sequences, as in the measured grid; other chunks
// add their own times.
class MeasuredClock : public StepClock {
 public:
  MeasuredClock() {
    for (const QStringList& row : rows("rtx4090_llama3.1-8b_steps.csv")) {
      const double seconds = row[5].toDouble() * 1e-6;
      if (row[0] == "dense") dense_.add(row[1].toDouble(), seconds);
      if (row[0] == "sampled") sampled_.add(row[3].toDouble(), seconds);
      if (row[0] != "attention") continue;
      Place place;
      for (size_t k = 0; k < place.size(); ++k) {
        place[k] = row[static_cast<qsizetype>(k) + 1].toInt();
        if (std::find(axes_[k].begin(), axes_[k].end(), place[k]) == axes_[k].end())
          axes_[k].push_back(place[k]);
      }
      attention_[place] = seconds;
    }
    for (std::vector<int>& axis : axes_) std::sort(axis.begin(), axis.end());
  }

  double seconds(const StepBatch& batch) override {
    auto tokens = static_cast<double>(batch.decode_sequences);
    const PrefillChunk* largest = nullptr;
    const auto work = [](const PrefillChunk& chunk) { return chunk.tokens * (chunk.context + chunk.tokens); };
    for (const PrefillChunk& chunk : batch.chunks) {
      tokens += static_cast<double>(chunk.tokens);
      if (!largest || work(chunk) > work(*largest)) largest = &chunk;
    }
    const auto sequences = static_cast<double>(batch.decode_sequences);
    double out = dense_.at(captured(tokens)) + sampled_.at(static_cast<double>(batch.sampled));
    out += attention(largest, sequences,
                     sequences > 0 ? static_cast<double>(batch.decode_context) / sequences : 0);
    for (const PrefillChunk& chunk : batch.chunks)
      if (&chunk != largest) out += attention(&chunk, 0, 0);
    return out;
  }

 private:
  using Place = std::array<int, 4>;  // chunk, its context, decode sequences, context of each
  static double captured(double tokens) {
    if (tokens <= 4) return tokens == 3 ? 4 : tokens;
    const double part = tokens <= 256 ? 8 : 16;
    return tokens <= 512 ? std::ceil(tokens / part) * part : tokens;
  }
  double attention(const PrefillChunk* chunk, double sequences, double context) const {
    const std::array<double, 4> at{chunk ? static_cast<double>(chunk->tokens) : 0,
                                   chunk ? static_cast<double>(chunk->context) : 0, sequences, context};
    std::array<size_t, 4> low{};
    std::array<double, 4> part{};
    for (size_t k = 0; k < 4; ++k) {
      const std::vector<int>& axis = axes_[k];
      const auto above = std::upper_bound(axis.begin(), axis.end(), at[k]) - axis.begin();
      low[k] = static_cast<size_t>(std::clamp<int64_t>(above, 1, static_cast<int64_t>(axis.size()) - 1)) - 1;
      part[k] = (at[k] - axis[low[k]]) / (axis[low[k] + 1] - axis[low[k]]);
    }
    double sum = 0;
    for (unsigned corner = 0; corner < 16; ++corner) {
      double weight = 1;
      Place place{};
      for (size_t k = 0; k < 4; ++k) {
        const bool high = corner >> k & 1;
        weight *= high ? part[k] : 1 - part[k];
        place[k] = axes_[k][low[k] + high];
      }
      // Without a chunk or without sequences, their contexts are 0. Sequences have a context of at least 16.
      if (place[0] == 0) place[1] = 0;
      place[3] = place[2] == 0 ? 0 : std::max(place[3], 16);
      const auto found = attention_.find(place);
      if (found != attention_.end()) sum += weight * found->second;
    }
    return sum;
  }

  Curve dense_, sampled_;
  std::map<Place, double> attention_;
  std::array<std::vector<int>, 4> axes_;
};

struct Measured {
  Workload workload;
  std::vector<RequestRecord> requests;
};
Measured measured() {
  Measured out;
  Workload& w = out.workload;
  w.tokens_per_hash = 16;
  for (const QStringList& row : rows("rtx4090_llama3.1-8b_requests.csv")) {
    Request r = request(row[0].toDouble(), row[1].toInt(), row[2].toInt());
    const int shared = row[5].toInt() / 16;
    r.first_hash = static_cast<int64_t>(w.hashes.size());
    r.hashes = r.prompt / 16;
    for (int k = 0; k < r.hashes; ++k) {
      if (k < shared)
        w.hashes.push_back(w.hashes_of(w.requests[row[6].toUInt()])[static_cast<size_t>(k)]);
      else
        w.hashes.push_back(1000 * w.requests.size() + static_cast<uint64_t>(k));
    }
    w.requests.push_back(r);
    RequestRecord record;
    record.arrival = r.arrival;
    record.first_token = row[3].toDouble();
    record.last_token = row[4].toDouble();
    record.end = RequestEnd::Finished;
    out.requests.push_back(record);
  }
  return out;
}

EngineSettings recorded_settings() {
  EngineSettings out;
  out.num_gpu_blocks = 2588;
  out.max_num_batched_tokens = 2048;
  out.max_num_seqs = 256;
  out.max_model_len = 32768;
  return out;
}

// Places of requests by their first token.
std::vector<size_t> order(const std::vector<RequestRecord>& requests) {
  std::vector<size_t> out(requests.size());
  for (size_t i = 0; i < out.size(); ++i) out[i] = i;
  std::stable_sort(out.begin(), out.end(),
                   [&](size_t a, size_t b) { return requests[a].first_token < requests[b].first_token; });
  return out;
}

}  // namespace

class MeasuredEngineTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // The goals: TTFT mean 2 %, TPOT mean 1 %, medians and tails 3 %, 99 % of the order of first tokens.
  void latencies_equal_the_recorded_ones() {
    const Measured recorded = measured();
    QCOMPARE(recorded.requests.size(), size_t{300});
    RequestSimulation truth;
    truth.requests = recorded.requests;
    MeasuredClock clock;
    const RequestSimulation run = simulated(recorded.workload, recorded_settings(), clock);
    const ServiceResults a = service_results(recorded.workload, run),
                         b = service_results(recorded.workload, truth);
    QCOMPARE(a.finished, int64_t{300});
    const auto compare = [](const char* name, const Distribution& is, const Distribution& was, double mean) {
      for (const auto& [what, value, expected, limit] :
           {std::tuple{"mean", is.mean, was.mean, mean}, std::tuple{"p50", is.p50, was.p50, 0.03},
            std::tuple{"p90", is.p90, was.p90, 0.03}, std::tuple{"p99", is.p99, was.p99, 0.03}}) {
        const double error = value / expected - 1;
        qInfo("%s %s %.4f s, recorded %.4f s, %+.2f %%", name, what, value, expected, 100 * error);
        QVERIFY(std::abs(error) < limit);
      }
    };
    compare("TTFT", a.ttft, b.ttft, 0.02);
    compare("TPOT", a.tpot, b.tpot, 0.01);
    compare("E2E", a.e2e, b.e2e, 0.01);
    const std::vector<size_t> mine = order(run.requests), theirs = order(recorded.requests);
    int equal = 0;
    for (size_t i = 0; i < mine.size(); ++i) equal += mine[i] == theirs[i];
    QVERIFY2(equal >= 297, qPrintable(QString::number(equal)));
  }

  // The run depends on the limits that the scheduler keeps.
  void other_settings_give_other_latencies() {
    const Measured recorded = measured();
    MeasuredClock clock;
    const auto ttft = [&](const EngineSettings& settings) {
      return service_results(recorded.workload, simulated(recorded.workload, settings, clock)).ttft.mean;
    };
    EngineSettings settings = recorded_settings();
    const double mean = ttft(settings);
    settings.num_gpu_blocks = 3000;
    QVERIFY(ttft(settings) < 0.9 * mean);
    settings = recorded_settings();
    settings.max_num_seqs = 20;
    QVERIFY(ttft(settings) > 1.1 * mean);
  }
};

QTEST_APPLESS_MAIN(MeasuredEngineTest)
#include "measured_engine_test.moc"
