// Bundles that differ from those of this program, but run in the simulator, pass the checker.
#include <QTest>
#include <filesystem>

#include "bundle/checker.h"
#include "support/checked_bundles.h"
#include "support/trace_bundle.h"

using namespace shardscape;
using namespace shardscape::test;
namespace fs = std::filesystem;

class ForeignBundleTest : public QObject, private CheckedBundles {
  Q_OBJECT

 private Q_SLOTS:
  // Groups smaller than the job use a ring if the network has several dimensions.
  void an_algorithm_that_no_trace_uses_is_no_error() {
    BundleSpec bundle = good_bundle();
    bundle.files["network.yml"] =
        "topology: [ Ring, Switch ]\nnpus_count: [ 2, 2 ]\nbandwidth: [ 50, 50 ]\nlatency: [ 500, 500 ]\n";
    std::string& system = bundle.files["system.json"];
    for (const char* type : {"all-reduce", "all-gather", "reduce-scatter", "all-to-all"}) {
      const std::string key = "\"" + std::string(type) + "-implementation\": ";
      const std::string by = type == std::string("all-reduce") ? "ring" : "doubleBinaryTree";
      system = replaced(system, key + "[\"ring\"]", key + "[\"" + by + "\", \"" + by + "\"]");
    }
    const CheckReport report = check(bundle);
    QVERIFY2(report.ok() && report.findings.empty(), check_text(report).c_str());
  }

  // STAGE writes the bytes of a tensor as "524288.0". ASTRA-sim reads the digits.
  void bytes_with_a_point_are_numbers() {
    const auto with = [&](const char* bytes) {
      BundleSpec bundle = good_bundle();
      bundle.ranks[0].node(1).attrs.push_back({.name = "outputs",
                                               .kind = chakra::attr_field::kStringList,
                                               .bytes = encode_string_list({"y", bytes})});
      return check(bundle);
    };
    QVERIFY(with("524288.0").ok());
    QVERIFY(has(with("524288.5"), "TENSOR_LIST"));
    QVERIFY(has(with("x"), "TENSOR_LIST"));
  }

  // Without collectives over groups, a bundle needs no group file.
  void groups_are_needed_where_they_are_named() {
    BundleSpec bundle = good_bundle();
    for (auto& [rank, file] : bundle.ranks)
      for (TraceNodeSpec& n : file.nodes) n.drop("pg_name");
    bundle.files.erase("comm_groups.json");
    const CheckReport report = check(bundle);
    QVERIFY2(report.ok() && report.findings.empty(), check_text(report).c_str());
  }

  // The files of a bundle may be elsewhere; messages then have the paths.
  void files_may_be_elsewhere() {
    const fs::path folder = fresh_folder("bundle"), other = fresh_folder("files");
    BundleSpec bundle = good_bundle();
    BundleSpec files;
    std::swap(files.files, bundle.files);
    bundle.save(folder);
    files.save(other);
    BundlePaths paths{.folder = folder,
                      .groups = other / "comm_groups.json",
                      .system = other / "system.json",
                      .network = other / "network.yml",
                      .memory = other / "memory.json"};
    QVERIFY(check_bundle(paths).ok());
    paths.network = other / "absent.yml";
    QVERIFY(check_text(check_bundle(paths)).find((other / "absent.yml").string()) != std::string::npos);
  }

  void ids_need_not_ascend() {
    BundleSpec bundle = good_bundle();
    for (auto& [rank, file] : bundle.ranks) {
      for (TraceNodeSpec& n : file.nodes) {
        n.id *= 1000;
        for (uint64_t& d : n.deps) d *= 1000;
      }
      std::reverse(file.nodes.begin(), file.nodes.end());
    }
    const CheckReport report = check(bundle);
    QVERIFY2(report.ok() && report.findings.empty(), check_text(report).c_str());
  }
};

QTEST_GUILESS_MAIN(ForeignBundleTest)
#include "foreign_bundle_test.moc"
