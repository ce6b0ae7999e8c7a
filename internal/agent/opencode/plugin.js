const shell = /*SHELL*/ {};

export const Cordon = async (context) => {
  const cwd = (context && context.directory) || process.cwd();
  let broken = guards.length === 0 ? new Error("BLOCKED: the plugin has no guard.") : null;
  if (!broken) {
    try {
      await ask(guards[0], { hook_event_name: "session.start", cwd });
    } catch (error) {
      broken = error;
    }
  }
  return {
    "shell.env": async (input, output) => {
      Object.assign(output.env, shell);
    },
    "tool.execute.before": async (input, output) => {
      if (broken) throw broken;
      const call = {
        hook_event_name: "tool.execute.before",
        tool: input.tool,
        sessionID: input.sessionID,
        callID: input.callID,
        cwd,
        args: output.args,
      };
      const asked = guards.filter((guard) => matches(guard, input.tool));
      const results = await Promise.allSettled(asked.map((guard) => ask(guard, call)));
      const refused = results.find((result) => result.status === "rejected");
      if (refused) throw refused.reason;
    },
  };
};
