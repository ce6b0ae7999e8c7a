package view

import "time"

// Audited is the result of an audit, without its findings.
type Audited struct {
	Verdict string `json:"verdict" doc:"Result: clean or violations."`
	Summary Counts `json:"summary" doc:"Number and size of the findings of each class."`
	Digest  string `json:"digest" doc:"Digest of the changes that may land."`
	Report  string `json:"report" doc:"SHA-256 of the stored report."`
	Others  int    `json:"others,omitempty" doc:"Number of changes to your repository that came from other workers."`
	// Checks are absent where there are none, and from older audits.
	Checks []string `json:"checks,omitempty" doc:"Kinds of files that it changes and that check results: tests, CI, build files, acceptance or setup commands."`
}

// Counts are the findings of each class.
type Counts struct {
	Landing        int   `json:"landing" doc:"Number of changes that may land."`
	Violations     int   `json:"violations" doc:"Number of violations."`
	Ignored        int   `json:"ignored" doc:"Number of new files that the base commit ignores."`
	Scratch        int   `json:"scratch" doc:"Number of scratch files."`
	Notes          int   `json:"notes" doc:"Number of notes."`
	LandingSize    int64 `json:"landing_size,omitempty" doc:"Bytes of the changes that may land."`
	ViolationsSize int64 `json:"violations_size,omitempty" doc:"Bytes of the violations."`
	IgnoredSize    int64 `json:"ignored_size,omitempty" doc:"Bytes of the ignored files."`
	ScratchSize    int64 `json:"scratch_size,omitempty" doc:"Bytes of the scratch files."`
}

// Audit is cordon.audit/1.
type Audit struct {
	Head
	Worker   string    `json:"worker" doc:"Name of the worker."`
	Lease    string    `json:"lease" doc:"Hash of the lease that the audit used."`
	Base     string    `json:"base" doc:"Commit from which the worker started."`
	Verdict  string    `json:"verdict" doc:"Result: clean or violations."`
	Summary  Counts    `json:"summary" doc:"Number and size of the findings of each class."`
	Findings []Finding `json:"findings" null:"yes" doc:"Every change with the rule that decided about it; null if there is none."`
	History  *History  `json:"history,omitempty" doc:"The worker's own commits."`
	Host     string    `json:"host" doc:"What the comparison of your repository before and after the run shows."`
	Digest   string    `json:"digest" doc:"Digest of the changes that may land."`
	More     *Counts   `json:"more,omitempty" doc:"Findings that were counted and not listed."`
	Partial  bool      `json:"partial,omitempty" doc:"Whether the list lacks changes that a lease could allow."`
}

// Finding is a change and what becomes of it.
type Finding struct {
	Path    Text   `json:"path" doc:"Path from the top of the worktree, or an absolute path outside it."`
	Kind    string `json:"kind" doc:"What happened at the path, such as added, modified, deleted or link-out."`
	Old     Entry  `json:"old" doc:"What the base commit has at the path."`
	New     Entry  `json:"new" doc:"What the worker left at the path."`
	Size    int64  `json:"size,omitempty" doc:"Size in bytes."`
	Target  Text   `json:"target,omitempty" doc:"Target of a symbolic link."`
	Ignored bool   `json:"ignored,omitempty" doc:"Whether the base commit's ignore rules exclude the path."`
	Source  string `json:"source,omitempty" doc:"Commit or part of your repository in which the change was seen; absent if it was seen in the tree."`
	Detail  string `json:"detail,omitempty" doc:"Details."`
	SHA256  string `json:"sha256,omitempty" doc:"SHA-256 of a file that was written outside the tree, or of content of Git LFS."`
	LFS     bool   `json:"lfs,omitempty" doc:"Whether the file is content of Git LFS, which lands as a pointer."`
	Kept    Text   `json:"kept,omitempty" doc:"Where that file is kept, below the directory of the worker's layers."`
	Class   string `json:"class" doc:"What becomes of it: violation, landing, scratch, ignored or note."`
	Rule    string `json:"rule" doc:"The rule that decided."`
}

// Entry is an entry of a git tree.
type Entry struct {
	Mode string `json:"mode" doc:"Mode as git writes it; 000000 if there is nothing."`
	OID  string `json:"oid,omitempty" doc:"Object ID of the content."`
}

// History is what is known of a worker's own commits.
type History struct {
	Head     string   `json:"head,omitempty" doc:"Commit of the worker's HEAD."`
	Tips     []Tip    `json:"tips,omitempty" doc:"The worker's refs."`
	Commits  []string `json:"commits,omitempty" doc:"Commits that HEAD reaches, oldest first."`
	Others   int      `json:"others,omitempty" doc:"Number of commits that only other refs reach."`
	Orphans  []string `json:"orphans,omitempty" doc:"Commits that no ref reaches."`
	Scratch  int      `json:"scratch,omitempty" doc:"Number of changes to scratch files in these commits."`
	Borrowed int      `json:"borrowed,omitempty" doc:"Number of commits that came from your repository and are not part of the base."`
	Gone     int      `json:"gone,omitempty" doc:"Number of files of HEAD that are neither in the base nor in the tree."`
}

// Tip is a ref.
type Tip struct {
	Ref Text   `json:"ref" doc:"Full name of the ref."`
	OID string `json:"oid" doc:"Commit of the ref."`
}

// Diff is cordon.diff/1.
type Diff struct {
	Head
	Worker string `json:"worker" doc:"Name of the worker."`
	Patch  Text   `json:"patch" doc:"The patch against the base commit."`
}

// Quarantine is cordon.quarantine/1. The manifest is printed as it is stored; this
// struct describes it.
type Quarantine struct {
	Head
	Worker   string     `json:"worker" doc:"Name of the worker."`
	Time     time.Time  `json:"time" doc:"Time of the quarantine."`
	Reasons  []string   `json:"reasons" doc:"Every reason."`
	Lease    Document   `json:"lease" doc:"The sealed lease."`
	Hash     string     `json:"lease_hash" doc:"Hash of the lease."`
	Gate     *Gate      `json:"gate,omitempty" doc:"Result of the gate."`
	Result   string     `json:"result,omitempty" doc:"Commit that holds the worker's files, as far as git can hold them safely."`
	History  string     `json:"history,omitempty" doc:"The worker's own last commit."`
	Missing  []string   `json:"missing,omitempty" doc:"What only the frozen tree holds."`
	Tree     string     `json:"tree" doc:"Directory of the frozen tree."`
	Captured []Captured `json:"captured,omitempty" doc:"Files that the worker wrote outside its tree."`
	Layers   string     `json:"layers,omitempty" doc:"Directory of the worker's layers, which hold these files."`
}

// Captured is a file that was written outside the tree.
type Captured struct {
	Path   Text   `json:"path" doc:"Absolute path at which the worker saw the file."`
	Kind   string `json:"kind" doc:"What happened at the path."`
	Class  string `json:"class" doc:"What becomes of it: violation, landing, scratch, ignored or note."`
	Size   int64  `json:"size,omitempty" doc:"Size in bytes."`
	SHA256 string `json:"sha256,omitempty" doc:"SHA-256 of the content."`
	Target Text   `json:"target,omitempty" doc:"Target of a symbolic link."`
	Kept   Text   `json:"kept,omitempty" doc:"Path below the directory of the worker's layers."`
	File   string `json:"file,omitempty" doc:"Path in the evidence commit."`
	Why    string `json:"why,omitempty" doc:"Why the evidence commit does not hold the content."`
}
