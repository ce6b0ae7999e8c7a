package opencode

import (
	"path"

	"cordon/internal/agent"
)

// database is where OpenCode keeps conversations, and also accounts whose servers,
// or files, it takes configuration from.
const database = "data/opencode/opencode.db"

// tidyScript leaves in the database only what a conversation is, before the client
// reads it: the agent of a launch before could write all of it. It is run by the
// runtime that the client consists of.
const tidyScript = `import { Database } from "bun:sqlite"
import { existsSync } from "node:fs"

const kept = ["data_migration", "event", "event_sequence", "message", "migration", "part", "project", "session", "session_message", "todo"]
const file = process.argv[2]
if (existsSync(file)) {
  const db = new Database(file)
  const name = (s) => '"' + s.replaceAll('"', '""') + '"'
  const named = (where) => db.query("SELECT type, name FROM sqlite_master WHERE " + where).all()
  db.run("PRAGMA trusted_schema=OFF")
  db.run("PRAGMA foreign_keys=OFF")
  for (const t of named("type IN ('trigger', 'view')")) db.run("DROP " + t.type + " " + name(t.name))
  for (const t of named("type='table' AND substr(name, 1, 7) <> 'sqlite_'")) {
    if (!kept.includes(t.name)) db.run("DELETE FROM " + name(t.name))
  }
  db.run("UPDATE project SET commands=NULL, sandboxes='[]'")
  const denied = ["question", "plan_enter", "plan_exit"].map((permission) => ({ permission, pattern: "*", action: "deny" }))
  db.run("UPDATE session SET permission=?, revert=NULL, workspace_id=NULL", [JSON.stringify(denied)])
  db.close()
}
`

// tidied is a command line that tidies the database first. The runtime would read
// settings of its own from the directory that it is started in, and from the home.
func tidied(k *agent.Kit, o agent.Order, argv []string) []string {
	k.AddFile("tidy.js", []byte(tidyScript))
	k.AddFile("tidy.toml", nil)
	const script = `(cd "$1" && HOME="$1" BUN_BE_BUN=1 "$2" --config="$1/tidy.toml" "$1/tidy.js" "$3") </dev/null; shift 3; exec "$@"`
	return append([]string{"/bin/sh", "-ec", script, "sh", o.Place, o.Program, path.Join(o.State, database)}, argv...)
}
