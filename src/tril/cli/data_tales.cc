// tril data tales: stories from the built-in generator.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "tril/base/error.h"
#include "tril/base/interrupt.h"
#include "tril/cli/commands.h"
#include "tril/cli/output.h"
#include "tril/data/tales.h"

namespace tril::cli {

Action declare_data_tales(Options& options) {
  auto count = std::make_shared<std::optional<int64_t>>();
  options.integer("--count", *count, 1, 100000000, "how many (default: 1)");
  options.remark(
      "Each tale but the last is followed by a line <|endoftext|>, so that the output can be trained on.\n"
      "--seed picks another corpus; a shorter one is the beginning of a longer one.");
  return [count](const Common& common) {
    const int64_t wanted = count->value_or(1);
    const auto seed = static_cast<uint64_t>(common.seed.value_or(0));
    if (common.json) print(fmt::format("{{\n  \"seed\": {},\n  \"tales\": [\n", seed));
    for (int64_t i = 0; i < wanted; ++i) {
      interrupt::check();
      const std::string text = tale(seed, static_cast<uint64_t>(i)).text;
      const bool last = i + 1 == wanted;
      if (common
              .json)  // as they come: a million of them would be held whole, and no interrupt heard meanwhile
        print(fmt::format("    {}{}\n", nlohmann::json(text).dump(), last ? "" : ","));
      else
        print(text + (last ? "\n" : "\n<|endoftext|>\n"));
    }
    if (common.json) print("  ]\n}\n");
    return kExitDone;
  };
}

}  // namespace tril::cli
