#include "ui/toolkit/value_scale.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace shardscape::ui {
namespace {

ValueScale fitting_scale(double largest, double base, std::span<const char* const> units) {
  ValueScale scale{1, QString::fromLatin1(units.front())};
  for (size_t unit = 1; unit < units.size() && std::fabs(largest) >= scale.divisor * base; ++unit) {
    scale.divisor *= base;
    scale.unit = QString::fromLatin1(units[unit]);
  }
  return scale;
}

// With the minus sign "−" (U+2212) in place of the hyphen.
QString with_minus(const std::string& number) {
  QString text = QString::fromStdString(number);
  if (text.startsWith(u'-')) text[0] = QChar(0x2212);
  return text;
}

}  // namespace

ValueScale byte_scale(double largest, UnitSystem units) {
  static constexpr const char* binary[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"};
  static constexpr const char* decimal[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"};
  return units == UnitSystem::Binary ? fitting_scale(largest, 1024, binary)
                                     : fitting_scale(largest, 1000, decimal);
}

ValueScale rank_memory_scale(double largest, UnitSystem units) {
  constexpr double kGib = 1024.0 * 1024 * 1024;
  return byte_scale(std::min(largest, kGib), units);
}

ValueScale seconds_scale(double largest) {
  if (largest >= 1) return {1, QStringLiteral("s")};
  return largest >= 1e-3 ? ValueScale{1e-3, QStringLiteral("ms")} : ValueScale{1e-6, QStringLiteral("µs")};
}

ValueScale flop_scale(double largest) {
  static constexpr const char* units[] = {"FLOP",  "kFLOP", "MFLOP", "GFLOP", "TFLOP",
                                          "PFLOP", "EFLOP", "ZFLOP", "YFLOP"};
  return fitting_scale(largest, 1000, units);
}

ValueScale flop_parts_scale(double whole) { return flop_scale(whole / 1000); }

QString scaled_text(Wide value, const ValueScale& scale) { return scaled_real_text(to_double(value), scale); }

QString scaled_real_text(double value, const ValueScale& scale) {
  const double scaled = value / scale.divisor;
  if (value != 0 && std::fabs(scaled) < 0.001) return QStringLiteral("< 0.001");
  return with_minus(significant(scaled));
}

QString with_unit(Wide value, const ValueScale& scale) {
  return scaled_text(value, scale) + u' ' + scale.unit;
}

QString bytes_text(Wide bytes, UnitSystem units) { return with_minus(format_bytes(bytes, units)); }

QString rank_bytes_text(Wide bytes, UnitSystem units) {
  return with_unit(bytes, rank_memory_scale(std::fabs(to_double(bytes)), units));
}

QString exact_bytes_text(Wide bytes) { return grouped_text(bytes) + QStringLiteral(" bytes"); }

QString flops_text(Wide flops) { return with_minus(format_flops(flops)); }

QString count_text(Wide count) { return with_minus(format_count(count)); }

QString seconds_text(double seconds) { return QString::fromStdString(format_seconds(seconds)); }

QString grouped_text(Wide value) { return with_minus(grouped(value)); }

QString raw_text(Wide value) { return QString::fromStdString(to_string(value)); }

QString signed_percent_text(double fraction) {
  if (fraction != 0 && std::fabs(fraction) < 0.0005) return QStringLiteral("< 0.1 %");
  return QStringLiteral("%1%2 %")
      .arg(fraction < 0 ? QString(QChar(0x2212)) : QStringLiteral("+"))
      .arg(std::fabs(100 * fraction), 0, 'f', 1);
}

QString percent_text(double fraction) {
  if (fraction > 0 && fraction < 0.001) return QStringLiteral("< 0.1 %");
  return with_minus(QString::number(fraction * 100, 'f', 1).toStdString()) + QStringLiteral(" %");
}

QString capacity_text(Wide bytes, UnitSystem units) {
  const ValueScale scale = byte_scale(to_double(bytes), units);
  const double value = to_double(bytes) / scale.divisor;
  if (value == std::floor(value)) return grouped_text(static_cast<Wide>(value)) + u' ' + scale.unit;
  return bytes_text(bytes, units);
}

QString counted_text(Wide count, const QString& singular, const QString& plural) {
  return grouped_text(count) + u' ' + (count == 1 ? singular : plural);
}

QString text_of(std::string_view text) {
  return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

QString words(std::string_view key, QChar between) { return text_of(key).replace(u'_', between); }

}  // namespace shardscape::ui
