package protocol

// Verdict is what a home answers to a question. The zero value grants nothing.
type Verdict string

// The verdicts that let a node go on.
const (
	Granted Verdict = "granted" // of Ask: the stage is the node's
	Go      Verdict = "go"      // of Beat, Want, Fetch, Put, Report and Listen: it still is; of Hello: the node is ready
	Taken   Verdict = "taken"   // of Result: the home has it, and the node may forget it
	Joined  Verdict = "joined"  // of Join
)

// The verdicts that do not.
const (
	Malformed   Verdict = "malformed"    // it cannot be read, or is of no kind that a home answers
	Unsigned    Verdict = "unsigned"     // it is not signed by the key that it names
	Outdated    Verdict = "outdated"     // the node's protocol is older than the home's
	Newer       Verdict = "newer"        // the node's protocol is newer than the home's
	OtherFleet  Verdict = "other-fleet"  // it is for another fleet
	OtherSender Verdict = "other-sender" // it came in another node's name
	Unknown     Verdict = "unknown-node" // no such node has joined
	Removed     Verdict = "removed"      // the node was removed
	Draining    Verdict = "draining"     // the node gets nothing new
	NoStage     Verdict = "no-stage"     // there is no such stage
	OtherTerms  Verdict = "other-terms"  // the stage has other terms
	NotForYou   Verdict = "not-for-you"  // the operator named another node
	Unfit       Verdict = "unfit"        // the node lacks what the stage needs
	AtLimit     Verdict = "at-limit"     // a limit of the home or of the node would be exceeded now
	OwnWork     Verdict = "own-work"     // the node made the result that is to be tested
	OtherTree   Verdict = "other-tree"   // the verdict is about another tree
	NoVerdict   Verdict = "no-verdict"   // the verdict does not answer what was to be tested
	Held        Verdict = "held"         // another node has it
	Withdrawn   Verdict = "withdrawn"    // the operator withdrew it
	Over        Verdict = "over"         // its result is there already
	OldFence    Verdict = "old-fence"    // the node had it, and has lost it
	Replayed    Verdict = "replayed"     // a newer message of the node has arrived before
	OtherBase   Verdict = "other-base"   // the result is not made from the stage's base
	TooBig      Verdict = "too-big"      // the pack is larger than the home takes
	NoPack      Verdict = "no-pack"      // the home does not have the pack, or not all of it
	NoRoom      Verdict = "no-room"      // the home makes and takes no more packs, in all or for this stage
	NoTicket    Verdict = "no-ticket"    // the join token is not known, was used or has run out
	BadName     Verdict = "bad-name"     // a node cannot have this name, or another has it
)

// sayings explain the verdicts to a person.
var sayings = map[Verdict]string{
	Granted: "the stage is yours", Go: "go on", Taken: "the home has the result", Joined: "the node has joined",
	Malformed: "the home cannot read the message", Unsigned: "the message is not signed by the key that it names",
	Outdated: "this node's cordon-fleet is older than the home's: update it", Newer: "this node's cordon-fleet is newer than the home's: update the home",
	OtherFleet: "the message is for another fleet", OtherSender: "the message came in another node's name",
	Unknown: "the home does not know this node: join with a token of cordon fleet join", Removed: "the node was removed from the fleet",
	Draining: "the node is draining and gets nothing new", NoStage: "the home knows no such stage", OtherTerms: "the stage has other terms",
	NotForYou: "the stage is for another node", Held: "another node has the stage",
	OwnWork: "a node does not test its own result", OtherTree: "the verdict is about another tree",
	NoVerdict: "the verdict does not answer what was to be tested",
	Unfit:     "the node lacks what the stage needs", AtLimit: "the stage would exceed a limit at the moment", Withdrawn: "the stage was withdrawn",
	Over: "the stage has its result", OldFence: "the stage was given to somebody else meanwhile", Replayed: "a newer message has arrived before",
	OtherBase: "the result is not made from the stage's base", TooBig: "the pack is larger than the home takes",
	NoPack:   "the home does not have all of the pack: send it, or ask for the base again",
	NoRoom:   "the home has no room for more packs",
	NoTicket: "the token is not known, was used or has run out: cordon fleet join prints another", BadName: "a node cannot have this name, or another has it",
}

// Say explains a verdict to a person.
func (v Verdict) Say() string { return sayings[v] }
