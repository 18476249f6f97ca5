// The designs that are pinned for comparison with the present design, computed in the background. The first
// pinned design is A, the present design B, further pinned designs C, D and E: a person pins a design as the
// baseline and then changes it. Differences are the present design minus a pinned design. Views with further
// results per pinned design use ComparisonResults (comparison_results.h).
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
  bool computed = false;
  ComparedDesign result = {};  // once computed; a design that cannot run has no simulation
  // The settings of its requests; empty: those of the page Requests.
  std::optional<ServiceSpec> service = {};
};

class Comparisons : public QObject {
  Q_OBJECT
 public:
  static constexpr int kMaxPinned = 4;  // the most that bars and tables can show next to the present design

  explicit Comparisons(std::shared_ptr<PlanCache> plans, QObject* parent = nullptr)
      : QObject(parent), plans_(std::move(plans)) {}
  const std::vector<PinnedDesign>& all() const { return pinned_; }
  int size() const { return static_cast<int>(pinned_.size()); }
  bool full() const { return size() >= kMaxPinned; }
  int find(const Design& design) const;  // -1: not pinned
  // False: all places are taken, or the design is already pinned with these settings.
  bool add(const Design& design, const QString& name, const std::optional<ServiceSpec>& service = {});
  void set(const std::vector<NamedDesign>& designs);  // the pinned designs of a document
  std::vector<NamedDesign> named() const;
  void remove(int at);
  void clear();
  bool ready() const;  // all pinned designs are computed

  // The place of a member in the order of letters: member 1, the first pinned design, stands before member 0,
  // the present design. The function is its own inverse.
  static int place(int member) { return member < 2 ? 1 - member : member; }
  static QString letter(int member) { return QString(QChar(u'A' + place(member))); }
  // "Llama 3 70B · tp 8 · pp 16": the model and the degrees.
  static QString nameOf(const Design& design);
  // The knobs in which each pinned design differs from the present design: "tp 2 · Overlap grad reduce on".
  // The first entry is the present design with its values of these knobs.
  QStringList distinguishingNames(const Design& present) const;
  // The stage of another pipeline at the same relative place: first for first, last for last.
  static int sameStagePlace(int stage, int stages, int of_stages);

 Q_SIGNALS:
  void changed();  // designs were pinned, unpinned or computed

 private:
  const std::shared_ptr<PlanCache> plans_;
  void computeMissing();
  std::vector<PinnedDesign> pinned_;
  NewestJob job_{this};
};

}  // namespace shardscape::ui
