// Designs that are pinned for comparison with the present one: letters from B on, worked out in the
// background. What views show of them beyond report and step is made by their ComparisonResults
// (comparison_results.h).
#pragma once

#include <QObject>
#include <QStringList>
#include <vector>

#include "explore/comparison.h"
#include "explore/study.h"
#include "ui/toolkit/newest_job.h"

namespace shardscape::ui {

struct PinnedDesign {
  Design design;
  QString name;  // "tp 8 · pp 16 · dp 64"
  bool worked = false;
  ComparedDesign made = {};  // once it is worked out; of a design that cannot run there is no simulation
};

class Comparisons : public QObject {
  Q_OBJECT
 public:
  static constexpr int kMost = 4;  // that bars and tables can show next to the present one

  explicit Comparisons(std::shared_ptr<PlanCache> plans, QObject* parent = nullptr)
      : QObject(parent), plans_(std::move(plans)) {}
  const std::vector<PinnedDesign>& all() const { return pinned_; }
  int size() const { return static_cast<int>(pinned_.size()); }
  bool full() const { return size() >= kMost; }
  int find(const Design& design) const;                 // -1: it is not pinned
  bool add(const Design& design, const QString& name);  // false: there is no room, or it is pinned already
  void set(const std::vector<NamedDesign>& designs);    // of a document
  std::vector<NamedDesign> named() const;
  void remove(int at);
  void clear();
  bool ready() const;  // all of them are worked out

  // "A" is the present design, 1 is the first that is pinned.
  static QString letter(int member) { return QString(QChar(u'A' + member)); }
  // "Llama 3 70B · tp 8 · pp 16": what designs are told apart by.
  static QString nameOf(const Design& design);
  // In what each differs from the present one, which comes first with its own values of that: "tp 2 · Overlap
  // grad reduce on".
  QStringList namesApart(const Design& present) const;
  // The stage of another pipeline that stands in the same place: the first with the first, the last with the
  // last.
  static int sameStagePlace(int stage, int stages, int of_stages);

 Q_SIGNALS:
  void changed();  // designs came or went, or one was worked out

 private:
  const std::shared_ptr<PlanCache> plans_;
  void work();
  std::vector<PinnedDesign> pinned_;
  NewestJob job_;
};

}  // namespace shardscape::ui
