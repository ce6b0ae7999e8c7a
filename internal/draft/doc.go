// Package draft proposes a policy for a repository, for cordon init: it looks at the names
// at the top of a checkout, at a few small files and at what the commit tracks, and fits
// setup, tests, scratch directories and domains to the tools that it knows.
//
// It refuses to write anything and to run anything of the repository. A guess that may not
// work becomes a comment, never a setting. Package policy writes the file and checks it.
package draft
