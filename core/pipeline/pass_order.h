// The order in which a forward or a backward runs the instances of a virtual stage. Only this file defines
// it. The stage program (plan/stage_program.h) and gradient sync (grad_sync/) read it.
//
// A replay runs the instances of a recompute group in the order of a forward. It comes before the backward of
// the last instance of the group.
#pragma once

#include <cstddef>

namespace shardscape {

enum class PassDirection : bool { Forward, Backward };

// The numbers [first, end) in the order of a pass. They number instances, or the modules and units whose
// parameters gradient sync plans. first(), last() and next() need at least one number.
class PassOrder {
 public:
  PassOrder(size_t first, size_t end, PassDirection direction)
      : first_(first), end_(end), direction_(direction) {}
  size_t size() const { return end_ - first_; }
  struct Iterator {
    const PassOrder* order;
    size_t at;
    size_t operator*() const { return (*order)[at]; }
    Iterator& operator++() { return ++at, *this; }
    bool operator==(const Iterator&) const = default;
  };
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, size()}; }
  // The number that runs after `place` others.
  size_t operator[](size_t place) const {
    return direction_ == PassDirection::Backward ? end_ - 1 - place : first_ + place;
  }
  size_t first() const { return (*this)[0]; }
  size_t last() const { return (*this)[size() - 1]; }
  size_t place(size_t number) const {
    return direction_ == PassDirection::Backward ? end_ - 1 - number : number - first_;
  }
  // The number that runs next. `number` must not be the last one.
  size_t next(size_t number) const { return (*this)[place(number) + 1]; }

 private:
  size_t first_, end_;
  PassDirection direction_;
};

}  // namespace shardscape
