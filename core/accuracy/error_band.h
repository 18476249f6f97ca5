// Bands of predictions. The band of a predicted value runs from low · value to high · value. The measured
// value lies inside for 80 % of runs that are exchangeable with the measured rows of the same case.
//
// Split conformal prediction (Vovk, Gammerman and Shafer, Algorithmic Learning in a Random World, 2005; Lei
// et al., arXiv 1604.04173, section 2.2): the rows of the case, and the new run as one more row, are equally
// likely in any order. So the limits are those rows of the sorted log ratios that leave at most 10 % on each
// side of n + 1 rows. The two sides may differ. Nine rows are the fewest whose range is an 80 % band.
//
// Rows of one set are not independent. A set with n rows of a case has the weight sqrt(n), in equal parts, so
// that a sweep of 1,600 rows weighs as much as 13 sets with nine rows. The new run has the mean weight of a
// row (weighted conformal prediction, Tibshirani et al., arXiv 1904.06019, section 2).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "accuracy/error_samples.h"
#include "accuracy/widening.h"

namespace shardscape {

inline constexpr double kBandCoverage = 0.8;
inline constexpr size_t kLeastBandRows = 9;
// Rows of one set say nothing of the errors of another code base on the same machine.
inline constexpr size_t kLeastBandSets = 2;

struct ErrorBand {
  double low = 1, high = 1;  // factors on the predicted value
  Widening widening = Widening::None;
  size_t rows = 0, sets = 0;
  std::string basis;  // "22 rows of 2 sets: NVIDIA B200 SXM, 16 bits, mixtures of experts"
  friend bool operator==(const ErrorBand&, const ErrorBand&) = default;
};

// The band of the first widening with enough rows and sets; of all rows, if they are of one set. Empty if
// even all rows are too few. The samples for which `use` is false do not count.
std::optional<ErrorBand> error_band(const std::vector<ErrorSample>& samples, BandMetric metric,
                                    const ErrorCase& of,
                                    const std::function<bool(const ErrorSample&)>& use = {});

// The bands of a valid design from error_samples(). time: of the step in training, of TTFT in prefill and of
// TPOT in decode. Inference has no band of memory, because no set measures it.
struct DesignBands {
  std::optional<ErrorBand> time, memory;
  friend bool operator==(const DesignBands&, const DesignBands&) = default;
};
DesignBands design_bands(const Design& design);

// The bands of a service on engines of this design, for the mean and the median of TTFT and of TPOT. The mode
// of the design has no effect.
struct ServiceBands {
  std::optional<ErrorBand> ttft, tpot;
};
ServiceBands service_bands(Design design);

// "8.41 s to 10.3 s": the band of a predicted value, each limit as `text` writes it. Empty without a band.
std::string band_text(double value, const std::optional<ErrorBand>& band,
                      const std::function<std::string(double)>& text);

// Whether the bands of two predicted values overlap. This is a tie of designs whose errors are independent:
// those of different workloads (ratio_errors.h). False without both bands.
bool bands_overlap(double a, const std::optional<ErrorBand>& of_a, double b,
                   const std::optional<ErrorBand>& of_b);
// Bytes by which the band of a predicted memory reaches over the capacity; 0: not at all, without a band, or
// if the capacity is 0 (not known).
int64_t bytes_over(int64_t predicted, int64_t capacity, const std::optional<ErrorBand>& band);

}  // namespace shardscape
