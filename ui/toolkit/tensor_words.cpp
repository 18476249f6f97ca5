#include "ui/toolkit/tensor_words.h"

#include <QStringList>
#include <utility>
#include <vector>

namespace shardscape::ui {
namespace {

// What a suffix says. of: it makes another tensor of the one before it; otherwise it says what happened.
struct Suffix {
  const char* name;
  const char* words;
  bool of = false;
};
// SegmentBuilder::redistribution_text, differentiate.cpp, and "stats" of the kernel profiles.
constexpr Suffix kSuffixes[] = {
    {"grad", "gradient", true},        {"rng", "random state", true},
    {"lse", "softmax sums", true},     {"mask", "mask", true},
    {"indices", "indices", true},      {"tables", "tables", true},
    {"scattered", "reduce-scattered"}, {"sum", "summed over ranks"},
    {"max", "maximum over ranks"},     {"full", "gathered"},
    {"exchanged", "exchanged"},        {"ring", "passed round the ring"},
    {"home", "summed round the ring"}, {"part", "own part"},
    {"contiguous", "contiguous copy"},
};

const Suffix* suffix_of(const QString& part) {
  for (const Suffix& suffix : kSuffixes)
    if (part == QLatin1String(suffix.name)) return &suffix;
  return nullptr;
}

}  // namespace

QString tensor_words(const std::string& name, bool block) {
  QStringList parts = QString::fromStdString(name).split(u'.');
  std::vector<std::pair<const Suffix*, QString>> suffixes;  // the first is the last applied; its number
  while (parts.size() > 1) {
    // A number makes equal names unique: "rng_2".
    const QString& last = parts.last();
    const qsizetype line = last.lastIndexOf(u'_');
    bool counted = false;
    if (line > 0) last.mid(line + 1).toInt(&counted);
    const Suffix* suffix = suffix_of(counted ? last.left(line) : last);
    if (!suffix) break;
    suffixes.emplace_back(suffix, counted ? last.mid(line + 1) : QString());
    parts.removeLast();
  }
  if (!block && parts.size() > 1) parts.removeFirst();
  QString out = parts.join(u'.');
  for (auto it = suffixes.rbegin(); it != suffixes.rend(); ++it) {
    const auto& [suffix, number] = *it;
    const QString words = QString::fromLatin1(suffix->words);
    out = suffix->of ? words + QStringLiteral(" of ") + out : out + QStringLiteral(", ") + words;
    if (!number.isEmpty()) out += QStringLiteral(", no. ") + number;
  }
  return out;
}

}  // namespace shardscape::ui
