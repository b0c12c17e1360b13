#include "cli/places.h"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace mete {
namespace {

// The value if it is set and not empty; XDG's directories must be absolute to count.
std::string Value(const GetVariable& get, const char* name, bool absolute) {
  const char* value = get(name);
  if (value == nullptr || *value == '\0' || (absolute && *value != '/')) return "";
  return value;
}

std::string HomeDirectory(const GetVariable& get) {
  const std::string home = Value(get, "HOME", true);
  if (!home.empty()) return home;
  const passwd* entry = getpwuid(getuid());
  return entry != nullptr && entry->pw_dir != nullptr ? entry->pw_dir : "/";
}

}  // namespace

std::string DefaultStateDirectory(const GetVariable& get) {
  if (std::string directory = Value(get, "METE_STATE_DIR", false); !directory.empty()) {
    return directory;
  }
  if (std::string base = Value(get, "XDG_STATE_HOME", true); !base.empty()) return base + "/mete";
  return HomeDirectory(get) + "/.local/state/mete";
}

std::string DefaultSocketPath(const GetVariable& get) {
  if (std::string path = Value(get, "METE_SOCKET_PATH", false); !path.empty()) return path;
  if (std::string base = Value(get, "XDG_RUNTIME_DIR", true); !base.empty()) {
    return base + "/mete/mete.sock";
  }
  return DefaultStateDirectory(get) + "/mete.sock";
}

std::string AbsolutePath(const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  return error ? path : absolute.lexically_normal().string();
}

const char* ProcessVariable(const char* name) { return std::getenv(name); }

}  // namespace mete
