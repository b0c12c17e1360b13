#pragma once

// For tests: a folder that is removed with all that is in it.

#include <ftw.h>
#include <stdlib.h>

#include <cstdio>
#include <string>

namespace mete::runner {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    char name[] = "/tmp/mete-test-XXXXXX";
    path_ = mkdtemp(name);
  }
  ~TemporaryFolder() {
    const auto remove_entry = [](const char* path, const struct stat*, int, FTW*) {
      remove(path);  // what has gone meanwhile is as well
      return 0;
    };
    nftw(path_.c_str(), remove_entry, 16, FTW_DEPTH | FTW_PHYS);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& Path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace mete::runner
