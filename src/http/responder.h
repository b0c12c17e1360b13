#pragma once

// How a handler answers a request: at once or later, whole or as a stream. Handles are small and
// may be copied; all calls are made on the loop's thread. When the client has gone in the meantime
// they do nothing.

#include <functional>
#include <memory>
#include <string_view>

#include "http/message.h"

namespace mete::http {

// Where an answer goes: a connection of the server, or a test. One a request.
class ResponseSink {
 public:
  virtual ~ResponseSink() = default;
  // One of the two, once.
  virtual void Send(Response response) = 0;
  virtual void StartStream(Response head) = 0;
  // After StartStream. False when the client has gone or was dropped.
  virtual bool Write(std::string_view bytes) = 0;
  virtual void EndStream() = 0;
  virtual void OnGone(std::function<void()> function) = 0;
  virtual bool IsOpen() const = 0;
};

// A response that is sent piece by piece: log lines, server-sent events.
class ResponseStream {
 public:
  ResponseStream() = default;
  explicit ResponseStream(std::shared_ptr<ResponseSink> sink) : sink_(std::move(sink)) {}

  // Queues; never waits. False when the client has gone, or has just been dropped because it left
  // more unread than ServerOptions::stream_buffer_bytes.
  bool Write(std::string_view bytes);
  bool Send(const ServerEvent& event);
  // What is queued still goes out.
  void End();
  bool IsOpen() const;
  // Calls `function` once, from the loop, when the client goes or is dropped; not after End().
  void OnGone(std::function<void()> function);

 private:
  std::shared_ptr<ResponseSink> sink_;
};

// A handler answers exactly once. If all copies go without an answer, the client gets status 500.
class Responder {
 public:
  explicit Responder(std::shared_ptr<ResponseSink> sink);

  void Send(Response response) const;
  // `head.body` is the first piece.
  ResponseStream StartStream(Response head) const;
  // A stream of server-sent events.
  ResponseStream StartEvents() const;
  // The client still waits for the answer.
  bool IsOpen() const;

 private:
  struct Answer;
  std::shared_ptr<Answer> answer_;
};

// The text of an event in a text/event-stream.
std::string FormatEvent(const ServerEvent& event);

}  // namespace mete::http
