package view

import "time"

// Serve is cordon.serve/1.
type Serve struct {
	Head
	Socket string `json:"socket" doc:"The unix socket on which the server answers."`
}

// Token is a token of the HTTP interface, without its secret.
type Token struct {
	Name    string    `json:"name" doc:"Name of the token."`
	Scopes  []string  `json:"scopes" doc:"What it is good for: read, answer, dispatch, decide."`
	Created time.Time `json:"created" doc:"Time at which it was made."`
}

// NewToken is cordon.token/1.
type NewToken struct {
	Head
	Token
	Secret string `json:"token" doc:"The token itself. It is shown once and not kept."`
}

// Tokens is cordon.tokens/1.
type Tokens struct {
	Head
	Tokens []Token `json:"tokens" doc:"The tokens, oldest first."`
}

// Lines is cordon.lines/1: one page of a long text.
type Lines struct {
	Head
	Worker string `json:"worker" doc:"Name of the worker."`
	Of     string `json:"of" doc:"What the lines are of: diff or transcript."`
	Digest string `json:"digest" doc:"SHA-256 of the whole text. If it differs between two pages, the text changed: begin anew."`
	From   int    `json:"from" doc:"Number of the first line of this page, from 0."`
	Total  int    `json:"total" doc:"Number of lines of the whole text."`
	Next   int    `json:"next" doc:"The from of the next page; 0 if this is the last one."`
	Lines  []Text `json:"lines" doc:"The lines, without their line ends."`
}

// OneEvent is cordon.event/1.
type OneEvent struct {
	Head
	Event
}

// DispatchRequest is what a dispatch takes: no flag and no policy.
type DispatchRequest struct {
	Client string `json:"client" doc:"Name of the agent client."`
	Prompt string `json:"prompt" doc:"What it is to do."`
}

// AnswerRequest is an answer to a question of a worker.
type AnswerRequest struct {
	Question string `json:"question,omitempty" doc:"Name of the question, such as q1; absent if only one is open."`
	Text     string `json:"text" doc:"The answer."`
}
