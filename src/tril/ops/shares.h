// Where the gradients of two inputs of one op go. What it leaves out: an op's own sums.
#pragma once
#include <utility>

#include "tril/autograd/tape.h"

namespace tril {

/// The shares of both (Var::share), in this order. Where they are one value, both are added to: neither may
/// write over what the other has given.
template <class T>
std::pair<Share<T>, Share<T>> shares(Var a, Var b) {
  if (a.v<T>() == b.v<T>()) a.g<T>();  // settled: it counts as zero, and is added to from here on
  const Share<T> first = a.share<T>();
  return {first, b.share<T>()};
}

}  // namespace tril
