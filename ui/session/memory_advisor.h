// Computes in the background: changes that make a design fit, with their cost in step time, and the
// allocator's reserved memory in the step.
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
#include "ui/toolkit/inbox.h"

namespace shardscape::ui {

class MemoryAdvisor : public QObject {
  Q_OBJECT
 public:
  explicit MemoryAdvisor(QObject* parent = nullptr);
  ~MemoryAdvisor() override;
  // Starts the computation, once per estimate. thorough: advice and the allocator's use; otherwise the
  // allocator's use alone. A later thorough request for the same estimate computes again.
  void request(std::shared_ptr<const Estimate> estimate, bool thorough = true);
  const std::vector<MemoryAdvice>& advice() const { return advice_; }
  // For the stage with the highest peak; nullptr: not computed yet.
  const Fragmentation* fragmentationOf(const Estimate* estimate) const {
    return estimate && estimate == allocator_for_.get() && fragmentation_ ? &*fragmentation_ : nullptr;
  }
  bool isFor(const Estimate* estimate) const { return estimate && estimate == advice_for_.get(); }

 Q_SIGNALS:
  void ready();

 private:
  void work(const std::shared_ptr<const Estimate>& estimate, bool thorough);
  std::shared_ptr<const Estimate> requested_for_, advice_for_, allocator_for_;
  bool thorough_ = false;  // of the request for requested_for_
  std::vector<MemoryAdvice> advice_;
  std::optional<Fragmentation> fragmentation_;
  QTimer delay_;  // waits for a pause in typing, which needs the processors
  Inbox inbox_;
  std::jthread thread_;
};

}  // namespace shardscape::ui
