#pragma once

// The log of a process: spdlog to standard error, one line an event, UTC, with the level first.
// Use as log::Info("took over the journal, term {}", term.value).

#include <spdlog/spdlog.h>

#include <string_view>
#include <utility>

namespace mete::log {

// level: "debug", "info", "warn", "error", "off". `file` empty: standard error.
void Configure(std::string_view level, const std::string& file = "");

template <typename... Args>
void Debug(spdlog::format_string_t<Args...> format, Args&&... args) {
  spdlog::debug(format, std::forward<Args>(args)...);
}
template <typename... Args>
void Info(spdlog::format_string_t<Args...> format, Args&&... args) {
  spdlog::info(format, std::forward<Args>(args)...);
}
template <typename... Args>
void Warn(spdlog::format_string_t<Args...> format, Args&&... args) {
  spdlog::warn(format, std::forward<Args>(args)...);
}
template <typename... Args>
void Error(spdlog::format_string_t<Args...> format, Args&&... args) {
  spdlog::error(format, std::forward<Args>(args)...);
}

}  // namespace mete::log
