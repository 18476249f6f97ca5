// The designs that a search kept, for table, scatter and filters: a row per design, a column per dimension
// and figure.
#pragma once

#include <QString>
#include <QStringList>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/units.h"
#include "explore/goodput_search.h"
#include "explore/point_bands.h"
#include "explore/result.h"
#include "ui/plot/value_column.h"

namespace shardscape::ui {

// The reasons why a design is kept; a set of flags.
enum Kept : uint8_t { kBest = 1, kFront = 2, kGroup = 4, kSample = 8 };

class ExploreRows {
 public:
  // Sorts rows by the objective of the search, the best first.
  static std::shared_ptr<const ExploreRows> of(std::shared_ptr<const SearchResult> result);
  // Simulated engines first, by their goodput. Their columns: requests per second and GPU, and the latencies
  // at this rate.
  static std::shared_ptr<const ExploreRows> of(std::shared_ptr<const GoodputResult> result,
                                               const GoodputOptions& options);

  const SearchResult& result() const { return *result_; }
  const std::shared_ptr<const SearchResult>& shared() const { return result_; }
  const std::vector<ValueColumn>& columns() const { return columns_; }
  const ValueColumn& column(int column) const { return columns_[static_cast<size_t>(column)]; }
  const GoodputResult* goodput() const { return goodput_.get(); }  // null: another objective
  const GoodputOptions& goodputOptions() const { return goodput_options_; }
  int column(const QString& id) const;  // -1: none
  int rows() const { return static_cast<int>(points_.size()); }
  Wide index(int row) const { return points_[static_cast<size_t>(row)]->index; }
  int rowOf(Wide index) const;  // -1: not kept
  uint8_t kept(int row) const { return kept_[static_cast<size_t>(row)]; }
  double value(int row, int column) const {
    return columns_[static_cast<size_t>(column)].values[static_cast<size_t>(row)];
  }
  const Point& point(int row) const { return *points_[static_cast<size_t>(row)]; }
  Design design(int row) const;
  // The bands of step time and memory (accuracy/error_band.h).
  const DesignBands& bands(int row) const { return bands_[static_cast<size_t>(row)]; }
  // How the first row, the best design, compares with this row in the objective of the search.
  PointJudgement judgedByBest(int row) const;
  QString text(int row, int column, UnitSystem units) const {
    return valueText(columns_[static_cast<size_t>(column)], value(row, column), units);
  }
  // The cluster of a row, with the price that the search was given.
  ClusterSpec cluster(int row) const;
  // The clusters of all accelerators that the search varies.
  std::vector<ClusterSpec> clusters() const;
  static QString valueText(const ValueColumn& column, double value, UnitSystem units);
  // The values of the dimensions: "tp 8 · pp 16 · selective".
  QString name(int row, int most = 99) const;
  // "9.84 s · 61.3 GiB · MFU 41.2 %"
  QString figures(int row, UnitSystem units) const;

 private:
  void fill(std::shared_ptr<const SearchResult> result);
  void addGoodput();
  ClusterSpec priced(ClusterSpec cluster) const;
  std::shared_ptr<const SearchResult> result_;
  std::shared_ptr<const GoodputResult> goodput_;
  GoodputOptions goodput_options_;
  std::vector<ValueColumn> columns_;
  std::vector<const Point*> points_;  // of the result
  std::vector<uint8_t> kept_;
  std::vector<DesignBands> bands_;  // per row
  mutable PointBands judged_;       // a cache
};

// The Pareto front of two columns among the passing rows, sorted by the first column. Empty if a column has
// no better direction.
std::vector<int> front_of(const ExploreRows& rows, int x, int y, const std::vector<char>& passing);

}  // namespace shardscape::ui
