export default async function (pi) {
  let broken = guards.length === 0 ? new Error("BLOCKED: the extension has no guard.") : null;
  pi.on("session_start", async (event, ctx) => {
    if (broken) return;
    try {
      await ask(guards[0], { hook_event_name: "session_start", cwd: ctx.cwd });
    } catch (error) {
      broken = error;
    }
  });
  pi.on("tool_call", async (event, ctx) => {
    if (broken) return { block: true, reason: broken.message };
    const call = {
      hook_event_name: "tool_call",
      tool: event.toolName,
      callID: event.toolCallId,
      cwd: ctx.cwd,
      args: event.input,
    };
    const asked = guards.filter((guard) => matches(guard, event.toolName));
    const results = await Promise.allSettled(asked.map((guard) => ask(guard, call)));
    const refused = results.find((result) => result.status === "rejected");
    if (refused) return { block: true, reason: refused.reason.message };
  });
}
