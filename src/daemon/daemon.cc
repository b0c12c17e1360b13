#include "daemon/daemon.h"

#include <csignal>
#include <filesystem>
#include <future>
#include <thread>
#include <utility>

#include "api/api.h"
#include "backend/local/local_backend.h"
#include "backend/local/replica_folder.h"
#include "base/clock.h"
#include "base/log.h"
#include "daemon/install_paths.h"
#include "daemon/loop_executor.h"
#include "daemon/version.h"
#include "engine/engine.h"
#include "http/event_loop.h"
#include "http/router.h"
#include "http/server.h"
#include "http/token.h"
#include "policy/registry.h"
#include "store/journal.h"

namespace mete {
namespace {

constexpr Duration kSettleTimeout = std::chrono::seconds(2);

}  // namespace

// Members stand in the order in which they are made; what uses another stands below it.
class Daemon::Impl {
 public:
  explicit Impl(DaemonOptions options) : options_(std::move(options)) {}
  ~Impl() { Stop(); }

  Status Start();
  void Wait();
  void Stop();
  void HandleSignals();

  const std::string& socket_path() const { return options_.socket_path; }
  std::optional<uint16_t> tcp_port() const { return tcp_port_; }

 private:
  Status Listen();
  void StopWhenSettled(Instant deadline);

  DaemonOptions options_;
  SystemClock clock_;
  EventLoop loop_;
  PolicyRegistry policies_ = BuiltinPolicies();
  std::unique_ptr<Journal> journal_;
  std::unique_ptr<LocalBackend> backend_;
  std::unique_ptr<LoopExecutor> executor_;
  std::unique_ptr<Engine> engine_;
  http::Router router_;
  std::unique_ptr<http::Server> server_;
  std::optional<uint16_t> tcp_port_;
  EventLoop::Timer settle_timer_;
  std::thread thread_;
};

Status Daemon::Impl::Start() {
  InstallPaths paths;
  METE_ASSIGN_OR_RETURN(paths, FindInstallPaths(options_.runner_path, options_.python_path));
  // First of all the journal: its lock is what keeps a second daemon away.
  METE_ASSIGN_OR_RETURN(
      OpenedJournal opened,
      Journal::Open(options_.state_directory + "/journal.db",
                    {.retain_bytes = options_.retain_bytes}, clock_,
                    [this](std::function<void()> f) { loop_.Post(std::move(f)); }));
  journal_ = std::move(opened.journal);
  for (const std::string& note : opened.notes) log::Warn("{}", note);
  if (options_.policy) opened.state.policy = *options_.policy;

  METE_ASSIGN_OR_RETURN(backend_, LocalBackend::Open({.state_directory = options_.state_directory,
                                                      .runner_path = paths.runner,
                                                      .term = opened.state.term,
                                                      .python_path = paths.python,
                                                      .cpu_millis = options_.cpu_millis,
                                                      .memory_bytes = options_.memory_bytes,
                                                      .strict = options_.strict},
                                                     loop_, clock_));
  executor_ = std::make_unique<LoopExecutor>(loop_, clock_);
  engine_ = std::make_unique<Engine>(options_.engine, clock_, *executor_, *backend_, *journal_,
                                     policies_);
  const Term term = opened.state.term;
  RegisterApi(router_,
              {.engine = *engine_,
               .clock = clock_,
               .loop = loop_,
               .policies = policies_,
               .journal = journal_.get(),
               .replica_directory =
                   [this](ReplicaId id) { return ReplicaFolder(options_.state_directory, id); },
               .request_shutdown = [this] { StopWhenSettled(clock_.Now() + kSettleTimeout); },
               .version = kVersion,
               .state_directory = options_.state_directory,
               .socket_path = options_.socket_path,
               .term = term});

  std::promise<Status> started;
  std::future<Status> ready = started.get_future();
  loop_.Post([this, state = std::move(opened.state), &started]() mutable {
    engine_->Start(std::move(state), [this, &started](Result<void> engine) {
      started.set_value(engine ? Listen() : engine);
    });
  });
  thread_ = std::thread([this] { loop_.Run(); });
  Status status = ready.get();
  if (status) log::Info("serving {}, term {}", options_.socket_path, term.value);
  return status;
}

Status Daemon::Impl::Listen() {
  server_ = std::make_unique<http::Server>(
      loop_, http::ServerOptions{}, [this](http::Request request, http::Responder responder) {
        router_.Handle(std::move(request), std::move(responder));
      });
  METE_RETURN_IF_ERROR(server_->ListenUnix(options_.socket_path));
  if (options_.tcp_port) {
    METE_ASSIGN_OR_RETURN(std::string token,
                          http::LoadOrCreateToken(options_.state_directory + "/token"));
    METE_ASSIGN_OR_RETURN(tcp_port_, server_->ListenTcp(*options_.tcp_port, std::move(token)));
  }
  return {};
}

void Daemon::Impl::Wait() {
  if (thread_.joinable()) thread_.join();
}

// Runners of replicas that have ended wait for a word that the journal knows; a daemon that ends by
// itself gives it to them first, so that they leave too.
void Daemon::Impl::StopWhenSettled(Instant deadline) {
  if ((engine_->settled() && backend_->Settled()) || clock_.Now() >= deadline) return loop_.Stop();
  settle_timer_ =
      loop_.After(std::chrono::milliseconds(10), [this, deadline] { StopWhenSettled(deadline); });
}

void Daemon::Impl::Stop() {
  if (thread_.joinable()) {
    loop_.Post([this] { StopWhenSettled(clock_.Now() + kSettleTimeout); });
  }
  Wait();
  settle_timer_.Cancel();
  server_.reset();
  engine_.reset();
  executor_.reset();
  backend_.reset();
  journal_.reset();  // writes what was handed in
}

void Daemon::Impl::HandleSignals() {
  loop_.OnSignals({SIGINT, SIGTERM}, [this](int signal) {
    log::Info("signal {}: ending; jobs go on without this daemon", signal);
    StopWhenSettled(clock_.Now() + kSettleTimeout);
  });
}

Result<std::unique_ptr<Daemon>> Daemon::Start(DaemonOptions options) {
  auto impl = std::make_unique<Impl>(std::move(options));
  METE_RETURN_IF_ERROR(impl->Start());
  return std::unique_ptr<Daemon>(new Daemon(std::move(impl)));
}

Daemon::Daemon(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Daemon::~Daemon() = default;
void Daemon::Wait() { impl_->Wait(); }
void Daemon::Stop() { impl_->Stop(); }
void Daemon::HandleSignals() { impl_->HandleSignals(); }
const std::string& Daemon::socket_path() const { return impl_->socket_path(); }
std::optional<uint16_t> Daemon::tcp_port() const { return impl_->tcp_port(); }

}  // namespace mete
