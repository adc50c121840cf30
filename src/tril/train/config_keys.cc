// The table of every configuration key.
#include "tril/train/config_keys.h"

namespace tril {
namespace {

constexpr double kMillion = 1e6, kBillion = 1e9, kSeeds = 4294967295.0;

template <auto Section, auto Field>
auto& at(Config& config) {
  return config.*Section.*Field;
}
template <auto Field>
constexpr auto data = &at<&Config::data, Field>;
template <auto Field>
constexpr auto model = &at<&Config::model, Field>;
template <auto Field>
constexpr auto train = &at<&Config::train, Field>;
template <auto Field>
auto& lora(Config& config) {
  return config.model.lora.*Field;
}
template <auto Field>
constexpr auto run = &at<&Config::run, Field>;

ConfigKey integer(const char* section, const char* name, int64_t& (*member)(Config&), double low, double high,
                  const char* about, unsigned families = kEveryFamily) {
  return {section, name, member, low, high, false, false, {}, about, families};
}
ConfigKey real(const char* section, const char* name, double& (*member)(Config&), double low, double high,
               const char* about, unsigned families = kEveryFamily) {
  return {section, name, member, low, high, false, false, {}, about, families};
}
// above 0
ConfigKey positive(const char* section, const char* name, double& (*member)(Config&), double high,
                   const char* about, unsigned families = kEveryFamily) {
  return {section, name, member, 0, high, true, false, {}, about, families};
}
// 0 or more, below 1
ConfigKey fraction(const char* section, const char* name, double& (*member)(Config&), const char* about,
                   unsigned families = kEveryFamily) {
  return {section, name, member, 0, 1, false, true, {}, about, families};
}
ConfigKey boolean(const char* section, const char* name, bool& (*member)(Config&), const char* about,
                  unsigned families = kEveryFamily) {
  return {section, name, member, 0, 0, false, false, {}, about, families};
}
ConfigKey words(const char* section, const char* name, std::string& (*member)(Config&),
                std::vector<std::string> choices, const char* about, unsigned families = kEveryFamily) {
  return {section, name, member, 0, 0, false, false, std::move(choices), about, families};
}

std::vector<ConfigKey> data_keys() {
  using D = DataSettings;
  return {
      words("data", "path", data<&D::path>, {}, "file or folder of text; empty for the built-in tales"),
      words("data", "text", data<&D::text>, {}, "inline text instead of a path"),
      integer("data", "repeat", data<&D::repeat>, 1, kBillion, "how often the inline text is repeated"),
      words("data", "documents", data<&D::documents>, {"auto", "separator", "blank-line", "line", "whole"},
            "what ends a document; auto: <|endoftext|> where it occurs, else blank lines (word), else whole"),
      integer("data", "stories", data<&D::stories>, 0, kBillion,
              "take the first N documents; 0 = all (tales: 1,300)"),
      integer("data", "seed", data<&D::seed>, 0, kSeeds, "seed of the tales generator, and of nothing else"),
      words("data", "split", data<&D::split>, {"auto", "hash", "tail", "none"},
            "hash: by document, 80/10/10; tail: the last tenth validates; none: all trains; auto: hash where "
            "there are "
            "documents, else tail"),
      boolean("data", "dedupe", data<&D::dedupe>, "remove duplicated documents before a split by hash"),
      words("data", "tokenizer", data<&D::tokenizer>, {}, "word, char, bpe, or a path to a tokenizer file"),
      words("data", "pattern", data<&D::pattern>, {"gpt2", "gpt4"},
            "split pattern of a BPE tokenizer trained here"),
      integer("data", "vocabulary", data<&D::vocabulary>, 0, 16 * kMillion,
              "largest vocabulary, specials included; 0 = no cap"),
      integer("data", "min_count", data<&D::min_count>, 1, kBillion, "rarer training words become <UNK>"),
  };
}

std::vector<ConfigKey> model_keys() {
  using M = ModelConfig;
  const unsigned attention = kWindowAttention | kDecoder;
  return {
      words("model", "family", model<&M::family>, {"window_mlp", "window_attention", "decoder"},
            "kind of model"),
      integer("model", "d_model", model<&M::d_model>, 1, 65536, "width of a token's vector"),
      integer("model", "heads", model<&M::heads>, 1, 4096, "attention heads", attention),
      integer("model", "kv_heads", model<&M::kv_heads>, 0, 4096,
              "key/value heads, shared by groups; 0 = heads", kDecoder),
      integer("model", "d_k", model<&M::d_k>, 0, 65536,
              "width of queries and keys over all heads; 0 = d_model", attention),
      integer("model", "d_v", model<&M::d_v>, 0, 65536, "width of values over all heads; 0 = d_model",
              attention),
      integer("model", "hidden", model<&M::hidden>, 1, 1048576, "width of the feed-forward layer"),
      integer("model", "layers", model<&M::layers>, 1, 1000, "blocks", kDecoder),
      integer("model", "context", model<&M::context>, 1, 1048576, "tokens that a prediction may see"),
      words("model", "norm", model<&M::norm>, {"layer", "rms", "none"}, "kind of normalisation", kDecoder),
      words("model", "norm_place", model<&M::norm_place>, {"pre", "post"},
            "before each sub-layer, or after its residual sum", kDecoder),
      boolean("model", "norm_gain", model<&M::norm_gain>, "norms have a learned gain", kDecoder),
      boolean("model", "embedding_norm", model<&M::embedding_norm>, "a norm after the embedding", kDecoder),
      boolean("model", "final_norm", model<&M::final_norm>, "a norm before the vocabulary head", kDecoder),
      words("model", "position", model<&M::position>, {"learned", "sinusoidal", "rotary", "none"},
            "how positions enter", kDecoder),
      words("model", "activation", model<&M::activation>, {"relu", "relu2", "gelu", "gelu_tanh", "swiglu"},
            "of the feed-forward layer", kDecoder),
      boolean("model", "bias", model<&M::bias>, "biases in feed-forward layers and layer norms", kDecoder),
      boolean("model", "attention_bias", model<&M::attention_bias>, "biases in W_Q, W_K, W_V and W_O",
              kDecoder),
      boolean("model", "head_bias", model<&M::head_bias>, "a bias in the vocabulary head", kDecoder),
      boolean("model", "tied", model<&M::tied>, "the head is the token embedding", kDecoder),
      fraction("model", "dropout", model<&M::dropout>, "share of values dropped in training", kDecoder),
      words("model", "mask", model<&M::mask>, {"causal", "none"}, "none sees the future: an encoder",
            kDecoder),
      boolean("model", "qk_norm", model<&M::qk_norm>, "RMS norm of each head's queries and keys", kDecoder),
      real("model", "softcap", model<&M::softcap>, 0, kMillion, "logits become c tanh(logit / c); 0 = off",
           kDecoder),
      positive("model", "norm_epsilon", model<&M::norm_epsilon>, 1, "added to the variance", kDecoder),
      positive("model", "rope_theta", model<&M::rope_theta>, 1e12, "base of rotary positions", kDecoder),
      words("model", "rope_pairing", model<&M::rope_pairing>, {"half", "interleaved"},
            "which columns rotate together: i and i + half, or 2i and 2i + 1", kDecoder),
      boolean("model", "zero_init", model<&M::zero_init>, "output projections of blocks start at zero",
              kDecoder),
      words("model", "init", model<&M::init>, {"torch", "gpt2", "microgpt"}, "how weights are drawn",
            kDecoder),
  };
}

std::vector<ConfigKey> train_keys() {
  using T = TrainSettings;
  return {
      words("train", "from", train<&T::from>, {},
            "a run, folder or file whose weights and tokenizer are gone on from"),
      words("train", "from_sha256", train<&T::from_sha256>, {},
            "of its weights; filled in when a run starts"),
      integer("train", "seed", train<&T::seed>, 0, kSeeds, "of weights, batches and dropout"),
      integer("train", "steps", train<&T::steps>, 1, kBillion, "updates of the weights"),
      real("train", "minutes", train<&T::minutes>, 0, kMillion,
           "time from the program's start to its end; 0 = train.steps alone decide"),
      integer("train", "batch", train<&T::batch>, 1, 1048576, "windows, blocks or documents in a step"),
      integer("train", "block", train<&T::block>, 0, 1048576, "length of training slices; 0 = context"),
      integer("train", "accumulate", train<&T::accumulate>, 1, 1048576, "parts in which a batch is computed"),
      words("train", "batches", train<&T::batches>, {"random", "documents"},
            "random: drawn windows or blocks; documents: one document after another"),
      words("train", "random", train<&T::random>, {"torch", "python"},
            "whose generator draws weights and order"),
      words("train", "optimizer", train<&T::optimizer>, {"adam", "adamw", "muon"},
            "muon: matrices by Muon, the rest by AdamW"),
      real("train", "learning_rate", train<&T::learning_rate>, 0, kBillion, "the highest rate"),
      real("train", "min_learning_rate", train<&T::min_learning_rate>, 0, kBillion, "where a schedule ends"),
      words("train", "schedule", train<&T::schedule>, {"constant", "cosine", "linear", "trapezoid"},
            "shape of the rate after the warm-up"),
      integer("train", "warmup", train<&T::warmup>, 0, kBillion, "steps of linear rise"),
      integer("train", "cooldown", train<&T::cooldown>, 0, kBillion,
              "trapezoid: steps of linear fall; 0 = a fifth of the steps"),
      fraction("train", "beta1", train<&T::beta1>, "Adam: memory of the mean gradient"),
      fraction("train", "beta2", train<&T::beta2>, "Adam: memory of the mean squared gradient"),
      positive("train", "epsilon", train<&T::epsilon>, 1, "Adam: added to the root"),
      real("train", "weight_decay", train<&T::weight_decay>, 0, 1000,
           "decay of the weights; adam adds it to the gradient (L2)"),
      words("train", "decay", train<&T::decay>, {"all", "matrices"}, "which parameters decay"),
      fraction("train", "momentum", train<&T::momentum>, "Muon: memory of the mean gradient"),
      positive("train", "muon_learning_rate", train<&T::muon_learning_rate>, kBillion,
               "Muon: the highest rate; it follows the schedule of learning_rate"),
      real("train", "clip", train<&T::clip>, 0, kBillion, "largest gradient norm; 0 = off"),
      words("train", "freeze", train<&T::freeze>, {},
            "parameters that stay: how their names begin, between commas; * is any part of a name"),
      boolean("train", "recompute", train<&T::recompute>, "compute block activations again in backward"),
      words("train", "recipe", train<&T::recipe>, {"none", "modern"},
            "a named set of choices, over a preset's and under your own (decoder)"),
      integer("train", "eval_every", train<&T::eval_every>, 1, kBillion, "steps between evaluations"),
      integer("train", "eval_examples", train<&T::eval_examples>, 0, kBillion,
              "validation targets used by them; 0 = all"),
      integer("train", "log_every", train<&T::log_every>, 1, kBillion,
              "steps between lines of metrics.jsonl"),
      integer("train", "checkpoint_every", train<&T::checkpoint_every>, 0, kBillion,
              "steps between further checkpoints; 0 = none"),
      integer("train", "keep_checkpoints", train<&T::keep_checkpoints>, 1, kBillion,
              "checkpoints kept; best, last and the one before always are"),
      integer("train", "samples", train<&T::samples>, 0, 10000, "texts generated when training ends"),
      real("train", "sample_temperature", train<&T::sample_temperature>, 0, 100, "their temperature"),
  };
}

std::vector<ConfigKey> other_keys() {
  return {
      integer("lora", "rank", &lora<&LoraSettings::rank>, 0, 4096, "rank of the adapters; 0 = no LoRA"),
      positive("lora", "alpha", &lora<&LoraSettings::alpha>, kMillion, "an adapter counts alpha / rank"),
      words("lora", "targets", &lora<&LoraSettings::targets>, {},
            "layers that get one, by PEFT's names or tril's, between commas; empty for q and v"),
      words("lora", "adapter", &lora<&LoraSettings::adapter>, {},
            "a folder in PEFT's format to go on from; empty: A is drawn, B is zero"),
      words("lora", "adapter_sha256", &lora<&LoraSettings::adapter_sha256>, {},
            "of its weights; filled in when a run starts"),
      words("run", "engine", run<&RunSettings::engine>, {"fast", "reference"},
            "vectorised code, or plain loops"),
      words("run", "dtype", run<&RunSettings::dtype>, {"f32", "f64"},
            "precision; f64 needs the reference engine"),
      integer("run", "threads", run<&RunSettings::threads>, 0, 1024, "0 = all processors"),
  };
}

}  // namespace

const std::vector<ConfigKey>& config_keys() {
  static const std::vector<ConfigKey> all = [] {
    std::vector<ConfigKey> keys = data_keys();
    for (auto part : {model_keys(), train_keys(), other_keys()})
      keys.insert(keys.end(), part.begin(), part.end());
    return keys;
  }();
  return all;
}

}  // namespace tril
