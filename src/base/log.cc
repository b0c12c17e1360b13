#include "base/log.h"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>

namespace mete::log {

void Configure(std::string_view level, const std::string& file) {
  auto logger = file.empty() ? spdlog::stderr_color_mt("mete-" + std::string(level))
                             : spdlog::basic_logger_mt("mete-file", file);
  logger->set_pattern("%^%l%$ %Y-%m-%dT%H:%M:%S.%eZ %v", spdlog::pattern_time_type::utc);
  logger->set_level(spdlog::level::from_str(std::string(level)));
  logger->flush_on(spdlog::level::info);
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace mete::log
