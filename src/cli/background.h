#pragma once

// A daemon in the background: started by `mete serve --background` and `mete run --detach`.

#include <string>
#include <vector>

#include "cli/session.h"

namespace mete {

// Runs this very program as `mete serve ARGUMENTS` in a session of its own, its log in the state
// directory, and waits until it answers on the session's socket.
Status StartBackgroundDaemon(const Session& session, const std::vector<std::string>& arguments);

// Whether somebody answers on the session's socket. What is neither yes nor "nobody listens" (not
// ours, ...) is an error.
Result<bool> DaemonAnswers(const Session& session);

}  // namespace mete
