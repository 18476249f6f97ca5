#include "launch/server/server_layout.h"

#include <algorithm>
#include <charconv>

#include "base/units.h"

namespace shardscape {
namespace {

constexpr int64_t kMost = 1 << 20;  // ranks of an axis, and of all

class LayoutReader {
 public:
  LayoutReader(EngineKind engine, const LaunchArguments& arguments)
      : engine_(engine), arguments_(arguments) {}

  ServerLayout read() {
    out_.tp = degree("tp");
    out_.pp = degree("pp");
    out_.dp = degree("dp");
    out_.cp = degree("cp");
    out_.dcp = degree("dcp");
    switch (engine_) {
      case EngineKind::Vllm: vllm(); break;
      case EngineKind::Sglang: sglang(); break;
      case EngineKind::Trtllm: trtllm(); break;
    }
    if (out_.ranks() > kMost) out_.problem = "the degrees make more than " + grouped(kMost) + " ranks";
    return out_;
  }

 private:
  std::string text(const char* name) const {
    const auto it = arguments_.find(name);
    return it == arguments_.end() ? "" : it->second;
  }
  bool on(const char* name) const { return text(name) == "true"; }
  int64_t degree(const char* name) {
    const std::string given = text(name);
    int64_t value = 1;
    std::from_chars(given.data(), given.data() + given.size(), value);
    if (value > kMost) out_.problem = std::string(name) + " is too large";
    return std::clamp<int64_t>(value, 1, kMost);
  }
  void divides(const char* small, int64_t a, const char* large, int64_t b) {
    if (b % a != 0)
      out_.problem = std::string(small) + " " + std::to_string(a) + " does not divide " + large + " " +
                     std::to_string(b);
  }
  // ep ranks hold whole experts, or parts of them.
  void experts(int64_t ep, int64_t ranks, const char* argument) {
    divides("ep", ep, "the ranks", ranks);
    out_.ep = ep;
    out_.etp = std::max<int64_t>(1, ranks / ep);
    out_.expert_argument = argument;
  }

  void vllm() {
    const int64_t ranks = out_.tp * out_.dp;
    experts(on("expert_parallel") ? ranks : 1, ranks, "expert_parallel");
    const std::string backend = text("all2all_backend");
    out_.dispatcher = backend.starts_with("deepep") ? "flex"
                      : backend.starts_with("pplx") || backend.starts_with("mori") ||
                              backend.starts_with("nixl") || backend.starts_with("flashinfer")
                          ? "alltoall"
                          : "allgather";
  }

  void sglang() {
    const int64_t all = out_.tp;
    // dp 1 switches data-parallel attention off (server_args.py, _handle_data_parallelism).
    if (on("dp_attention") && out_.dp > 1) {
      divides("dp", out_.dp, "tp", all);
      out_.tp = std::max<int64_t>(1, all / out_.dp);
    }
    if (out_.cp > 1) {
      divides("cp", out_.cp, "tp", out_.tp);
      out_.tp = std::max<int64_t>(1, out_.tp / out_.cp);
    }
    const std::string backend = text("moe_a2a_backend");
    const bool exchanges = !backend.empty() && backend != "none" && backend != "true";
    experts(exchanges || on("enable_deepep_moe") ? all : degree("ep"), all,
            exchanges ? "moe_a2a_backend" : "ep");
    out_.dispatcher = backend == "deepep" || backend == "mooncake" || on("enable_deepep_moe") ? "flex"
                      : exchanges                                                             ? "alltoall"
                                                                                              : "allgather";
  }

  void trtllm() {
    const int64_t all = out_.tp;
    out_.dp = 1;
    if (on("dp_attention")) {
      out_.dp = all;
      out_.tp = 1;
    }
    const int64_t split = text("etp").empty() ? 0 : degree("etp");
    const bool by_split = text("ep").empty() && split > 0;
    experts(by_split ? std::max<int64_t>(1, all / split) : degree("ep"), all, by_split ? "etp" : "ep");
    out_.dispatcher = text("moe_config.backend") == "WIDEEP" ? "alltoall" : "allgather";
  }

  EngineKind engine_;
  const LaunchArguments& arguments_;
  ServerLayout out_;
};

}  // namespace

ServerLayout server_layout(EngineKind engine, const LaunchArguments& arguments) {
  return LayoutReader(engine, arguments).read();
}

}  // namespace shardscape
