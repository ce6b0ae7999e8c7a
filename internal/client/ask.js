// Asks cordon about every tool call. A call that no guard has clearly allowed is
// refused; see package internal/client.
import { spawn } from "node:child_process";

const guards = /*GUARDS*/ [];

// ask runs one guard. It resolves to nothing if the call may run, and rejects
// with the reason if not.
function ask(guard, input) {
  return new Promise((resolve, reject) => {
    const refuse = (why) => reject(new Error("BLOCKED: " + why));
    const fail = (why) => (guard.block ? refuse(why) : resolve());
    let child;
    try {
      child = spawn(guard.argv[0], guard.argv.slice(1), { stdio: ["pipe", "ignore", "pipe"] });
    } catch (error) {
      return fail("the guard cannot be started: " + error.message);
    }
    let text = "";
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      fail("the guard did not answer in time.");
    }, guard.timeout);
    const settle = (how) => {
      clearTimeout(timer);
      how();
    };
    child.on("error", (error) => settle(() => fail("the guard cannot be started: " + error.message)));
    child.on("close", (code, signal) =>
      settle(() => {
        if (code === 0 && !signal) return resolve();
        if (code === 2 && text.trim() !== "") return reject(new Error(text.trim()));
        if (code === 2) return refuse("cordon refuses this call and does not say why.");
        fail("the guard failed (" + (signal || "code " + code) + ").");
      }),
    );
    child.stderr.on("data", (data) => {
      if (text.length < 16384) text += data;
    });
    child.stdin.on("error", () => {}); // a guard that does not read: its end tells
    child.stdin.end(JSON.stringify(input));
  });
}

// matches fails for an expression that cannot be read, and the call with it.
function matches(guard, tool) {
  return guard.matcher === "" || new RegExp(guard.matcher).test(tool);
}

