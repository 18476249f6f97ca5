#include "serving/requests/arrivals.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "base/units.h"
#include "serving/requests/random.h"

namespace shardscape {
namespace {

constexpr uint64_t kArrivalStream = 1;
constexpr double kManyPeriods = 16;

// Requests: the integral of the rate over all pieces.
double of_one_period(const std::vector<RatePiece>& pieces) {
  double sum = 0;
  for (const RatePiece& piece : pieces) sum += piece.seconds * (piece.first + piece.last) / 2;
  return sum;
}

std::optional<Problem> mistake(const Arrivals& arrivals) {
  const auto problem = [](std::string where, std::string what, std::string accepted) {
    return Problem(ProblemCode::WorkloadInvalid, std::move(where), std::move(what), std::move(accepted));
  };
  if (!(arrivals.burstiness > 0) || !std::isfinite(arrivals.burstiness))
    return problem("burstiness", "the burstiness is " + significant(arrivals.burstiness),
                   "a number above 0; 1 is a Poisson process");
  if (arrivals.kind == ArrivalKind::AllAtOnce) return std::nullopt;
  if (arrivals.rate.empty()) return problem("rate", "no request rate is given", "requests per second");
  for (const RatePiece& piece : arrivals.rate) {
    const bool finite = std::isfinite(piece.first) && std::isfinite(piece.last) &&
                        std::isfinite(piece.seconds);
    if (!finite || piece.first < 0 || piece.last < 0 || piece.seconds < 0)
      return problem("rate",
                     "the rate goes from " + significant(piece.first) + " to " + significant(piece.last) +
                         " requests per second in " + significant(piece.seconds) + " s",
                     "rates and times of at least 0");
  }
  const bool any = std::any_of(arrivals.rate.begin(), arrivals.rate.end(), [](const RatePiece& piece) {
    return piece.seconds > 0 && piece.first + piece.last > 0;
  });
  if (arrivals.repeats && !any)
    return problem("rate", "the rate is always 0, so the run never ends", "a rate above 0");
  constexpr double kLeastOfPeriod = 1e-3;  // requests
  if (arrivals.repeats && of_one_period(arrivals.rate) < kLeastOfPeriod)
    return problem("rate",
                   "a period of the rates has " + significant(of_one_period(arrivals.rate)) + " requests",
                   "a period with at least " + significant(kLeastOfPeriod) + " requests");
  if (!arrivals.repeats && !(arrivals.rate.back().last > 0))
    return problem("rate", "the last rate is 0, so the run never ends", "a last rate above 0");
  return std::nullopt;
}

// Seconds from the start of the piece at which the integral of the rate reaches `amount`.
double seconds_of(const RatePiece& piece, double amount) {
  const double slope = piece.seconds > 0 ? (piece.last - piece.first) / piece.seconds : 0;
  // first t + slope t^2 / 2 = amount, in the form that does not cancel.
  const double root = std::sqrt(std::fmax(0, piece.first * piece.first + 2 * slope * amount));
  return amount > 0 ? 2 * amount / (piece.first + root) : 0;
}

}  // namespace

Result<std::vector<RatePiece>> rate_pieces(const std::vector<double>& points, double period,
                                           const char* where) {
  const auto problem = [&](std::string what, std::string accepted) {
    return Problem(ProblemCode::WorkloadInvalid, where, std::move(what), std::move(accepted));
  };
  if (points.size() < 2 || points.size() % 2 > 0)
    return problem(grouped(static_cast<Wide>(points.size())) + " numbers", "pairs of seconds and rate");
  std::vector<RatePiece> out;
  double time = 0, rate = points[1];
  for (size_t i = 0; i < points.size(); i += 2) {
    const double to = points[i], next = points[i + 1];
    if (!(to >= time) || !std::isfinite(to))
      return problem("the time " + significant(to) + " s follows " + significant(time) + " s",
                     "ascending times of at least 0");
    if (!(next >= 0) || !std::isfinite(next))
      return problem("the rate is " + significant(next), "a number of at least 0");
    if (to > time) out.push_back({to - time, rate, next});
    time = to;
    rate = next;
  }
  if (period > 0 && period < time)
    return problem(
        "the last time " + significant(time) + " s is after the period of " + significant(period) + " s",
        "times within the period");
  if (period == 0 || period > time) out.push_back({period > 0 ? period - time : 0, rate, rate});
  return out;
}

Arrivals steady_arrivals(ArrivalKind kind, double rate, uint64_t seed, double burstiness) {
  return {kind, {{0, rate, rate}}, burstiness, seed};
}

Result<std::vector<double>> arrival_times(const Arrivals& arrivals, int64_t count) {
  if (auto problem = mistake(arrivals)) return *std::move(problem);
  std::vector<double> out(static_cast<size_t>(count), 0);
  if (arrivals.kind == ArrivalKind::AllAtOnce) return out;
  Random random(arrivals.seed, kArrivalStream);
  size_t k = 0;
  double amount = 0;             // the integral of the rate up to the arrival
  double start = 0, before = 0;  // of the current piece: its first second, the integral there
  const std::vector<RatePiece>& pieces = arrivals.rate;
  const double per_period = of_one_period(pieces);
  const double period = std::accumulate(
      pieces.begin(), pieces.end(), 0.0,
      [](double sum, const RatePiece& piece) { return sum + piece.seconds; });
  for (double& time : out) {
    switch (arrivals.kind) {
      case ArrivalKind::AllAtOnce: break;
      case ArrivalKind::Constant: amount += 1; break;
      case ArrivalKind::Poisson: amount += random.exponential(); break;
      case ArrivalKind::Gamma: amount += random.gamma(arrivals.burstiness) / arrivals.burstiness; break;
    }
    const auto whole = [&] { return pieces[k].seconds * (pieces[k].first + pieces[k].last) / 2; };
    while ((arrivals.repeats || k + 1 < pieces.size()) && amount - before > whole()) {
      // Many periods without an arrival are one step.
      if (const double periods = std::floor((amount - before) / per_period);
          arrivals.repeats && k == 0 && periods > kManyPeriods) {
        before += periods * per_period;
        start += periods * period;
        continue;
      }
      before += whole();
      start += pieces[k].seconds;
      k = k + 1 == pieces.size() ? 0 : k + 1;
    }
    // Past its end, the last piece goes on with its last rate.
    const bool beyond = !arrivals.repeats && k + 1 == pieces.size() && amount - before > whole();
    time = beyond ? start + pieces[k].seconds + (amount - before - whole()) / pieces[k].last
                  : start + seconds_of(pieces[k], amount - before);
  }
  return out;
}

}  // namespace shardscape
