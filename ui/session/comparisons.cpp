#include "ui/session/comparisons.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "design/knobs/knobs.h"
#include "design/knobs/layout_text.h"
#include "ui/toolkit/display_text.h"

namespace shardscape::ui {
namespace {

// The knobs in which a pinned design differs from the present design: "tp 2 · Overlap grad reduce on". For
// the present design: the knobs in which any pinned design differs. Knobs in which the pinned designs differ
// from each other come first.
QString distinguishing_name(const std::vector<ComparedKnob>& differing, const std::vector<Design>& designs,
                            int member) {
  std::vector<std::pair<size_t, QString>> parts;
  for (const ComparedKnob& knob : differing) {
    if (member > 0 && knob.values[static_cast<size_t>(member)] == knob.values[0]) continue;
    const std::set<std::string> values(knob.values.begin() + 1,
                                       knob.values.end());  // the values of the pinned designs
    const Knob& of = *knob.knob;
    const QString value = displayText(of, QString::fromStdString(knob.values[static_cast<size_t>(member)]));
    parts.emplace_back(values.size(), QString::fromStdString(of.symbol.empty() ? of.label : of.symbol) +
                                          u' ' + (value.isEmpty() ? Comparisons::tr("none") : value));
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  QStringList words;
  if (const Design& design = designs[static_cast<size_t>(member)]; design.name != designs.front().name)
    words << QString::fromStdString(design.name);
  for (const auto& [_, part] : parts) words << part;
  return words.join(QStringLiteral(" · "));
}

}  // namespace

int Comparisons::find(const Design& design) const {
  const auto it = std::find_if(pinned_.begin(), pinned_.end(),
                               [&](const PinnedDesign& p) { return p.design == design; });
  return it == pinned_.end() ? -1 : static_cast<int>(it - pinned_.begin());
}

bool Comparisons::add(const Design& design, const QString& name, const std::optional<ServiceSpec>& service) {
  const bool pinned = std::any_of(pinned_.begin(), pinned_.end(), [&](const PinnedDesign& p) {
    return p.design == design && p.service == service;
  });
  if (full() || pinned) return false;
  pinned_.push_back({design, name, false, {}, service});
  computeMissing();
  Q_EMIT changed();
  return true;
}

void Comparisons::set(const std::vector<NamedDesign>& designs) {
  clear();
  for (const NamedDesign& of : designs) add(of.design, QString::fromStdString(of.name), of.service);
}

std::vector<NamedDesign> Comparisons::named() const {
  std::vector<NamedDesign> out;
  for (const PinnedDesign& p : pinned_) out.push_back({p.name.toStdString(), p.design, p.service});
  return out;
}

void Comparisons::remove(int at) {
  if (at < 0 || at >= size()) return;
  pinned_.erase(pinned_.begin() + at);
  computeMissing();
  Q_EMIT changed();
}

void Comparisons::clear() {
  if (pinned_.empty()) return;
  pinned_.clear();
  job_.stop();
  Q_EMIT changed();
}

bool Comparisons::ready() const {
  return std::all_of(pinned_.begin(), pinned_.end(), [](const PinnedDesign& p) { return p.computed; });
}

// Computes the pinned designs that have no result, one after the other. The result of a design that was
// unpinned in the meantime is dropped.
void Comparisons::computeMissing() {
  std::vector<Design> left;
  for (const PinnedDesign& p : pinned_)
    if (!p.computed) left.push_back(p.design);
  if (left.empty()) return job_.stop();
  job_.start([this, left = std::move(left)](const NewestJob::Post& post, std::stop_token stop) {
    for (const Design& design : left) {
      const ComparedDesign made = compared(design, plans_, stop);
      if (stop.stop_requested()) return;
      post([this, design, made] {
        if (find(design) < 0) return;
        for (PinnedDesign& p : pinned_) {  // also with other settings of requests
          if (p.design != design) continue;
          p.result = made;
          p.computed = true;
        }
        Q_EMIT changed();
      });
    }
  });
}

QString Comparisons::nameOf(const Design& design) {
  QStringList parts{QString::fromStdString(design.name)};
  for (const std::string& text : layout_texts(design)) parts << QString::fromStdString(text);
  return parts.join(QStringLiteral(" · "));
}

QStringList Comparisons::distinguishingNames(const Design& present) const {
  std::vector<Design> designs{present};
  for (const PinnedDesign& pinned : pinned_) designs.push_back(pinned.design);
  const std::vector<ComparedKnob> differing = compare_knobs(designs);
  QStringList names;
  for (int member = 0; member <= size(); ++member) names << distinguishing_name(differing, designs, member);
  return names;
}

int Comparisons::sameStagePlace(int stage, int stages, int of_stages) {
  if (stages <= 1 || of_stages <= 1) return 0;
  return static_cast<int>(
      std::lround(static_cast<double>(std::clamp(stage, 0, stages - 1)) * (of_stages - 1) / (stages - 1)));
}

}  // namespace shardscape::ui
