#include "tril/cli/bench_works.h"

#include <algorithm>

#include "tril/ops/op_table.h"
#include "tril/train/config.h"

namespace tril::cli {
namespace {

constexpr double kFloat = 4;  // bytes

// Gathers the works of one model for one size of batch.
class Works {
 public:
  Works(std::string preset, int64_t examples, int64_t length)
      : preset_(std::move(preset)), examples_(examples), length_(length) {}

  int64_t rows() const { return examples_ * length_; }
  Shape batch(int64_t width) const { return {examples_, length_, width}; }
  Shape last(int64_t width) const { return {examples_, 1, width}; }

  /// An op that moves numbers: so many read and written.
  void moves(const std::string& op, const std::string& part, std::vector<Shape> shapes, double numbers,
             Attributes attributes = {}, int64_t id_bound = 0) {
    add({op, part, std::move(shapes), std::move(attributes), id_bound, 0, kFloat * numbers});
  }
  /// An op that reads x and writes as much.
  void maps(const std::string& op, const std::string& part, const Shape& x, Attributes attributes = {}) {
    moves(op, part, {x}, 2 * static_cast<double>(x.count()), std::move(attributes));
  }
  void products(const std::string& op, const std::string& part, std::vector<Shape> shapes, double pairs,
                Attributes attributes = {}, int64_t id_bound = 0) {
    add({op, part, std::move(shapes), std::move(attributes), id_bound, 2 * pairs, 0});
  }
  void linear(const std::string& part, const Shape& x, int64_t out, bool bias) {
    products("linear", part, {x, {out, x.cols()}, bias ? Shape{out} : Shape{}},
             static_cast<double>(x.count()) * static_cast<double>(out));
  }
  void add_rows(const std::string& part, const Shape& x, const Shape& y) {
    moves("add", part, {x, y}, static_cast<double>(2 * x.count() + y.count()));
  }
  std::vector<Work> take() { return std::move(works_); }

 private:
  void add(Work work) {
    work.place = preset_ + (work.place.empty() ? "" : ", " + work.place);
    works_.push_back(std::move(work));
  }
  std::string preset_;
  int64_t examples_, length_;
  std::vector<Work> works_;
};

void window_mlp(const ModelConfig& c, Works& w) {
  w.moves("embedding", "", {{c.vocab_size, c.d_model}, {w.batch(1)[0], w.batch(1)[1]}},
          2.0 * static_cast<double>(w.rows() * c.d_model), {{"padding_idx", 0}}, c.vocab_size);
  w.moves("concat", "", {w.batch(c.d_model)}, 0);
}

void window_attention(const ModelConfig& c, Works& w) {
  const int64_t d = c.d_model, examples = w.batch(1)[0], length = w.batch(1)[1];
  w.moves("embedding", "", {{c.vocab_size, d}, {examples, length}}, 2.0 * static_cast<double>(w.rows() * d),
          {{"padding_idx", 0}}, c.vocab_size);
  w.add_rows("positions", w.batch(d), {length, d});
  w.moves("last_row", "", {w.batch(d)}, 2.0 * static_cast<double>(examples * d));
  w.linear("the query", w.last(d), d, false);
  const double heads = static_cast<double>(c.heads), by_head = static_cast<double>(examples * d * d);
  const Shape all_heads = w.last(c.heads * d);
  w.products("head_linear", "into keys", {w.last(d), {d, d}}, by_head, {{"heads", heads}});
  w.products("attention", "the last query", {all_heads, w.batch(d), w.batch(d), {}},
             2.0 * static_cast<double>(w.rows() * d * c.heads), {{"heads", heads}, {"kv_heads", 1}});
  w.products("head_linear", "out of values", {all_heads, {d, d}}, by_head, {{"heads", heads}, {"out_of", 1}});
  w.add_rows("residual", w.last(d), w.last(d));
}

// The hidden layer, the head and the loss of both window families, on rows of width `in`.
void window_end(const ModelConfig& c, int64_t in, Works& w) {
  const int64_t examples = w.batch(1)[0];
  w.linear("hidden", w.last(in), c.hidden, true);
  w.maps("relu", "hidden", w.last(c.hidden));
  w.products("linear_cross_entropy", "head and loss",
             {w.last(c.hidden), {c.vocab_size, c.hidden}, {examples, 1}, {c.vocab_size}},
             static_cast<double>(examples * c.hidden) * static_cast<double>(c.vocab_size), {}, c.vocab_size);
}

void normed(const ModelConfig& c, Works& w) {
  if (c.norm == "none") return;
  const Shape gain = c.norm_gain ? Shape{c.d_model} : Shape{};
  const double numbers = 2.0 * static_cast<double>(w.rows() * c.d_model);
  if (c.norm == "rms")
    w.moves("rms_norm", "", {w.batch(c.d_model), gain}, numbers);
  else
    w.moves("layer_norm", "", {w.batch(c.d_model), gain, c.bias ? Shape{c.d_model} : Shape{}}, numbers);
}

void decoder_attention(const ModelConfig& c, Works& w) {
  const int64_t d = c.d_model, d_k = c.d_k > 0 ? c.d_k : d, d_v = c.d_v > 0 ? c.d_v : d;
  const int64_t kv_heads = c.kv_heads > 0 ? c.kv_heads : c.heads, kv = d_k / c.heads * kv_heads,
                length = w.batch(1)[1];
  const double heads = static_cast<double>(c.heads);
  w.linear("queries", w.batch(d), d_k, c.attention_bias);
  w.linear("keys", w.batch(d), kv, c.attention_bias);
  if (c.position == "rotary")
    w.maps("rotary", "queries", w.batch(d_k), {{"heads", heads}, {"theta", c.rope_theta}});
  w.products("attention", "", {w.batch(d_k), w.batch(kv), w.batch(d_v / c.heads * kv_heads), {}},
             static_cast<double>(w.rows() * (length + 1) / 2 * (d_k + d_v)),
             {{"heads", heads}, {"kv_heads", static_cast<double>(kv_heads)}});
  w.linear("W_O", w.batch(d_v), d, c.attention_bias);
}

void decoder(const ModelConfig& c, Works& w) {
  const int64_t d = c.d_model, examples = w.batch(1)[0], length = w.batch(1)[1];
  w.moves("embedding", "", {{c.vocab_size, d}, {examples, length}}, 2.0 * static_cast<double>(w.rows() * d),
          {}, c.vocab_size);
  if (c.position == "learned")
    w.moves("slice_rows", "positions", {{c.context, d}}, 2.0 * static_cast<double>(length * d),
            {{"count", static_cast<double>(length)}});
  if (c.position == "learned" || c.position == "sinusoidal") w.add_rows("positions", w.batch(d), {length, d});
  if (c.dropout > 0) w.maps("dropout", "", w.batch(d), {{"p", c.dropout}});
  normed(c, w);
  decoder_attention(c, w);
  w.add_rows("residual", w.batch(d), w.batch(d));
  w.linear("MLP, up", w.batch(d), c.hidden, c.bias);
  const Shape hidden = w.batch(c.hidden);
  if (c.activation == "swiglu")
    w.moves("swiglu", "MLP", {hidden, hidden}, 3.0 * static_cast<double>(hidden.count()));
  else
    w.maps(c.activation, "MLP", hidden);
  w.linear("MLP, down", hidden, d, c.bias);
  w.products("linear_cross_entropy", "head and loss",
             {w.batch(d), {c.vocab_size, d}, {examples, length}, c.head_bias ? Shape{c.vocab_size} : Shape{}},
             static_cast<double>(w.rows()) * static_cast<double>(d * c.vocab_size), {}, c.vocab_size);
}

// Ops that no preset trains with, on numbers of shakespeare-char's sizes.
std::vector<Work> apart(const ModelConfig& c, int64_t examples, int64_t length) {
  Works w("shakespeare-char's sizes", examples, length);
  const int64_t width = c.d_model / c.heads;
  const Shape scores{examples, c.heads, length, length}, heads{examples * c.heads, length, width};
  w.products("matmul", "scores", {heads, heads},
             static_cast<double>(heads.count()) * static_cast<double>(length), {{"transpose_b", 1}});
  w.maps("scale", "scores", scores);
  w.moves("mask", "scores", {scores, {}}, 2 * static_cast<double>(scores.count()));
  w.maps("softmax", "scores", scores);
  w.maps("softcap", "logits", w.batch(c.vocab_size), {{"cap", 30}});
  w.moves("cross_entropy", "logits", {w.batch(c.vocab_size), {examples, length}},
          static_cast<double>(w.rows() * c.vocab_size), {}, c.vocab_size);
  for (const char* op : {"relu", "relu2", "gelu", "gelu_tanh"}) w.maps(op, "MLP", w.batch(c.hidden));
  constexpr int64_t kRank = 8;
  const int64_t d = c.d_model;
  w.products("lora_linear", "queries, rank 8", {w.batch(d), {d, d}, {}, {kRank, d}, {d, kRank}},
             static_cast<double>(w.rows() * (d * d + 2 * d * kRank)), {{"scale", 2}});
  return w.take();
}

ModelConfig sized(const std::string& preset, const Config& config) {
  ModelConfig model = config.model;
  model.vocab_size = nominal_vocabulary(preset);
  return model;
}

// Work `index` of a list that is made for a size of batch, at the largest size within the limit.
template <class Make>
Work within(const Make& make, size_t index, int64_t examples, int64_t length, double most_flops) {
  while (true) {
    Work work = make(examples, length)[index];
    if (work.flops <= most_flops || (examples == 1 && length == 1)) return work;
    if (examples > 1)
      examples = (examples + 1) / 2;
    else
      length = (length + 1) / 2;
  }
}

bool same(const Work& a, const Work& b) {
  return a.op == b.op && a.shapes == b.shapes && a.attributes == b.attributes;
}

}  // namespace

std::vector<Work> works_of(const std::string& preset, const ModelConfig& model, int64_t examples,
                           int64_t length) {
  Works works(preset, examples, length);
  if (model.family == "decoder") {
    decoder(model, works);
  } else if (model.family == "window_mlp") {
    window_mlp(model, works);
    window_end(model, length * model.d_model, works);
  } else {
    window_attention(model, works);
    window_end(model, model.d_model, works);
  }
  return works.take();
}

std::vector<Measured> all_works(double most_flops, double most_plain_flops) {
  std::vector<Measured> all;
  const auto take = [&](const auto& make, int64_t examples, int64_t length, bool only_missing) {
    const size_t count = make(examples, length).size();
    for (size_t i = 0; i < count; ++i) {
      Work work = within(make, i, examples, length, most_flops);
      const bool known = std::any_of(all.begin(), all.end(), [&](const Measured& other) {
        return only_missing ? other.fast.op == work.op : same(other.fast, work);
      });
      if (!known) all.push_back({std::move(work), within(make, i, examples, length, most_plain_flops)});
    }
  };
  for (const std::string& preset : preset_names()) {
    const Config config = resolve(preset_config(preset));
    const ModelConfig model = sized(preset, config);
    const bool decoder = model.family == "decoder";
    take([&](int64_t examples, int64_t length) { return works_of(preset, model, examples, length); },
         config.train.batch, decoder && config.train.block > 0 ? config.train.block : model.context, false);
  }
  const std::string base = "shakespeare-char";
  const Config config = resolve(preset_config(base));
  take([&](int64_t examples, int64_t length) { return apart(sized(base, config), examples, length); },
       config.train.batch, config.model.context, true);
  return all;
}

}  // namespace tril::cli
