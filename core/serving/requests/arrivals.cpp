#include "serving/requests/arrivals.h"

#include <cmath>
#include <optional>
#include <string>

#include "base/units.h"
#include "serving/requests/random.h"

namespace shardscape {
namespace {

constexpr uint64_t kArrivalStream = 1;

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
  if (!(arrivals.rate.back().last > 0))
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
  for (double& time : out) {
    switch (arrivals.kind) {
      case ArrivalKind::AllAtOnce: break;
      case ArrivalKind::Constant: amount += 1; break;
      case ArrivalKind::Poisson: amount += random.exponential(); break;
      case ArrivalKind::Gamma: amount += random.gamma(arrivals.burstiness) / arrivals.burstiness; break;
    }
    const auto whole = [&] { return pieces[k].seconds * (pieces[k].first + pieces[k].last) / 2; };
    while (k + 1 < pieces.size() && amount - before > whole()) {
      before += whole();
      start += pieces[k++].seconds;
    }
    // Past its end, the last piece goes on with its last rate.
    const bool beyond = k + 1 == pieces.size() && amount - before > whole();
    time = beyond ? start + pieces[k].seconds + (amount - before - whole()) / pieces[k].last
                  : start + seconds_of(pieces[k], amount - before);
  }
  return out;
}

}  // namespace shardscape
