// The traces that the writer patches together are messages of the Chakra schema: the code that protoc
// generates from core/chakra/chakra.proto reads every node, finds no unknown field, and reads the values of
// the lowered program.
#include <google/protobuf/io/coded_stream.h>

#include <QtTest>
#include <map>
#include <mutex>

#include "bundle/sink.h"
#include "bundle/trace_export.h"
#include "chakra.pb.h"
#include "plan/rank_mesh.h"
#include "support/trace_designs.h"

using namespace shardscape;
using namespace shardscape::test;
namespace pb = ChakraProtoMsg;

namespace {

class Files : public ByteSink {
 public:
  std::optional<Problem> write(const std::string& name, std::string_view bytes) override {
    const std::scoped_lock lock(mutex_);
    of[name] = bytes;
    return std::nullopt;
  }
  std::map<std::string, std::string> of;

 private:
  std::mutex mutex_;
};

struct Trace {
  pb::GlobalMetadata metadata;
  std::vector<pb::Node> nodes;
};

// The messages of a file, each after its length.
Trace parse(const std::string& bytes) {
  Trace out;
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const uint8_t*>(bytes.data()),
                                            static_cast<int>(bytes.size()));
  const auto next = [&](google::protobuf::Message& message) {
    uint32_t size = 0;
    if (!in.ReadVarint32(&size)) return false;
    const auto limit = in.PushLimit(static_cast<int>(size));
    if (!message.ParseFromCodedStream(&in) || !in.ConsumedEntireMessage()) qFatal("a message is cut off");
    in.PopLimit(limit);
    return true;
  };
  if (!next(out.metadata)) qFatal("there is no metadata");
  for (pb::Node node; next(node); node.Clear()) out.nodes.push_back(node);
  return out;
}

const pb::AttributeProto* attribute(const pb::Node& node, const std::string& name) {
  for (const pb::AttributeProto& a : node.attr())
    if (a.name() == name) return &a;
  return nullptr;
}

bool unknown_fields(const pb::Node& node) {
  const auto any = [](const google::protobuf::Message& m) {
    return !m.GetReflection()->GetUnknownFields(m).empty();
  };
  return any(node) || std::any_of(node.attr().begin(), node.attr().end(), any);
}

pb::NodeType type_of(chakra::NodeType type) { return static_cast<pb::NodeType>(type); }

}  // namespace

class ChakraSchemaTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void enumsAreThoseOfTheSchema();
  void generatedCodeReadsEveryNode_data();
  void generatedCodeReadsEveryNode();

 private:
  void compare(const pb::Node& read, const RankProgram& program, size_t i, int64_t rank);
};

void ChakraSchemaTest::enumsAreThoseOfTheSchema() {
  for (int t = 0; t < chakra::kNodeTypeCount; ++t)
    QCOMPARE(pb::NodeType_Name(t), std::string(chakra::node_type_name(static_cast<chakra::NodeType>(t))));
  for (int t = 0; t < chakra::kCollectiveTypeCount; ++t)
    QCOMPARE(pb::CollectiveCommType_Name(t),
             std::string(chakra::collective_type_name(static_cast<chakra::CollectiveType>(t))));
}

void ChakraSchemaTest::generatedCodeReadsEveryNode_data() {
  QTest::addColumn<int>("index");
  const std::vector<NamedDesign> designs = trace_designs();
  for (size_t i = 0; i < designs.size(); i += 5) QTest::newRow(designs[i].name) << static_cast<int>(i);
}

void ChakraSchemaTest::generatedCodeReadsEveryNode() {
  QFETCH(int, index);
  const auto report = trace_report(trace_designs()[static_cast<size_t>(index)].design);
  const TraceExport traces(*report, {});
  Files files;
  QVERIFY(std::holds_alternative<TraceTotals>(traces.write(files, {}, {})));
  QCOMPARE(static_cast<int64_t>(files.of.size()), report->ranks);
  std::map<std::pair<int, int64_t>, RankProgram> programs;
  for (const auto& [name, bytes] : files.of) {
    const int64_t rank = std::stoll(name.substr(name.find('.') + 1));
    const std::pair of{stage_of_rank(*report, rank), traces.lowering().position_of(rank)};
    if (!programs.contains(of)) programs[of] = traces.lowering().stage(of.first, false, {}, of.second);
    const RankProgram& program = programs[of];
    const Trace trace = parse(bytes);
    QVERIFY(!trace.metadata.version().empty());
    QCOMPARE(trace.nodes.size(), program.nodes.size());
    for (size_t i = 0; i < trace.nodes.size(); ++i) compare(trace.nodes[i], program, i, rank);
    if (QTest::currentTestFailed()) return;
  }
}

void ChakraSchemaTest::compare(const pb::Node& read, const RankProgram& program, size_t i, int64_t rank) {
  const TraceNode& node = program.nodes[i];
  const TraceOp& op = program.ops[node.op];
  QVERIFY2(!unknown_fields(read), read.name().c_str());
  QCOMPARE(read.id(), i + 1);
  QCOMPARE(read.type(), type_of(op.type));
  const auto ctrl = program.ctrl_deps(node), data = program.data_deps(node);
  QVERIFY(std::equal(ctrl.begin(), ctrl.end(), read.ctrl_deps().begin(), read.ctrl_deps().end()));
  QVERIFY(std::equal(data.begin(), data.end(), read.data_deps().begin(), read.data_deps().end()));
  const auto number = [&](const char* name, int64_t expected, auto get) {
    const pb::AttributeProto* a = attribute(read, name);
    QVERIFY2(a, name);
    QCOMPARE(static_cast<int64_t>((a->*get)()), expected);
  };
  if (op.type == chakra::NodeType::Comp) {
    number("num_ops", op.num_ops, &pb::AttributeProto::int64_val);
    number("tensor_size", op.tensor_size, &pb::AttributeProto::uint64_val);
  }
  if (op.type == chakra::NodeType::Coll) {
    number("comm_type", static_cast<int64_t>(op.collective.value()), &pb::AttributeProto::int64_val);
    number("comm_size", op.comm_size, &pb::AttributeProto::int64_val);
  }
  if (op.type == chakra::NodeType::Send) number("comm_src", rank, &pb::AttributeProto::int32_val);
  if (op.type == chakra::NodeType::Recv) number("comm_dst", rank, &pb::AttributeProto::int32_val);
  if (op.type == chakra::NodeType::Send || op.type == chakra::NodeType::Recv)
    number("comm_size", op.comm_size, &pb::AttributeProto::int64_val);
}

QTEST_APPLESS_MAIN(ChakraSchemaTest)
#include "chakra_schema_test.moc"
