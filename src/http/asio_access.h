#pragma once

// The io_context behind an EventLoop, for the .cc files that put their own sockets and timers on
// it. Not for headers.

#include <utility>
// Boost 1.74 needs <utility> before Asio with g++ 12.
#include <boost/asio/io_context.hpp>

#include "http/event_loop.h"

namespace mete {

boost::asio::io_context& IoContext(EventLoop& loop);

}  // namespace mete
