// The name of a tensor in words. Names are built from suffixes: "y.scattered.grad".
#pragma once

#include <QString>
#include <string>

namespace shardscape::ui {

// "gradient of y, reduce-scattered"; "random state of o, no. 2". A name without known suffixes stays.
// block: false leaves out the block's name: "gradient of q" for "attention.q.grad".
QString tensor_words(const std::string& name, bool block = true);

}  // namespace shardscape::ui
