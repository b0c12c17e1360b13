#pragma once

// Where the daemon is looked for and keeps its state, when nobody says otherwise.

#include <functional>
#include <string>

namespace mete {

// Answers an environment variable, or null.
using GetVariable = std::function<const char*(const char*)>;

// METE_SOCKET_PATH, else $XDG_RUNTIME_DIR/mete/mete.sock, else mete.sock in the state directory.
std::string DefaultSocketPath(const GetVariable& get);

// METE_STATE_DIR, else $XDG_STATE_HOME/mete, else ~/.local/state/mete.
std::string DefaultStateDirectory(const GetVariable& get);

// `path` from the root, relative ones from the working directory.
std::string AbsolutePath(const std::string& path);

// Of this process.
const char* ProcessVariable(const char* name);

}  // namespace mete
