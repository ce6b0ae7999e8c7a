// Package journal is cordon's memory: an append-only file of events, chained
// by hash, durable before anyone acts on it, shared by every cordon process of
// one state directory. Everything shown to a person is a fold of it.
//
// It does not know what an event means, it never rewrites one, and it is no
// defence against somebody who may write the state directory and recomputes
// the whole chain together with its head: the worker cannot, the operator can.
// It finds every accident and every edit short of that. Removing all files of
// the journal at once is such an edit.
//
// # Files
//
// A journal is three files in one directory, all regular (a symbolic link, a
// FIFO or anything else in their place is refused) and of mode 0600:
//
//	journal.jsonl  the events, one line each
//	journal.head   the anchor: how far the events are known to reach
//	journal.lock   locked (flock) exclusively by whoever appends; never removed
//
// and one that can be deleted at any moment without loss:
//
//	journal.checkpoint  spares a new process to read everything; see below
//
// A name with ".new" added is a replacement being written; a crash may leave
// one behind, it means nothing, and the next append overwrites it.
//
// # Lines
//
// A line is one JSON object and a newline. There is exactly one way to write
// an event, and a reader refuses every other:
//
//	{"seq":S,"time":"T","worker":"W","type":"Y","data":D,"prev":"P","hash":"H"}
//
// The keys come in this order, without white space. "worker" is left out when
// empty, "data" when there is none.
//
//	S  the number of the event: 1 for the first, then one more each, in decimal
//	T  UTC, RFC 3339, fraction of up to nine digits without trailing zeros, "Z"
//	W  a name: 1 to 128 bytes of printable ASCII, without space, quote, backslash
//	Y  a name as well; those beginning with "journal." belong to this package
//	D  a JSON object in UTF-8 without white space between its tokens; its bytes
//	   are kept as they were given
//	P  SHA-256 of the line before, newline included, in lower-case hexadecimal;
//	   in the first line that of the format's name, "cordon-journal-1"
//	H  SHA-256 of this line up to, not including, the bytes ,"hash":
//
// H finds a changed byte and names the line it is in, P and S find lines that
// were removed, repeated, moved or brought from elsewhere. Both are checkable
// by hand: P of line 8 is what `sed -n 7p journal.jsonl | sha256sum` prints.
//
// A line has at most [MaxLine] bytes, and the data given to [Journal.Append]
// at most [MaxData]: a torn line must fit into the event that preserves it.
//
// # Head
//
// A chain cannot tell that its last lines are gone. The head can; it is one
// line, sealed in the same way and replaced by rename after each append:
//
//	{"format":"cordon-journal-1","seq":S,"head":"H","length":L,"hash":"C"}
//
// It vouches for S events, the last of which has the hash H and ends at byte L;
// with S and L zero, H is the hash of the format's name.
//
//   - The head is behind the events: normal, a crash came between the two. What
//     it vouches for must be there.
//   - The head is ahead of the events: they were cut.
//   - There is no head but a file of events: the head was removed. Reading and
//     appending fail, since the end can no longer be trusted. No crash leads
//     here, because a head of zero events is durable before the first line.
//   - There is neither: no event was ever recorded.
//
// # Appending
//
// Under the lock: verify what is new since this process last looked, repair a
// torn end, write the line, fsync it (and the directory, when the file is
// new), replace the head and fsync that. Only then does Append return, and only
// then may the caller act. Whatever a crash leaves beyond the head was
// therefore never acted upon. If the line or the head cannot be written (a full
// disk), the file is cut back to where it was and the journal is as before.
//
// Append does not read again what this process has verified before in the same
// file, nor, in a new process, what the checkpoint covers; an edit made there is found
// by Events, by Verify and by View.Verify.
//
// # Checkpoint
//
// A [View] keeps a [Fold] of the events. Every 128 events or so, whoever appends
// with a view replaces the checkpoint, two lines of JSON: a position, with the place and
// the hashes of the last line before it; and, after that, the fold's memo and the place
// and hash of every earlier event that the fold still wants. A view that begins at a
// checkpoint reads the wanted events from the journal itself, folds them, and then
// verifies and folds all that follows the position.
//
// A checkpoint is used only if it fits: the last line that it covers is in the journal
// byte for byte, the head vouches for at least as much, every wanted line is an event
// with the hash that is given, and it was made by a fold of the same name. Otherwise
// everything is read, as if there were none. So an edit, a cut or a swap of the journal
// after that line, or in a wanted line, is found by everybody. What is not found by those
// who begin at the checkpoint, and is by those who verify everything: an edit of a line
// before it that nobody wants any more; and a checkpoint that somebody who may write the
// directory forged, with all its sums, so that it leaves out events. Such a person could
// as well write the chain and the head anew.
//
// # Following
//
// A [Follower] returns the events after a mark, and then those that any process appends. It
// goes on where it was, verifies what is new, and waits for the head: an event beyond it may
// still be taken back. If the file is another one, it reads from the start and wants the
// event of its mark there; a journal that lacks it is refused with [ErrReplaced]. Damage is
// refused as it is by every reader. A fold is followed by refreshing its [View].
//
// # Torn end
//
// A crash in mid-append can leave bytes after the last newline. Readers leave
// them out and change nothing. The next append looks at them: a whole line that
// lacks only its newline is given it; anything else is preserved in the data of
// an event of type [Repaired] that takes its place. The events and that one are
// written to a new file which is renamed over the old, so that a crash during
// the repair loses nothing either. A last line that has its newline but contains
// zero bytes is torn too: power failed before its blocks reached the disk. Bytes
// that the head vouches for are never torn: damage to them is [Corruption].
//
// # Repair
//
// An operator can have a damaged journal repaired ([Journal.Repair]). The sound lines
// before the damage stay as they are, an event of type [Salvaged] follows them, and the
// damaged files are kept beside the journal as NAME.damaged-SHA256. Lines after the
// damage are not taken over: their order and their number cannot be proven.
package journal
