#pragma once

// One job of a job file: a map of YAML into a JobSpec. The keys are those of docs/job-files.md.
// Defaults and job are read one after the other into the same draft, so that what a job does not
// say stays as the defaults have it.

#include <optional>
#include <string>
#include <vector>

#include "cluster/job.h"
#include "document/environment.h"
#include "document/field_reader.h"

namespace mete {

// Who submits: what jobs get where the file is silent.
struct Submitter {
  std::string directory;  // absolute; relative paths of the file start here
  Environment environment;
};

struct JobDraft {
  JobSpec spec;
  bool is_named = false;
  // `cpus`, in thousandths; another way to describe a single role.
  std::optional<int64_t> cpu_min_millis;
  std::optional<int64_t> cpu_max_millis;
  std::string cpus_key;  // the key to complain about
  std::vector<std::string> environment_files;
  Environment environment;

  bool HasCpus() const { return cpu_min_millis || cpu_max_millis; }
};

// Adds to `draft` what the map at `where` says; problems go to the context.
void ReadJob(const YamlTree::Node& node, const std::string& where, bool is_defaults,
             ReadContext& context, JobDraft& draft);

// Makes the draft whole (directory, environment, roles, name); problems go to the context.
JobSpec FinishJob(JobDraft draft, const Submitter& submitter, ReadContext& context);

// A name for a job that has none: of its script or program ("train" for python3 train.py).
std::string DefaultJobName(const std::vector<std::string>& command);

}  // namespace mete
