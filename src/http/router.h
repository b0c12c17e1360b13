#pragma once

// From method and path to a handler: Add("GET", "/v1/jobs/{id}", ...) and the handler finds "id" in
// its parameters, decoded. A fixed segment wins over a parameter. An unknown path is answered with
// 404, a known one with another method with 405 and an Allow header; HEAD goes to GET's handler.

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "http/message.h"
#include "http/responder.h"

namespace mete::http {

using PathParameters = std::map<std::string, std::string>;

class Router {
 public:
  using Handler = std::function<void(Request, const PathParameters&, Responder)>;

  // A method and pattern may be added once.
  void Add(std::string method, std::string_view pattern, Handler handler);

  void Handle(Request request, Responder responder) const;

 private:
  struct Segment {
    std::string text;  // the fixed text, or the parameter's name
    bool is_parameter = false;
    bool operator==(const Segment&) const = default;
  };
  struct Route {
    std::string method;
    std::vector<Segment> segments;
    Handler handler;
  };

  static bool Matches(const Route& route, const std::vector<std::string>& path);
  // True when `a` has a fixed segment at the first place where the two differ in kind.
  static bool IsMoreSpecific(const Route& a, const Route& b);

  std::vector<Route> routes_;
};

}  // namespace mete::http
