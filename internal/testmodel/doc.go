// Package testmodel is a scripted model for tests with the real agent clients: an
// HTTP server on the loopback that speaks the wire protocols that they speak
// (Anthropic Messages, OpenAI Responses and Chat Completions, Gemini), plays a list
// of turns and records what the clients say came of each tool call.
//
// It refuses to be clever. Which turn comes next follows from the conversation that
// a request carries and from nothing else, so that a client may ask twice. Inputs
// are played as they are written. It never reaches anything itself.
//
// It is for tests only; no package of the product may import it.
//
// # The clients
//
// What follows was seen to work with Claude Code 2.1.325, Codex 0.166.0, Gemini CLI
// 0.61.0, OpenCode 1.18.33, Copilot 1.0.102, Qwen Code 0.24.4 and pi 0.73.1, each with env -i, PATH and a fresh HOME,
// in a repository, with U the URL of a model and nothing else to be reached.
//
//	IS_SANDBOX=1 ANTHROPIC_API_KEY=k ANTHROPIC_BASE_URL=$U
//	  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 DISABLE_AUTOUPDATER=1
//	claude -p "…" --setting-sources "" --strict-mcp-config --dangerously-skip-permissions
//	  --output-format stream-json --verbose
//
// IS_SANDBOX is for root. Tools that it shows only on request (NotebookEdit, Monitor) can
// be called at once.
//
//	OPENAI_API_KEY=k
//	codex exec --json --dangerously-bypass-approvals-and-sandbox --skip-git-repo-check
//	  -c 'model_providers.scripted={name="scripted",base_url="$U/v1",wire_api="responses",env_key="OPENAI_API_KEY"}'
//	  -c 'model_provider="scripted"' -c 'model="gpt-5.5"' "…" </dev/null
//
// HOME/.codex must be there. The model decides about the tools: with a name that it does
// not know there is no apply_patch. -c openai_base_url works too, after attempts at a
// WebSocket that take seconds. A sub-agent works beside its conversation: see Turn.Await.
//
//	GEMINI_API_KEY=k GOOGLE_GEMINI_BASE_URL=$U
//	gemini -p "…" --approval-mode yolo --skip-trust -o stream-json
//
// {"security":{"auth":{"selectedType":"gemini-api-key"}}} must be in some settings:
// HOME/.gemini/settings.json, or the file of GEMINI_CLI_SYSTEM_SETTINGS_PATH, which is
// passed over unless it and all directories above it are root's and writable by nobody
// else. Sub-agents end with complete_task {"result":{"response":"…"}}.
//
//	ANTHROPIC_API_KEY=k ANTHROPIC_BASE_URL=$U/v1 OPENCODE_DISABLE_MODELS_FETCH=1
//	opencode run --format json --model anthropic/claude-sonnet-4-5 "…"
//
// OPENAI_BASE_URL and openai/gpt-5.1 work alike, and have apply_patch in place of write
// and edit. It goes by PWD, not by its working directory.
//
//	COPILOT_OFFLINE=true COPILOT_PROVIDER_BASE_URL=$U/v1 COPILOT_PROVIDER_API_KEY=k COPILOT_MODEL=gpt-4.1
//	copilot -p "…" --allow-all --no-ask-user --output-format json
//
// COPILOT_PROVIDER_WIRE_API=responses with COPILOT_MODEL=gpt-5.1-codex has apply_patch in
// place of create and edit.
//
//	OPENAI_API_KEY=k OPENAI_BASE_URL=$U/v1 OPENAI_MODEL=gpt-4.1
//	qwen --approval-mode yolo -o stream-json -p "…"
//
// Its file tools take absolute paths only: see Tree.
//
//	OPENAI_API_KEY=k PI_OFFLINE=1
//	pi --provider scripted --model gpt-4.1 --mode json "…"
//
// HOME/.pi/agent/models.json names the server: {"providers":{"scripted":{"baseUrl":"$U/v1","api":"openai-completions",
// "apiKey":"OPENAI_API_KEY","models":[{"id":"gpt-4.1"}]}}}.
package testmodel
