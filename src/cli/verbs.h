#pragma once

// One function a verb: adds its subcommand with its options; when it was chosen, parsing runs it
// and sets the session's exit code. `session` outlives the app.

#include "cli/session.h"

namespace CLI {
class App;
}

namespace mete {

void AddRunCommand(CLI::App& app, Session& session);
void AddSubmitCommand(CLI::App& app, Session& session);
void AddListCommand(CLI::App& app, Session& session);
void AddDescribeCommand(CLI::App& app, Session& session);
void AddLogsCommand(CLI::App& app, Session& session);
void AddTopCommand(CLI::App& app, Session& session);
void AddWhyCommand(CLI::App& app, Session& session);
void AddJobControlCommands(CLI::App& app, Session& session);  // cancel, pause, resume, scale
void AddWaitCommand(CLI::App& app, Session& session);
void AddNodesCommand(CLI::App& app, Session& session);
void AddDoctorCommand(CLI::App& app, Session& session);
void AddPolicyCommand(CLI::App& app, Session& session);
void AddReportCommand(CLI::App& app, Session& session);
void AddServeCommand(CLI::App& app, Session& session);
void AddVersionCommand(CLI::App& app, Session& session);
void AddCompletionCommand(CLI::App& app, Session& session);

}  // namespace mete
