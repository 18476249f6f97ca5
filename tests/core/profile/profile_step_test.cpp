// Where the time of a profiled step goes.
#include <QTemporaryDir>
#include <QtTest>
#include <numeric>
#include <random>

#include "profile/profile_step.h"
#include "support/profile_trace.h"

using namespace shardscape;
using namespace shardscape::test;

namespace {

using Category = ProfileCategory;

Profile profile_of(const ProfileTrace& trace) {
  QTemporaryDir folder;
  const std::string file = folder.filePath("t.json").toStdString();
  trace.write(file);
  return std::get<Profile>(read_profile(file));
}
ProfiledStep step_of(const ProfileTrace& trace, int64_t steps = 0) {
  return std::get<ProfiledStep>(profiled_step(profile_of(trace), steps));
}
double microseconds(const ProfiledStep& step, Category category) {
  return step.categories[static_cast<size_t>(category)] * 1e6;
}
bool near(double a, double b) { return std::abs(a - b) < 1e-6 * std::max({1.0, std::abs(a), std::abs(b)}); }

}  // namespace

class ProfileStepTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // Names from public profiles and from the sources of the libraries.
  void kernels_data() {
    QTest::addColumn<QString>("kernel");
    QTest::addColumn<QString>("op");
    QTest::addColumn<int>("category");
    const auto row = [](const char* kernel, Category category, const char* op = "") {
      QTest::newRow(kernel) << QString(kernel) << QString(op) << static_cast<int>(category);
    };
    row("volta_sgemm_64x64_nt", Category::MatrixProducts);
    row("nvjet_tst_192x8_64x8_4x1_v_bz_TNT", Category::MatrixProducts);
    row("Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT128x256x32", Category::MatrixProducts);
    row("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64", Category::MatrixProducts);
    row("_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1", Category::MatrixProducts);
    row("void cudnn::cnn::wgrad_alg0_engine<float, 128>", Category::MatrixProducts);
    row("void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64>>",
        Category::Attention);
    row("fmhaSm100aKernel_QkvE4m3OBfloat16H64PagedKvCausal", Category::Attention);
    row("_ZN7ck_tile6kentryILi2ENS_38FmhaBatchPrefillWithPagedKVCacheKernel", Category::Attention);
    row("attn_fwd", Category::Attention);
    row("paged_attention_ll4mi_QKV_mfma16_kernel", Category::Attention);
    row("create_flashinfer_kv_indices_triton", Category::MemoryBound);
    row("triton_poi_fused_scaled_dot_product_flash_attention_0", Category::MemoryBound);
    row("void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>>",
        Category::MemoryBound);
    row("_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16b", Category::MemoryBound);
    row("void cub::DeviceRadixSortOnesweepKernel", Category::MemoryBound);
    row("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<...>", Category::Optimizer);
    row("void multi_tensor_apply_kernel<TensorListMetadata<4>, AdamFunctor<float>>", Category::Optimizer);
    row("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", Category::Collectives);
    row("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)", Category::Messages);
    row("void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>", Category::Collectives);
    row("my_kernel", Category::Unknown);
    row("my_fast_kernel", Category::MatrixProducts, "aten::addmm");
    row("my_other_kernel", Category::Attention, "aten::_scaled_dot_product_flash_attention");
  }
  void kernels() {
    QFETCH(QString, kernel);
    QFETCH(QString, op);
    QFETCH(int, category);
    const Category found = kernel_category(kernel.toStdString(), op.toStdString(), false);
    QCOMPARE(QString::fromStdString(std::string(profile_category_name(found))),
             QString::fromStdString(std::string(profile_category_name(static_cast<Category>(category)))));
    const Category optimizer = kernel_category(kernel.toStdString(), op.toStdString(), true);
    QCOMPARE(optimizer == Category::Optimizer,
             found == Category::MemoryBound || found == Category::Unknown || found == Category::Optimizer);
  }

  void communication_behind_compute_is_hidden() {
    ProfileTrace trace;
    trace.kernel("gemm", 0, 100, 1).collective("nccl", "allreduce", 40, 100, 2, 64, 64, 8);
    const ProfiledStep step = step_of(trace);
    QCOMPARE(microseconds(step, Category::MatrixProducts), 100.0);
    QCOMPARE(microseconds(step, Category::Collectives), 40.0);
    QVERIFY(near(step.communication * 1e6, 100));
    QVERIFY(near(step.hidden * 1e6, 60));
    QVERIFY(near(step.seconds * 1e6, 140));
    QCOMPARE(step.streams.size(), size_t{2});
  }

  // A gap is the host's if the launch of the next kernel had not returned when the gap began.
  void gaps() {
    ProfileTrace trace;
    trace.launch(1, 0).launch(2, 2).launch(3, 50);
    trace.kernel("gemm", 5, 15, 1)
        .kernel("gemm", 30, 10, 2)
        .kernel("gemm", 60, 10, 3)
        .kernel("gemm", 75, 5, 4);
    const ProfiledStep step = step_of(trace);
    QCOMPARE(microseconds(step, Category::OtherIdle), 15.0);   // 20-30, 70-75
    QCOMPARE(microseconds(step, Category::LaunchGaps), 20.0);  // 40-60
  }

  // Two steps of 100 us on the host. Kernels belong to the step that launches them.
  void steps() {
    ProfileTrace trace;
    trace.annotation("ProfilerStep#1", 0, 100).annotation("ProfilerStep#2", 100, 100);
    trace.launch(1, -5).launch(2, 10).launch(3, 110);
    trace.kernel("gemm", -2, 20, 1).kernel("gemm", 30, 50, 2).kernel("gemm", 130, 120, 3);
    const ProfiledStep step = step_of(trace);
    QVERIFY(step.annotated);
    QCOMPARE(step.steps, 2);
    QVERIFY(near(step.seconds * 1e6, 110));  // busy at 0: from 30 to 250
    QCOMPARE(microseconds(step, Category::MatrixProducts), 85.0);
    QVERIFY(near(step.host_slowest * 1e6, 100));
    const ProfiledStep whole = step_of(trace, 4);
    QVERIFY(!whole.annotated);
    QVERIFY(near(whole.seconds * 1e6, 252.0 / 4));
  }

  void the_optimizer_is_known_by_its_annotation() {
    ProfileTrace trace;
    trace.annotation("Optimizer.step#AdamW.step", 0, 10).launch(1, 1).launch(2, 12);
    trace.kernel("void at::native::vectorized_elementwise_kernel", 2, 5, 1);
    trace.kernel("void at::native::vectorized_elementwise_kernel", 14, 5, 2);
    const ProfiledStep step = step_of(trace);
    QCOMPARE(microseconds(step, Category::Optimizer), 5.0);
    QCOMPARE(microseconds(step, Category::MemoryBound), 5.0);
  }

  void collectives_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<int>("kind");
    QTest::addColumn<int>("elements");
    const auto row = [](const char* name, CollectiveKind kind, int elements) {
      QTest::newRow(name) << QString(name) << static_cast<int>(kind) << elements;
    };
    // in 8, out 64 elements
    row("_allgather_base", CollectiveKind::AllGather, 64);
    row("allgather_into_tensor_coalesced", CollectiveKind::AllGather, 64);
    row("_reduce_scatter_base", CollectiveKind::ReduceScatter, 8);
    row("all_to_allv", CollectiveKind::AllToAll, 8);
    row("allreduce", CollectiveKind::AllReduce, 64);
    row("broadcast", CollectiveKind::Broadcast, 64);
    row("send", CollectiveKind::SendRecv, 64);
  }
  void collectives() {
    QFETCH(QString, name);
    QFETCH(int, kind);
    QFETCH(int, elements);
    ProfileTrace trace;
    trace.collective("ncclDevKernel_X", name.toStdString(), 0, 10, 1, 8, 64, 16);
    const ProfiledStep step = step_of(trace);
    QCOMPARE(step.collectives.size(), size_t{1});
    const auto& [key, total] = *step.collectives.begin();
    QCOMPARE(static_cast<int>(key.kind), kind);
    QCOMPARE(key.group_size, 16);
    QCOMPARE(key.dtype, std::string("bfloat16"));
    QCOMPARE(total.elements, double(elements));
    QCOMPARE(total.bytes, 2.0 * elements);
    const bool message = key.kind == CollectiveKind::SendRecv;
    QCOMPARE(microseconds(step, message ? Category::Messages : Category::Collectives), 10.0);
  }

  // Backward ops carry the sequence numbers of their forward ops.
  void layers() {
    ProfileTrace trace;
    trace.module("Model_0", 0, 100).module("DecoderLayer_0", 10, 20).module("DecoderLayer_1", 40, 20);
    trace.module("LayerNorm_0", 10, 2).module("LayerNorm_1", 40, 2);
    trace.op(1, "aten::mm", 12, 2, ", \"Sequence number\": 5").launch(1, 13).kernel("gemm", 14, 4, 1);
    trace.op(2, "aten::mm", 42, 2, ", \"Sequence number\": 6").launch(2, 43).kernel("gemm", 44, 6, 2);
    trace.op(3, "MmBackward0", 80, 9, ", \"Sequence number\": 6, \"Fwd thread id\": 1", "2")
        .launch(3, 83, 1, "2")
        .kernel("gemm", 84, 12, 3);
    trace.op(4, "MmBackward0", 90, 9, ", \"Sequence number\": 5, \"Fwd thread id\": 1", "2")
        .launch(4, 93, 1, "2")
        .kernel("gemm", 100, 8, 4);
    const ProfiledStep step = step_of(trace);
    QCOMPARE(step.layer_ranges, std::string("nn.Module DecoderLayer"));
    QCOMPARE(step.layers.size(), size_t{2});
    QCOMPARE(step.layers[1].name, std::string("DecoderLayer_1"));
    QVERIFY(near(step.layers[0].forward * 1e6, 4) && near(step.layers[0].backward * 1e6, 8));
    QVERIFY(near(step.layers[1].forward * 1e6, 6) && near(step.layers[1].backward * 1e6, 12));
  }

  // Whatever runs at the same time: categories add up to the step, kernels to the busy time, and no order of
  // the events in the file changes a number.
  void times_add_up() {
    const char* names[] = {"gemm", "nccl_AllReduce", "flash_fwd", "at::native::x", "odd", "ncclSendRecv"};
    for (unsigned seed = 0; seed < 200; ++seed) {
      std::mt19937 random(seed);
      std::vector<std::function<void(ProfileTrace&)>> events;
      for (int64_t i = 0; i < 40; ++i) {
        const double begin = random() % 300, launched = begin - random() % 40;
        const double length = random() % 30;
        const std::string name = names[random() % 6];
        const int64_t stream = random() % 4;
        events.emplace_back([=](ProfileTrace& t) { t.kernel(name, begin, length, i, stream); });
        if (random() % 4) events.emplace_back([=](ProfileTrace& t) { t.launch(i, launched); });
      }
      if (random() % 2) events.emplace_back([](ProfileTrace& t) { t.annotation("ProfilerStep#1", 50, 200); });
      ProfileTrace trace, shuffled;
      for (const auto& event : events) event(trace);
      std::shuffle(events.begin(), events.end(), random);
      for (const auto& event : events) event(shuffled);
      const ProfiledStep step = step_of(trace), other = step_of(shuffled);
      double sum = 0, kernels = 0;
      for (const double seconds : step.categories) sum += seconds;
      for (const KernelRow& row : step.kernels) kernels += row.seconds;
      QVERIFY(near(sum * 1e6, step.seconds * 1e6));
      QVERIFY(near(kernels * 1e6, step.busy * 1e6));
      const double idle = microseconds(step, Category::LaunchGaps) + microseconds(step, Category::OtherIdle);
      QVERIFY(near(idle + step.busy * 1e6, step.seconds * 1e6));
      for (size_t c = 0; c < step.categories.size(); ++c)
        QVERIFY(near(step.categories[c] * 1e6, other.categories[c] * 1e6));
    }
  }

  void profiles_without_kernels() {
    ProfileTrace trace;
    trace.annotation("ProfilerStep#1", 0, 10);
    const auto step = profiled_step(profile_of(trace));
    QVERIFY(std::holds_alternative<Problem>(step));
    QVERIFY(to_string(std::get<Problem>(step)).find("no kernels of a GPU") != std::string::npos);
  }
};

QTEST_APPLESS_MAIN(ProfileStepTest)
#include "profile_step_test.moc"
