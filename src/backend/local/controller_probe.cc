#include "backend/local/controller_probe.h"

#include <sched.h>
#include <unistd.h>

#include <functional>
#include <utility>

#include "backend/local/affinity.h"
#include "backend/local/cgroup_files.h"
#include "backend/local/cgroup_v1.h"
#include "backend/local/cgroup_v2.h"
#include "backend/local/control_proof.h"
#include "backend/local/duty_cycle.h"
#include "backend/local/systemd_scope.h"

namespace mete {
namespace {

constexpr std::string_view kDaemonLeaf = "/mete-daemon";

struct Opened {
  std::unique_ptr<CpuController> controller;
  std::string place;  // goes into ProbeResult::memory
};

std::string FindV2Mount(const std::string& proc) {
  const std::string mounts = ReadControlFile(proc + "/mounts").value_or("");
  for (const CgroupMount& mount : ParseCgroupMounts(mounts)) {
    if (mount.v2) return mount.path;
  }
  return "";
}

Result<Opened> OpenV2(const ProbeOptions& options, const std::string& place) {
  std::string root = place;
  if (root.empty() || access(root.c_str(), W_OK) != 0) {
    const std::string mount = FindV2Mount(options.proc);
    if (mount.empty()) {
      return Fail(ErrorCode::kUnavailable, "cgroup v2 is not mounted", options.proc + "/mounts");
    }
    METE_ASSIGN_OR_RETURN(const std::string text, ReadControlFile(options.proc + "/self/cgroup"));
    std::string path = ParseOwnCgroupV2(text).value_or("/");
    if (path.ends_with(kDaemonLeaf)) path.resize(path.size() - kDaemonLeaf.size());
    root = path == "/" ? mount : mount + path;
  }
  Result<std::unique_ptr<CgroupV2>> controller =
      CgroupV2::Open({.root = root, .instance = options.instance});
  if (controller) return Opened{std::move(*controller), root};
  Error error = controller.error();
  const std::string mounts = ReadControlFile(options.proc + "/mounts").value_or("");
  if (!CgroupV1Mounts::FromProcMounts(mounts).cpu.empty()) {
    error.hint =
        "cgroup v1 holds the cpu controller on this machine: boot with the kernel parameter "
        "systemd.unified_cgroup_hierarchy=1 (without systemd: cgroup_no_v1=all)";
  }
  return tl::make_unexpected(std::move(error));
}

Result<Opened> OpenScope(const ProbeOptions& options, const std::string& place) {
  const std::string mount = FindV2Mount(options.proc);
  if (mount.empty()) return Fail(ErrorCode::kUnavailable, "cgroup v2 is not mounted");
  if (access("/run/systemd/system", F_OK) != 0) {
    return Fail(ErrorCode::kUnavailable, "systemd does not run on this machine");
  }
  SystemdScopeOptions scope_options = {.instance = options.instance,
                                       .unit = place,
                                       .system_manager = geteuid() == 0,
                                       .proc = options.proc,
                                       .cgroup_mount = mount};
  Result<SystemdScope> scope = JoinSystemdScope(scope_options);
  if (!scope && !place.empty()) {  // the earlier one has ended
    scope_options.unit.clear();
    scope = JoinSystemdScope(scope_options);
  }
  if (!scope) return tl::make_unexpected(scope.error());
  METE_ASSIGN_OR_RETURN(
      std::unique_ptr<CgroupV2> controller,
      CgroupV2::Open({.root = scope->root, .instance = options.instance, .name = "systemd-scope"}));
  return Opened{std::move(controller), scope->unit};
}

Result<Opened> OpenV1(const ProbeOptions& options, const std::string&) {
  METE_ASSIGN_OR_RETURN(const std::string mounts, ReadControlFile(options.proc + "/mounts"));
  METE_ASSIGN_OR_RETURN(std::unique_ptr<CgroupV1> controller,
                        CgroupV1::Open({.mounts = CgroupV1Mounts::FromProcMounts(mounts),
                                        .instance = options.instance}));
  return Opened{std::move(controller), ""};
}

Result<Opened> OpenAffinity(const ProbeOptions&, const std::string&) {
  METE_ASSIGN_OR_RETURN(std::unique_ptr<Affinity> controller, Affinity::Open());
  return Opened{std::move(controller), ""};
}

Result<Opened> OpenDutyCycle(const ProbeOptions&, const std::string&) {
  cpu_set_t own;
  if (sched_getaffinity(0, sizeof(own), &own) != 0) {
    return FailErrno(errno, "cannot read which cores this process may use");
  }
  return Opened{std::make_unique<DutyCycle>(CPU_COUNT(&own)), ""};
}

struct Variant {
  std::string_view name;
  Result<Opened> (*open)(const ProbeOptions&, const std::string& place);
};

constexpr Variant kVariants[] = {
    {"cgroup-v2", OpenV2},      {"systemd-scope", OpenScope},  {"cgroup-v1", OpenV1},
    {"affinity", OpenAffinity}, {"duty-cycle", OpenDutyCycle},
};

}  // namespace

const char* ControllerVerdictName(ControllerVerdict verdict) {
  switch (verdict) {
    case ControllerVerdict::kWorks:
      return "works";
    case ControllerVerdict::kUnavailable:
      return "unavailable";
    case ControllerVerdict::kNoEffect:
      return "no_effect";
    case ControllerVerdict::kNotTried:
      return "not_tried";
  }
  return "?";
}

Result<std::unique_ptr<CpuController>> OpenController(const std::string& name,
                                                      const ProbeOptions& options) {
  for (const Variant& variant : kVariants) {
    if (variant.name != name) continue;
    METE_ASSIGN_OR_RETURN(Opened opened, variant.open(options, ""));
    return std::move(opened.controller);
  }
  return Fail(ErrorCode::kInvalidArgument, "no such controller", name,
              "one of cgroup-v2, systemd-scope, cgroup-v1, affinity, duty-cycle");
}

ProbeResult ProbeControllers(const ProbeOptions& options) {
  ProbeResult result;
  const size_t blank = options.memory.find(' ');
  const std::string remembered_name = options.memory.substr(0, blank);
  const std::string remembered_place =
      blank == std::string::npos ? "" : options.memory.substr(blank + 1);
  for (const Variant& variant : kVariants) {
    ControllerFinding& finding = result.findings.emplace_back();
    finding.name = variant.name;
    if (!options.only.empty() && options.only != variant.name) continue;
    if (result.controller != nullptr && !options.try_all) continue;
    Result<Opened> opened =
        variant.open(options, remembered_name == variant.name ? remembered_place : "");
    if (!opened) {
      finding.verdict = ControllerVerdict::kUnavailable;
      finding.remedy = std::exchange(opened.error().hint, "");
      finding.detail = opened.error().ToString();
      continue;
    }
    // Jobs that run under it since an earlier daemon are not disturbed by a second proof.
    const bool proven =
        remembered_name == variant.name && !opened->controller->List().empty() && !options.try_all;
    const ShareProof proof =
        proven ? ShareProof{.passed = true, .text = "proven by an earlier daemon, whose jobs run"}
               : ProveShares(*opened->controller);
    finding.verdict = proof.passed ? ControllerVerdict::kWorks : ControllerVerdict::kNoEffect;
    finding.detail = proof.text;
    if (!proof.passed || result.controller != nullptr) continue;
    result.controller = std::move(opened->controller);
    result.memory = std::string(variant.name);
    if (!opened->place.empty()) result.memory += " " + opened->place;
  }
  return result;
}

}  // namespace mete
