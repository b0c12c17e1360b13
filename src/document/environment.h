#pragma once

// Environment variables of jobs: files of them, references to the submitter's, and which ones are
// secrets.

#include <string>
#include <string_view>

#include "base/result.h"
#include "cluster/environment.h"

namespace mete {

// A letter or _, then letters, digits and _.
bool IsVariableName(std::string_view name);

// Names that hold KEY, TOKEN, SECRET, PASSWORD, PASSWD or CREDENTIAL, in any case of letters: their
// values are not shown.
bool IsSecretName(std::string_view name);

inline constexpr const char* kMaskedValue = "********";

// Lines NAME=VALUE, as `env` prints them and as .env files have them: comments (#), empty lines,
// `export `, and quotes around the whole value are let pass. Nothing is expanded. Errors name the
// line.
Result<Environment> ParseEnvironmentFile(std::string_view text);

// Replaces ${NAME} by the value in `environment`; $${ stands for ${. kNotFound names a variable
// that is not set.
Result<std::string> ExpandVariables(std::string_view text, const Environment& environment);

}  // namespace mete
