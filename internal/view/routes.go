package view

// Route is one address of the HTTP interface. docs/openapi.json is generated from the
// routes, and package serve answers exactly these.
type Route struct {
	Method string
	Path   string // with {names}
	Scope  string // of the token; empty: none is needed
	About  string // one sentence
	Query  []Parameter
	Body   any    // a pointer to a struct; nil: it has none
	Answer Object // nil: it is a document of another kind
	Stream bool   // each Answer is one event of a text/event-stream
	Status int    // of success
	Later  bool   // or 202, while it is not done
	Fails  []int  // besides 400, 401, 403 and 500
}

// Parameter is a number in the query of a route.
type Parameter struct{ Name, About string }

// The scopes of tokens.
const (
	MayRead     = "read"
	MayAnswer   = "answer"
	MayDispatch = "dispatch"
	MayDecide   = "decide"
)

// Scopes lists them.
func Scopes() []string { return []string{MayRead, MayAnswer, MayDispatch, MayDecide} }

// OpenAPI is where the description of the interface is.
const OpenAPI = "/v1/openapi.json"

// Routes lists every address of the HTTP interface.
func Routes() []Route {
	paged := []Parameter{{"from", "Number of the first line or decision, from 0."}, {"n", "The most lines or decisions: 1000 if absent, at most 10000."}}
	return []Route{
		{Method: "GET", Path: OpenAPI, About: "This description.", Status: 200},
		{Method: "GET", Path: "/v1/workers", Scope: MayRead, About: "The workers, as cordon ls --json prints them.", Answer: &Workers{}, Status: 200},
		{Method: "GET", Path: "/v1/workers/{id}", Scope: MayRead, About: "One worker, as cordon show --json prints it.", Answer: &OneWorker{}, Status: 200,
			Fails: []int{404}},
		{Method: "GET", Path: "/v1/workers/{id}/review", Scope: MayRead, About: "One result for review, as cordon show --review --json prints it.",
			Answer: &Review{}, Status: 200, Fails: []int{404}},
		{Method: "GET", Path: "/v1/workers/{id}/comments", Scope: MayRead, About: "The comments on a result, as cordon comments ls --json prints them.",
			Answer: &Comments{}, Status: 200, Fails: []int{404}},
		{Method: "GET", Path: "/v1/workers/{id}/audit", Scope: MayRead, About: "The recorded audit of a worker, as cordon audit --json prints it.",
			Answer: &Audit{}, Status: 200, Fails: []int{404}},
		{Method: "GET", Path: "/v1/workers/{id}/diff", Scope: MayRead, About: "The changes of a worker as a patch, a page of lines at a time.", Query: paged,
			Answer: &Lines{}, Status: 200, Fails: []int{404}},
		{Method: "GET", Path: "/v1/workers/{id}/transcript", Scope: MayRead, About: "The output of a worker, a page of lines at a time.", Query: paged,
			Answer: &Lines{}, Status: 200, Fails: []int{404}},
		{Method: "GET", Path: "/v1/workers/{id}/guard", Scope: MayRead, About: "The decisions of a worker's guard.", Query: paged, Answer: &Decisions{},
			Status: 200, Fails: []int{404}},
		{Method: "GET", Path: "/v1/workers/{id}/net", Scope: MayRead, About: "The connections that a worker tried.", Query: paged, Answer: &Network{},
			Status: 200, Fails: []int{404}},
		{Method: "GET", Path: "/v1/inbox", Scope: MayRead, About: "What waits for a person, as cordon inbox --json prints it.", Answer: &Inbox{}, Status: 200},
		{Method: "GET", Path: "/v1/queue", Scope: MayRead, About: "The results that wait for their landing, as cordon queue --json prints them.",
			Answer: &Queue{}, Status: 200},
		{Method: "GET", Path: "/v1/plans", Scope: MayRead, About: "The plans, as cordon plan ls --json prints them.", Answer: &Plans{}, Status: 200},
		{Method: "GET", Path: "/v1/plans/{name}", Scope: MayRead, About: "One plan, as cordon plan show --json prints it.", Answer: &Plan{}, Status: 200,
			Fails: []int{404}},
		{Method: "GET", Path: "/v1/events", Scope: MayRead,
			About:  "The events of the journal as they come. To resume, send the id of the last event in the header Last-Event-ID.",
			Query:  []Parameter{{"after", "The id of the last event that is known, or its number alone; 0 or absent: begin with the first."}},
			Answer: &OneEvent{}, Stream: true, Status: 200, Fails: []int{410}},
		{Method: "POST", Path: "/v1/workers", Scope: MayDispatch,
			About: "Start an agent client in the background, with the policy of the repository. Its result never lands by itself: it ends in review.",
			Body:  &DispatchRequest{}, Answer: &Detached{}, Status: 201, Fails: []int{413, 415, 422}},
		{Method: "POST", Path: "/v1/workers/{id}/answer", Scope: MayAnswer, About: "Answer a question of a worker.", Body: &AnswerRequest{}, Answer: &Answer{},
			Status: 200, Fails: []int{404, 409, 413, 415}},
		{Method: "POST", Path: "/v1/workers/{id}/comments", Scope: MayDecide, About: "Comment on lines of a result.", Body: &CommentRequest{},
			Answer: &Comments{}, Status: 200, Fails: []int{404, 409, 413, 415}},
		decision("merge", "Take a result to the gate."),
		decision("release", "Land a quarantined result in spite of what the request names."),
		decision("discard", "Throw a result away."),
		decision("resume", "Let a worker go on, or send its result back."),
		decision("retry", "Run the acceptance commands of a quarantined result again."),
		decision("stop", "End a worker, and keep its work."),
	}
}

// decision is a route that decides. The status is 202 while the decision is being carried out.
func decision(verb, about string) Route {
	return Route{Method: "POST", Path: "/v1/workers/{id}/" + verb, Scope: MayDecide, About: about, Body: &DecideRequest{}, Answer: &Decided{}, Status: 200,
		Later: true, Fails: []int{404, 409, 413, 415, 422}}
}
