#include "ui/state/comparisons.h"

#include <QStringList>
#include <algorithm>

#include "design/knobs.h"
#include "ui/state/display_text.h"

namespace shardscape::ui {
namespace {

constexpr const char* kDegrees[] = {"tp", "cp", "pp", "dp", "ep", "microbatch"};

}  // namespace

int Comparisons::find(const Design& design) const {
  const auto it = std::find_if(pinned_.begin(), pinned_.end(), [&](const PinnedDesign& p) { return p.design == design; });
  return it == pinned_.end() ? -1 : static_cast<int>(it - pinned_.begin());
}

bool Comparisons::add(const Design& design, const QString& name) {
  if (full() || find(design) >= 0) return false;
  pinned_.push_back({design, name});
  work();
  Q_EMIT changed();
  return true;
}

void Comparisons::set(const std::vector<NamedDesign>& designs) {
  clear();
  for (const NamedDesign& of : designs) add(of.design, QString::fromStdString(of.name));
}

std::vector<NamedDesign> Comparisons::named() const {
  std::vector<NamedDesign> out;
  for (const PinnedDesign& p : pinned_) out.push_back({p.name.toStdString(), p.design});
  return out;
}

void Comparisons::remove(int at) {
  if (at < 0 || at >= size()) return;
  pinned_.erase(pinned_.begin() + at);
  work();
  Q_EMIT changed();
}

void Comparisons::clear() {
  if (pinned_.empty()) return;
  pinned_.clear();
  job_.stop();
  Q_EMIT changed();
}

bool Comparisons::ready() const {
  return std::all_of(pinned_.begin(), pinned_.end(), [](const PinnedDesign& p) { return p.worked; });
}

// What is not worked out yet, one after the other; a design that went meanwhile finds no place any more.
void Comparisons::work() {
  std::vector<Design> left;
  for (const PinnedDesign& p : pinned_)
    if (!p.worked) left.push_back(p.design);
  if (left.empty()) return job_.stop();
  job_.start([this, left = std::move(left)](const NewestJob::Post& post, std::stop_token stop) {
    for (const Design& design : left) {
      if (stop.stop_requested()) return;
      const ComparedDesign made = compared(design);
      post([this, design, made] {
        const int at = find(design);
        if (at < 0) return;
        pinned_[static_cast<size_t>(at)].made = made;
        pinned_[static_cast<size_t>(at)].worked = true;
        Q_EMIT changed();
      });
    }
  });
}

QString Comparisons::nameOf(const Design& design) {
  QStringList parts{QString::fromStdString(design.name)};
  for (const char* id : kDegrees) {
    const Knob& knob = *find_knob(id);
    const QString value = QString::fromStdString(knob_text(design, knob));
    if (value != QStringLiteral("1")) parts << QString::fromStdString(knob.symbol.empty() ? knob.label : knob.symbol) + u' ' + displayText(knob, value);
  }
  return parts.join(QStringLiteral(" · "));
}

}  // namespace shardscape::ui
