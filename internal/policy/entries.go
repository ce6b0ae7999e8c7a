package policy

// The checks of single entries, for other files that hold lists of a policy. Each returns
// the entry in its normal form.

// CheckRoot accepts an entry of write_roots that begins at the top of the tree.
func CheckRoot(s string) (string, error) { return checkPath(inTree)(s) }

// CheckDenyRead accepts an entry of deny_read.
func CheckDenyRead(s string) (string, error) { return checkDenyRead(s) }

// CheckDenyWrite accepts an entry of deny_write.
func CheckDenyWrite(s string) (string, error) { return checkPath(inTree, climbing, home, absolute)(s) }

// CheckDomain accepts an entry of allowed_domains.
func CheckDomain(s string) (string, error) { return checkDomain(s) }

// CheckCommand accepts a command that executes something.
func CheckCommand(s string) (string, error) { return checkCommand(s) }
