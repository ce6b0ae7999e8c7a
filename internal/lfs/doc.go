// Package lfs knows Git LFS as far as cordon needs it: the text of a pointer, the store
// that the content lies in, and which paths the attributes of a commit put there.
//
// It runs no program of Git LFS and talks to no server. Content is what its pointer says
// or it is nothing: size and hash are verified whenever content is read from a store or
// put into one. Which content a worker may see is up to package fill, and what lands is
// up to package gate.
package lfs
