// What would help where memory is short, with what it costs in time, and what the allocator makes of the
// step. Made in the background.
#pragma once

#include <QObject>
#include <QTimer>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "memory/allocator_use.h"
#include "memory/memory_advice.h"
#include "ui/session/estimate.h"

namespace shardscape::ui {

class MemoryAdvisor : public QObject {
  Q_OBJECT
 public:
  explicit MemoryAdvisor(QObject* parent = nullptr);
  ~MemoryAdvisor() override;
  // Once for each estimate, and once more where what was asked for is to be thorough: with what would help,
  // not only the allocator's use.
  void ask(std::shared_ptr<const Estimate> estimate, bool thorough = true);
  const std::vector<MemoryAdvice>& given() const { return given_; }
  // Of the fullest stage; nullptr: not known yet.
  const Fragmentation* fragmentationOf(const Estimate* estimate) const {
    return estimate && estimate == allocator_for_.get() && fragmentation_ ? &*fragmentation_ : nullptr;
  }
  bool of(const Estimate* estimate) const { return estimate && estimate == given_for_.get(); }

 Q_SIGNALS:
  void ready();

 private:
  void work(const std::shared_ptr<const Estimate>& estimate, bool thorough);
  std::shared_ptr<const Estimate> asked_for_, given_for_, allocator_for_;
  bool thorough_ = false;  // asked_for_
  std::vector<MemoryAdvice> given_;
  std::optional<Fragmentation> fragmentation_;
  QTimer rest_;  // who is typing needs the processors
  std::jthread thread_;
};

}  // namespace shardscape::ui
