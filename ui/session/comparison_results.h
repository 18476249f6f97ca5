// The results that one view needs of each pinned design. A thread computes them one after the other while the
// view is visible. A result is dropped when its design is unpinned or the key changes (for example another
// stage).
#pragma once

#include <QWidget>
#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "ui/session/comparisons.h"
#include "ui/toolkit/newest_job.h"

namespace shardscape::ui {

template <typename ViewResult, typename Key = int>
class ComparisonResults {
 public:
  struct Item {
    int member = 1;         // 1 is the first pinned design, see Comparisons::letter
    ComparedDesign design;  // has a simulation
    std::shared_ptr<const ViewResult> result;
  };
  // Called in the thread of the job. Null: the design has nothing to show, or the job was stopped.
  using Make = std::function<std::shared_ptr<const ViewResult>(const ComparedDesign& of, const Key& key,
                                                               std::stop_token stop)>;

  // changed: called when all() may have changed.
  ComparisonResults(const Comparisons* comparisons, QWidget* view, Make make, std::function<void()> changed)
      : comparisons_(comparisons),
        view_(view),
        make_(std::move(make)),
        changed_(std::move(changed)),
        job_(view) {
    QObject::connect(comparisons_, &Comparisons::changed, &job_, [this] {
      if (view_->isVisible() && key_) computeMissing();
      changed_();
    });
    QObject::connect(&job_, &NewestJob::failed, &job_, [this] { requested_.clear(); });
  }

  // The view calls this when it shows results for the key.
  void show(const Key& key) {
    if (key_ != key) {
      made_.clear();
      requested_.clear();
      key_ = key;
    }
    computeMissing();
  }

  // The computed results, in the order of the pinned designs.
  std::vector<Item> all() const {
    std::vector<Item> out;
    const std::vector<PinnedDesign>& pinned = comparisons_->all();
    for (size_t i = 0; i < pinned.size(); ++i)
      if (const Entry* entry = find(pinned[i]); entry && entry->result)
        out.push_back({static_cast<int>(i) + 1, pinned[i].result, entry->result});
    return out;
  }

  // True once every pinned design with a simulation has its result.
  bool ready() const {
    const std::vector<PinnedDesign>& pinned = comparisons_->all();
    return std::all_of(pinned.begin(), pinned.end(), [&](const PinnedDesign& p) {
      return p.computed && (!p.result.simulation || find(p));
    });
  }

 private:
  struct Entry {
    std::shared_ptr<const Report> of;
    std::shared_ptr<const ViewResult> result;
  };

  const Entry* find(const PinnedDesign& pinned) const {
    const auto it = std::find_if(made_.begin(), made_.end(), [&](const Entry& e) {
      return pinned.result.report && e.of == pinned.result.report;
    });
    return it == made_.end() ? nullptr : &*it;
  }

  void computeMissing() {
    const std::vector<PinnedDesign>& pinned = comparisons_->all();
    std::erase_if(made_, [&](const Entry& e) {
      return std::none_of(pinned.begin(), pinned.end(),
                          [&](const PinnedDesign& p) { return p.result.report == e.of; });
    });
    std::vector<ComparedDesign> left;
    for (const PinnedDesign& p : pinned)
      if (p.result.simulation && !find(p)) left.push_back(p.result);
    if (left.empty()) return job_.stop();
    // The running job already computes these designs.
    if (std::all_of(left.begin(), left.end(), [&](const ComparedDesign& d) {
          return std::find(requested_.begin(), requested_.end(), d.report) != requested_.end();
        }))
      return;
    requested_.clear();
    for (const ComparedDesign& design : left) requested_.push_back(design.report);
    job_.start([this, make = make_, key = *key_, left = std::move(left)](const NewestJob::Post& post,
                                                                         std::stop_token stop) {
      for (const ComparedDesign& design : left) {
        std::shared_ptr<const ViewResult> made = make(design, key, stop);
        if (stop.stop_requested()) return;
        post([this, of = design.report, made = std::move(made)] {
          made_.push_back({of, made});
          changed_();
        });
      }
    });
  }

  const Comparisons* comparisons_;
  const QWidget* view_;
  const Make make_;
  const std::function<void()> changed_;
  std::optional<Key> key_;
  std::vector<Entry> made_;
  std::vector<std::shared_ptr<const Report>> requested_;  // the designs of the running job
  NewestJob job_;  // last member: the thread ends before the members that it posts to are destroyed
};

}  // namespace shardscape::ui
