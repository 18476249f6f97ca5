// What a view shows of the designs that are pinned for comparison with the present one. Made in the
// background, one after the other, only while the view is shown, and kept until the design goes or what it is
// made for is another (a stage, the present report).
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

template <typename Made, typename Key = int>
class ComparisonResults {
 public:
  struct One {
    int member = 1;         // as Comparisons::letter counts
    ComparedDesign design;  // one that can run
    std::shared_ptr<const Made> made;
  };
  // Runs in a thread of its own; null: there is nothing to show of this design, or it was stopped.
  using Make = std::function<std::shared_ptr<const Made>(const ComparedDesign& of, const Key& key,
                                                         std::stop_token stop)>;

  // changed: all() may have others now.
  ComparisonResults(const Comparisons* comparisons, const QWidget* view, Make make,
                    std::function<void()> changed)
      : comparisons_(comparisons), view_(view), make_(std::move(make)), changed_(std::move(changed)) {
    QObject::connect(comparisons_, &Comparisons::changed, &job_, [this] {
      if (view_->isVisible() && key_) work();
      changed_();
    });
  }

  // The view is shown, and this is what it shows.
  void show(const Key& key) {
    if (key_ != key) {
      made_.clear();
      asked_.clear();
      key_ = key;
    }
    work();
  }

  // Those that are made, in the order in which they are pinned.
  std::vector<One> all() const {
    std::vector<One> out;
    const std::vector<PinnedDesign>& pinned = comparisons_->all();
    for (size_t i = 0; i < pinned.size(); ++i)
      if (const Entry* entry = find(pinned[i]); entry && entry->made)
        out.push_back({static_cast<int>(i) + 1, pinned[i].made, entry->made});
    return out;
  }

  // Of every pinned design that can run there is what can be made.
  bool ready() const {
    const std::vector<PinnedDesign>& pinned = comparisons_->all();
    return std::all_of(pinned.begin(), pinned.end(),
                       [&](const PinnedDesign& p) { return p.worked && (!p.made.simulation || find(p)); });
  }

 private:
  struct Entry {
    std::shared_ptr<const Report> of;
    std::shared_ptr<const Made> made;
  };

  const Entry* find(const PinnedDesign& pinned) const {
    const auto it = std::find_if(made_.begin(), made_.end(), [&](const Entry& e) {
      return pinned.made.report && e.of == pinned.made.report;
    });
    return it == made_.end() ? nullptr : &*it;
  }

  void work() {
    const std::vector<PinnedDesign>& pinned = comparisons_->all();
    std::erase_if(made_, [&](const Entry& e) {
      return std::none_of(pinned.begin(), pinned.end(),
                          [&](const PinnedDesign& p) { return p.made.report == e.of; });
    });
    std::vector<ComparedDesign> left;
    for (const PinnedDesign& p : pinned)
      if (p.made.simulation && !find(p)) left.push_back(p.made);
    if (left.empty()) return job_.stop();
    // Under way already.
    if (std::all_of(left.begin(), left.end(), [&](const ComparedDesign& d) {
          return std::find(asked_.begin(), asked_.end(), d.report) != asked_.end();
        }))
      return;
    asked_.clear();
    for (const ComparedDesign& design : left) asked_.push_back(design.report);
    job_.start([this, make = make_, key = *key_, left = std::move(left)](const NewestJob::Post& post,
                                                                         std::stop_token stop) {
      for (const ComparedDesign& design : left) {
        std::shared_ptr<const Made> made = make(design, key, stop);
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
  std::vector<std::shared_ptr<const Report>> asked_;  // of the job
  NewestJob job_;  // last: its thread ends before anything it posts to is gone
};

}  // namespace shardscape::ui
