#include "graph/graph.h"

namespace shardscape {

Expr local_size(const Tensor& tensor, int dim) {
  const auto d = static_cast<size_t>(dim);
  Expr size = tensor.sizes[d];
  for (MeshAxis axis : tensor.placement.shards[d]) size = size / mesh_axis_degree(axis);
  return size;
}

Expr local_elements(const Tensor& tensor) {
  Expr out(1);
  for (size_t d = 0; d < tensor.sizes.size(); ++d) out = out * local_size(tensor, static_cast<int>(d));
  return out;
}

Expr local_bytes(const Tensor& tensor) { return local_elements(tensor) * Expr(dtype_bytes(tensor.dtype)); }

std::string local_shape_text(const Tensor& tensor) {
  std::string out = "[";
  for (size_t d = 0; d < tensor.sizes.size(); ++d) {
    if (d) out += ", ";
    out += local_size(tensor, static_cast<int>(d)).text();
  }
  return out + "]";
}

Expr collective_elements(const Segment& segment, const Op& op) {
  const TensorId whole = op.kind == OpKind::AllGather ? op.outputs[0] : op.inputs[0];
  return local_elements(segment.tensor(whole));
}

Expr collective_bytes(const Segment& segment, const Op& op) {
  return collective_elements(segment, op) * Expr(dtype_bytes(segment.tensor(op.inputs[0]).dtype));
}

}  // namespace shardscape
