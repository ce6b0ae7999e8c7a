package arena

// Attempt is one way out.
type Attempt struct {
	Name  string // unique, the group first: files-truncate
	Group string
	What  string // in the words of somebody who reads the table
	Safe  bool   // harmless on a person's own machine, also without cordon
	Root  bool   // its control needs root
	Quick bool   // one of the few that stand for all of their kind

	Act // how it is done, which differs by system
}
