#pragma once

// What travels: a request and a response of HTTP/1.1. Values, without any idea of what a body
// means.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mete::http {

using Headers = std::vector<std::pair<std::string, std::string>>;

// The first value of header `name` (letter case does not matter), or null.
const std::string* FindHeader(const Headers& headers, std::string_view name);

// The path and query of a request line, taken apart (http/target.h).
struct Target {
  std::string path;                          // as sent, without the query: "/v1/jobs/a%20b"
  std::vector<std::string> segments;         // decoded: "v1", "jobs", "a b"
  std::map<std::string, std::string> query;  // decoded

  bool operator==(const Target&) const = default;
};

struct Request {
  std::string method = "GET";
  Target target;
  Headers headers;
  std::string body;
  // Who sent it, where the transport knows: on a unix socket.
  std::optional<uint32_t> peer_uid;

  const std::string* FindHeader(std::string_view name) const {
    return http::FindHeader(headers, name);
  }
  // The query's value of `name`, or null.
  const std::string* FindQuery(const std::string& name) const {
    const auto found = target.query.find(name);
    return found == target.query.end() ? nullptr : &found->second;
  }
};

struct Response {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  Headers headers;  // beside Content-Type, Content-Length and Connection, which the server sets

  const std::string* FindHeader(std::string_view name) const {
    return http::FindHeader(headers, name);
  }
};

// One event of a text/event-stream.
struct ServerEvent {
  std::string name;  // empty: "message"
  std::string data;  // may hold several lines
  std::string id;    // empty: none

  bool operator==(const ServerEvent&) const = default;
};

}  // namespace mete::http
