// Which measured rows count for a case with few rows of its own: those of similar cases, step by step.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "accuracy/error_case.h"

namespace shardscape {

// What a band with too few rows or sets of its case ignores, one step after the other: all scales, all kinds
// of models, all precisions, all accelerators of the family, all accelerators.
enum class Widening : uint8_t { None, Scale, Kind, Precision, Accelerator, Family };
inline constexpr std::array kWidenings{Widening::None,      Widening::Scale,       Widening::Kind,
                                       Widening::Precision, Widening::Accelerator, Widening::Family};

// Whether the rows of one case count for another case after these steps.
bool counts_for(const ErrorCase& row, const ErrorCase& of, Widening widening);
// "NVIDIA B200 SXM, 16 bits, mixtures of experts": the cases that count.
std::string widening_text(Widening widening, const ErrorCase& of);

}  // namespace shardscape
