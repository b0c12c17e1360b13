#include "cli/follow_jobs.h"

#include <unistd.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "base/progress_bar.h"
#include "cli/interrupts.h"
#include "cli/job_watch.h"
#include "cli/live_screen.h"
#include "cli/summary_reader.h"
#include "report/top_screen.h"

namespace mete {
namespace {

constexpr Duration kInterval = std::chrono::milliseconds(500);
constexpr Duration kSameInterrupt = std::chrono::milliseconds(300);

class Follower {
 public:
  Follower(const Session& session, const std::vector<JobId>& ids)
      : session_(session), watch_(ids), ids_(ids.begin(), ids.end()) {
    if (!session.machine_readable() && !session.quiet && IsTerminal(session.out())) {
      screen_ = std::make_unique<LiveScreen>(fileno(session.out()), STDIN_FILENO);
    }
  }

  ExitCode Run() {
    const Status status = Loop();
    screen_.reset();
    if (!status) {
      session_.Note("the jobs go on without this program");
      return session_.Fail(status.error());
    }
    if (was_live_) {
      for (const auto& [id, job] : watch_.jobs()) session_.Print(JobLine(job) + "\n");
    }
    if (session_.machine_readable()) PrintDocuments();
    if (interrupts_.count() > 0) return ExitCode::kInterrupted;
    return watch_.AllDone() ? ExitCode::kOk : ExitCode::kJobFailed;
  }

 private:
  Status Loop() {
    was_live_ = screen_ != nullptr;
    while (true) {
      std::vector<JobSummary> changed;
      METE_RETURN_IF_ERROR(watch_.Update(session_, &changed));
      if (screen_ == nullptr && !session_.machine_readable()) {
        for (const JobSummary& job : changed) {
          // With --quiet only how it ended.
          if (!session_.quiet || IsFinal(job.phase)) session_.Print(JobLine(job) + "\n");
        }
      }
      if (watch_.AllFinal()) return {};
      if (screen_ != nullptr) Draw();
      const Instant next = session_.clock().Now() + kInterval;
      while (session_.clock().Now() < next) {
        const Duration left = std::max<Duration>(next - session_.clock().Now(), Duration::zero());
        if (screen_ != nullptr) {
          Scroll(screen_->WaitKey(left, interrupts_));
        } else {
          interrupts_.Wait(left);
        }
        if (interrupts_.count() > handled_) EndJobs();
      }
    }
  }

  // One more Ctrl-C: first the polite way, then the other.
  void EndJobs() {
    const Instant now = session_.clock().Now();
    handled_ = interrupts_.count();
    // Programs around this one (timeout, make) may pass the same Ctrl-C on a second time.
    if (asked_ && now - asked_at_ < kSameInterrupt) return;
    const bool kill = asked_;
    asked_ = true;
    asked_at_ = now;
    if (screen_ == nullptr) {
      session_.Note(kill ? "killing the jobs" : "ending the jobs; Ctrl-C again kills them");
    }
    for (const auto& [id, job] : watch_.jobs()) {
      if (IsFinal(job.phase)) continue;
      // One that has ended meanwhile refuses; that is as good.
      (void)session_.Call("POST", JobTarget(std::to_string(id.value), kill ? "/kill" : "/cancel"));
    }
  }

  void PrintDocuments() {
    Document document = Document::object();
    document["jobs"] = Document::array();
    for (const auto& [id, job] : watch_.jobs()) {
      Result<Document> one = session_.Call("GET", JobTarget(std::to_string(id.value)));
      if (one) document["jobs"].push_back(std::move(*one));
    }
    session_.PrintDocument(document);
  }

  // Without an answer the old picture stays; Update() knows how long to bear that.
  void Draw() {
    const Result<Document> document = session_.Call("GET", "/v1/top?ended=1000");
    if (!document) return;
    ClusterSummary cluster = ReadClusterSummary(*document);
    SortForTop(cluster.jobs);
    // Ended jobs of others are of no interest here.
    std::erase_if(cluster.jobs, [&](const JobSummary& job) {
      return IsFinal(job.phase) && !ids_.contains(job.id);
    });
    first_ = std::clamp(first_, 0, std::max(0, static_cast<int>(cluster.jobs.size()) - 1));
    const ScreenSize size = screen_->Size();
    TextStyle style = session_.style();
    style.width_columns = size.columns;
    screen_->Show(TopText(cluster,
                          {.rows = size.rows,
                           .first = first_,
                           .foot = !asked_ ? "Ctrl-C ends the jobs  arrows scroll"
                                           : "ending the jobs; Ctrl-C again kills them"},
                          style));
  }

  void Scroll(std::optional<Key> key) {
    if (key == Key::kUp) --first_;
    if (key == Key::kDown) ++first_;
    if (key == Key::kPageUp) first_ -= 10;
    if (key == Key::kPageDown) first_ += 10;
    if (key == Key::kHome) first_ = 0;
  }

  const Session& session_;
  JobWatch watch_;
  const std::set<JobId> ids_;
  Interrupts interrupts_;
  std::unique_ptr<LiveScreen> screen_;
  bool was_live_ = false;
  int handled_ = 0;     // interrupts that have been seen
  bool asked_ = false;  // the jobs have been asked to end
  Instant asked_at_;
  int first_ = 0;
};

}  // namespace

ExitCode FollowJobs(const Session& session, const std::vector<JobId>& ids) {
  return Follower(session, ids).Run();
}

}  // namespace mete
