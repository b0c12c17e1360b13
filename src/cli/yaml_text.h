#pragma once

// A JSON document as block-style YAML for people. Strings that YAML could take for something else
// are written as JSON strings, which are YAML too.

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace mete {

std::string YamlText(const nlohmann::ordered_json& document);

}  // namespace mete
