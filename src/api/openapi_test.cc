// docs/openapi.yaml names the routes that there are, and no others.

#include <fstream>
#include <set>

#include "api/api_fixture.h"

namespace mete {
namespace {

class OpenApi : public ApiFixture {};

// The paths and methods of an OpenAPI file in block style: paths are indented by two, methods by
// four.
std::set<RouteName> RoutesIn(const std::string& path) {
  std::ifstream file(path);
  std::set<RouteName> routes;
  std::string pattern;
  bool in_paths = false;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line[0] != ' ' && line[0] != '#') in_paths = line == "paths:";
    if (!in_paths) continue;
    if (line.starts_with("  /")) {
      pattern = line.substr(2, line.size() - 3);
    }
    for (const char* method : {"get", "post", "put", "delete"}) {
      if (!line.starts_with(std::string("    ") + method + ":")) continue;
      std::string upper = method;
      for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
      routes.insert({upper, pattern});
    }
  }
  return routes;
}

TEST_F(OpenApi, NamesEveryRoute) {
  const char* source = std::getenv("METE_SOURCE_DIR");
  ASSERT_NE(source, nullptr) << "ctest sets METE_SOURCE_DIR";
  const std::set<RouteName> described = RoutesIn(std::string(source) + "/docs/openapi.yaml");
  const std::set<RouteName> there(routes_.begin(), routes_.end());
  ASSERT_FALSE(described.empty());
  for (const RouteName& route : there) {
    EXPECT_TRUE(described.contains(route))
        << "not described: " << route.method << " " << route.pattern;
  }
  for (const RouteName& route : described) {
    EXPECT_TRUE(there.contains(route)) << "not there: " << route.method << " " << route.pattern;
  }
}

}  // namespace
}  // namespace mete
