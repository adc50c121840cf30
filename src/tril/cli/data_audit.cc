// tril data audit: what a text is made of, before anything is trained on it.
#include "tril/data/audit.h"

#include <memory>
#include <nlohmann/json.hpp>

#include "tril/base/error.h"
#include "tril/cli/commands.h"
#include "tril/cli/output.h"
#include "tril/cli/request.h"
#include "tril/data/corpus.h"
#include "tril/train/config.h"

namespace tril::cli {

Action declare_data_audit(Options& options) {
  struct Asked {
    std::string path;
    std::optional<std::string> preset;
    std::vector<std::string> settings;
  };
  auto asked = std::make_shared<Asked>();
  options.word("PATH", asked->path, "a text file, a folder of .txt, a .jsonl file, or tales");
  options.text("--preset", "PRESET", asked->preset, "read it as this preset would");
  settings_option(options, asked->settings, "replace one setting (data.tokenizer=char)");
  options.remark("Without --preset every document is read as words, with no cap on the vocabulary.");
  return [asked](const Common& common) {
    ConfigBuilder builder;
    if (asked->preset) builder.add_preset(*asked->preset);
    use_data(builder, asked->path);
    for (const std::string& setting : asked->settings) builder.set(setting);
    const Config config = builder.finish();
    CorpusOptions corpus_options;
    corpus_options.document_bounds = config.train.batches == "documents";
    const Corpus corpus = build_corpus(config.data, corpus_options);
    if (!common.json) {
      print(audit_text(corpus.audit));
      return kExitDone;
    }
    const nlohmann::json manifest = manifest_json(corpus);
    nlohmann::ordered_json document = audit_json(corpus.audit);
    document["source"] = manifest.at("source");
    document["settings"] = data_settings_json(config.data);
    print_json(document);
    return kExitDone;
  };
}

}  // namespace tril::cli
