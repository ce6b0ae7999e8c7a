// Package files has the attempts on files: contents and metadata, what the policy
// denies, secrets in the home, and the operator's repositories.
//
// It judges nothing by itself: package arena does, on the host.
package files
