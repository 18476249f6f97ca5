#include "serving/requests/service_results.h"

#include <algorithm>
#include <cmath>

namespace shardscape {
namespace {

// value(i): the i-th smallest of `count` values.
template <class Value>
double percentile(int64_t count, double share, const Value& value) {
  const double place = share * static_cast<double>(count - 1), floor = std::floor(place);
  const auto i = static_cast<int64_t>(floor);
  const double low = value(i), high = value(std::min(i + 1, count - 1));
  return low + (high - low) * (place - floor);
}

template <class Value>
Distribution summary(int64_t count, double sum, const Value& value) {
  Distribution out;
  out.count = count;
  if (count == 0) return out;
  out.mean = sum / static_cast<double>(count);
  out.p50 = percentile(count, 0.5, value);
  out.p90 = percentile(count, 0.9, value);
  out.p95 = percentile(count, 0.95, value);
  out.p99 = percentile(count, 0.99, value);
  return out;
}

}  // namespace

Distribution distribution(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  double sum = 0;
  for (const double value : values) sum += value;
  return summary(static_cast<int64_t>(values.size()), sum,
                 [&](int64_t i) { return values[static_cast<size_t>(i)]; });
}

Distribution distribution(std::vector<TokenGap> gaps) {
  std::sort(gaps.begin(), gaps.end(),
            [](const TokenGap& a, const TokenGap& b) { return a.seconds < b.seconds; });
  double sum = 0;
  int64_t count = 0;
  for (TokenGap& gap : gaps) {
    sum += gap.seconds * static_cast<double>(gap.chunks);
    gap.chunks = count += gap.chunks;  // from here: gaps up to this length
  }
  return summary(count, sum, [&](int64_t i) {
    return std::upper_bound(gaps.begin(), gaps.end(), i,
                            [](int64_t place, const TokenGap& gap) { return place < gap.chunks; })
        ->seconds;
  });
}

ServiceResults service_results(const Workload& workload, const RequestSimulation& simulation,
                               const RequestLimits& limits) {
  ServiceResults out;
  std::vector<double> ttft, tpot, e2e, queueing, transfer, transfer_wait;
  double first = 0, last = 0;
  int64_t input = 0, output = 0, good = 0, cached = 0, host = 0, disk = 0, loads = 0;
  for (size_t i = 0; i < simulation.requests.size(); ++i) {
    const RequestRecord& record = simulation.requests[i];
    const Request& request = workload.requests[i];
    out.restarts += record.restarts;
    if (record.end != RequestEnd::Finished) {
      out.refused += record.end != RequestEnd::Pending;
      continue;
    }
    first = out.finished == 0 ? record.arrival : std::min(first, record.arrival);
    last = std::max(last, record.last_token);
    ++out.finished;
    ttft.push_back(record.first_token - record.arrival);
    e2e.push_back(record.last_token - record.arrival);
    queueing.push_back(record.scheduled - record.arrival);
    if (record.prefill_replica >= 0) {
      transfer.push_back(record.transfer_end - record.transfer_begin);
      transfer_wait.push_back(record.transfer_begin - record.prefilled);
    }
    if (request.output > 1) tpot.push_back((e2e.back() - ttft.back()) / (request.output - 1));
    input += request.prompt;
    output += request.output;
    cached += record.cached;
    host += record.from_host;
    disk += record.from_disk;
    loads += record.from_host + record.from_disk > 0;
    out.load_seconds += record.load_seconds;
    out.preemptions += record.preemptions;
    good += !(limits.ttft && ttft.back() > *limits.ttft) && !(limits.e2e && e2e.back() > *limits.e2e) &&
            !(limits.tpot && request.output > 1 && tpot.back() > *limits.tpot);
  }
  out.seconds = last - first;
  const auto rate = [&](int64_t count) {
    return out.seconds > 0 ? static_cast<double>(count) / out.seconds : 0;
  };
  out.requests_per_second = rate(out.finished);
  out.input_per_second = rate(input);
  out.output_per_second = rate(output);
  out.goodput = rate(good);
  const auto share = [&](int64_t tokens) {
    return input > 0 ? static_cast<double>(tokens) / static_cast<double>(input) : 0;
  };
  out.prefix_hits = share(cached);
  out.host_hits = share(host);
  out.disk_hits = share(disk);
  out.loaded_tokens = host + disk;
  if (loads > 0) out.load_seconds /= static_cast<double>(loads);
  if (simulation.usable_blocks > 0) {
    const auto usable = static_cast<double>(simulation.usable_blocks);
    out.mean_cache = simulation.mean_blocks / usable;
    out.peak_cache = static_cast<double>(simulation.peak_blocks) / usable;
  }
  if (const DraftCounts& drafts = simulation.drafts; drafts.drafts > 0) {
    out.acceptance_length = 1;
    for (const int64_t accepted : drafts.accepted) {
      const double share = static_cast<double>(accepted) / static_cast<double>(drafts.drafts);
      out.acceptance_per_position.push_back(share);
      out.acceptance_length += share;
    }
  }
  out.ttft = distribution(std::move(ttft));
  out.tpot = distribution(std::move(tpot));
  out.e2e = distribution(std::move(e2e));
  out.queueing = distribution(std::move(queueing));
  out.transfer = distribution(std::move(transfer));
  out.transfer_wait = distribution(std::move(transfer_wait));
  out.waited_for_receiver = simulation.waited_for_receiver;
  out.itl = distribution(simulation.gaps);
  return out;
}

}  // namespace shardscape
