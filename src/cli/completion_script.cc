#include "cli/completion_script.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

namespace mete {
namespace {

std::string Join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::vector<std::string> OptionNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

std::string Names(const std::vector<VerbDescription>& verbs) {
  std::vector<std::string> names;
  for (const VerbDescription& verb : verbs) names.push_back(verb.name);
  return Join(names);
}

// Text between single quotes for every shell.
std::string Quoted(const std::string& text) {
  std::string quoted;
  for (const char c : text) {
    if (c != '\'') quoted += c;
  }
  return "'" + quoted + "'";
}

std::string Bash(const std::vector<VerbDescription>& verbs) {
  std::string cases;
  for (const VerbDescription& verb : verbs) {
    std::string words = Join(verb.words);
    if (verb.takes_jobs)
      words += (words.empty() ? "" : " ") + std::string("$(mete complete-jobs 2>/dev/null)");
    cases += fmt::format("    {}) options=\"{}\"; words=\"{}\"; files={} ;;\n", verb.name,
                         Join(verb.options), words, verb.takes_files ? 1 : 0);
  }
  return fmt::format(R"(# mete completion for bash: source <(mete completion bash)
_mete() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} verb="" word options="" words="" files=0
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case $word in -*) ;; *) verb=$word; break ;; esac
  done
  case $verb in
    "") words="{}" ;;
{}  esac
  if [[ $current == -* ]]; then words=$options; fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  if [[ $files == 1 && $current != -* ]]; then
    mapfile -t -O "${{#COMPREPLY[@]}}" COMPREPLY < <(compgen -f -- "$current")
  fi
}}
complete -o filenames -F _mete mete
)",
                     Names(verbs), cases);
}

std::string Zsh(const std::vector<VerbDescription>& verbs) {
  std::string list;
  std::string cases;
  for (const VerbDescription& verb : verbs) {
    list += fmt::format("    {}\n", Quoted(verb.name + ":" + verb.help));
    cases += fmt::format("    {}) options=({})", verb.name, Join(verb.options));
    if (!verb.words.empty()) cases += fmt::format("; words=({})", Join(verb.words));
    if (verb.takes_jobs) cases += "; words=(${(f)\"$(mete complete-jobs 2>/dev/null)\"})";
    if (verb.takes_files) cases += "; _files";
    cases += " ;;\n";
  }
  return fmt::format(R"(#compdef mete
# mete completion for zsh: mete completion zsh > "${{fpath[1]}}/_mete"
_mete() {{
  local -a verbs options words
  verbs=(
{}  )
  local verb="" word
  for word in ${{words[2,CURRENT-1]}}; do
    case $word in -*) ;; *) verb=$word; break ;; esac
  done
  words=()
  if [[ -z $verb ]]; then _describe verb verbs; return; fi
  case $verb in
{}  esac
  if [[ $PREFIX == -* ]]; then compadd -a options; else compadd -a words; fi
}}
compdef _mete mete
)",
                     list, cases);
}

std::string Fish(const std::vector<VerbDescription>& verbs) {
  std::string text = "# mete completion for fish: mete completion fish | source\n";
  text += "complete -c mete -f\n";
  for (const VerbDescription& verb : verbs) {
    text += fmt::format("complete -c mete -n __fish_use_subcommand -a {} -d {}\n", verb.name,
                        Quoted(verb.help));
    const std::string seen = fmt::format("'__fish_seen_subcommand_from {}'", verb.name);
    for (const std::string& option : verb.options) {
      const bool is_long = option.starts_with("--");
      text += fmt::format("complete -c mete -n {} -{} {}\n", seen, is_long ? "l" : "s",
                          option.substr(is_long ? 2 : 1));
    }
    if (!verb.words.empty()) {
      text += fmt::format("complete -c mete -n {} -a {}\n", seen, Quoted(Join(verb.words)));
    }
    if (verb.takes_jobs) {
      text += fmt::format("complete -c mete -n {} -a '(mete complete-jobs 2>/dev/null)'\n", seen);
    }
    if (verb.takes_files) text += fmt::format("complete -c mete -n {} -F\n", seen);
  }
  return text;
}

}  // namespace

std::vector<VerbDescription> DescribeVerbs(const CLI::App& app) {
  std::vector<VerbDescription> verbs;
  for (const CLI::App* verb : app.get_subcommands({})) {
    if (verb->get_group().empty()) continue;
    VerbDescription description;
    description.name = verb->get_name();
    description.help = verb->get_description();
    description.options = OptionNames(*verb);
    for (const std::string& name : OptionNames(app)) {
      if (name != "--version" && std::find(description.options.begin(), description.options.end(),
                                           name) == description.options.end()) {
        description.options.push_back(name);
      }
    }
    for (const CLI::App* nested : verb->get_subcommands({})) {
      description.words.push_back(nested->get_name());
    }
    for (const CLI::Option* option : verb->get_options()) {
      if (!option->get_positional()) continue;
      if (option->get_type_name() == "JOB") description.takes_jobs = true;
      if (option->get_type_name() == "FILE") description.takes_files = true;
    }
    if (description.name == "completion") description.words = {"bash", "zsh", "fish"};
    verbs.push_back(std::move(description));
  }
  return verbs;
}

std::string CompletionScript(const std::string& shell, const std::vector<VerbDescription>& verbs) {
  if (shell == "zsh") return Zsh(verbs);
  if (shell == "fish") return Fish(verbs);
  return Bash(verbs);
}

}  // namespace mete
