package tool

import "sort"

// What the commands share that compare.
const gitDiff = "output=write O=read S=text G=text U,unified?text l=text M,find-renames?text C,find-copies?text " +
	"B,break-rewrites?text X,dirstat?text stat?text stat-width=text stat-name-width=text stat-count=text " +
	"stat-graph-width=text color?text word-diff?text word-diff-regex=text color-words?text color-moved?text " +
	"color-moved-ws=text diff-filter=text diff-algorithm=text anchored=text src-prefix=text dst-prefix=text " +
	"line-prefix=text inter-hunk-context=text submodule?text ignore-submodules?text abbrev?text " +
	"ws-error-highlight=text relative?text skip-to=text rotate-to=text find-object=text I,ignore-matching-lines=text " +
	"output-indicator-new=text output-indicator-old=text output-indicator-context=text max-depth=text " +
	"minimal diff-merges?text "

// What the commands share that list commits.
const gitLog = gitDiff + "n,max-count=text skip=text since,after,since-as-filter=text until,before=text author=text " +
	"committer=text grep=text grep-reflog=text format?text pretty?text date=text encoding=text branches?text " +
	"tags?text remotes?text glob=text exclude=text exclude-hidden=text L=text decorate?text decorate-refs=text " +
	"decorate-refs-exclude=text notes,show-notes?text min-parents=text max-parents=text max-age=text min-age=text " +
	"expand-tabs?text no-walk?text filter=text missing=text ancestry-path?text show-linear-break?text " +
	"author-date-order ignore-missing w?text "

// What the commands share that make commits of others.
const gitPick = "S,gpg-sign?text strategy=text X,strategy-option=text m,mainline=text cleanup=text empty=text"

// What the commands share that take objects from elsewhere.
const gitFetch = "upload-pack=code depth=text deepen=text shallow-since=text shallow-exclude=text j,jobs=text " +
	"o,server-option=text refmap=text negotiation-tip=text filter=text recurse-submodules?text " +
	"recurse-submodules-default=text submodule-prefix=text bundle-uri=from set-upstream update-shallow " +
	"negotiate-only "

// What the commands share that pick branches, tags and other refs out.
const gitRefs = "sort=text format=text points-at=text contains?text no-contains?text merged?text no-merged?text " +
	"color?text column?text abbrev?text count=text exclude=text "

// gitRow finds the row of a subcommand.
func gitRow(name string) *row {
	i := sort.Search(len(gitRows), func(i int) bool { return gitRows[i].name >= name })
	if i < len(gitRows) && gitRows[i].name == name {
		return &gitRows[i]
	}
	return nil
}

// gitRows are git's subcommands in the order of their names, and what their
// options take (git_value.go). Their operands are one of:
//
//	none    nothing outside of the repository; the command's own function may know more
//	revs    revisions or paths, read
//	read    paths, read
//	write   paths, written
//	files   files that are no pathspecs, read
//	loose   whatever looks like a path, read
var gitRows = []row{
	{name: "--exec-path", operands: "none"},
	{name: "--help", operands: "none"},
	{name: "--html-path", operands: "none"},
	{name: "--info-path", operands: "none"},
	{name: "--list-cmds", operands: "none"},
	{name: "--man-path", operands: "none"},
	{name: "--version", operands: "none"},
	{name: "-h", operands: "none"},
	{name: "-v", operands: "none"},
	{name: "add", operands: "read", style: gnu, options: "chmod=text pathspec-from-file=read"},
	{name: "am", operands: "files", style: gnu, options: "S,gpg-sign?text empty=text C=text p=text directory=write exclude=text include=text whitespace=text patch-format=text resolvemsg=text quoted-cr=text show-current-patch?text"},
	{name: "annotate", operands: "revs", style: gnu, options: gitBlame},
	{name: "apply", operands: "files", style: gnu, options: "directory=write p=text C=text exclude=text include=text whitespace=text build-fake-ancestor=write unidiff-zero unsafe-paths"},
	{name: "archive", operands: "none", style: gnu, options: "o,output=write remote=from exec=code prefix=text format=text add-file=read add-virtual-file=text mtime=text"},
	{name: "backfill", operands: "none", style: gnu},
	{name: "bisect", operands: "none", style: stop},
	{name: "blame", operands: "revs", style: gnu, options: gitBlame},
	{name: "branch", operands: "none", style: gnu, options: gitRefs + "set-upstream u,set-upstream-to=text t,track?text edit-description create-reflog"},
	{name: "bugreport", operands: "none", style: gnu, options: "o,output-directory=write s,suffix=text diagnose?text"},
	{name: "bundle", operands: "none", style: gnu, options: "version=text progress all-progress"},
	{name: "cat-file", operands: "none", style: gnu, options: "path=text batch?text batch-check?text batch-command?text filter=text"},
	{name: "check-attr", operands: "none", style: gnu, options: "source=text"},
	{name: "check-ignore", operands: "read", style: gnu},
	{name: "check-mailmap", operands: "none", style: gnu, options: "mailmap-file=read mailmap-blob=text"},
	{name: "check-ref-format", operands: "none"},
	{name: "checkout", operands: "none", style: gnu, options: "b=text B=text orphan=text t,track?text conflict=text pathspec-from-file=read recurse-submodules?text U,unified=text inter-hunk-context=text"},
	{name: "checkout-index", operands: "write", style: gnu, options: "prefix=write stage=text"},
	{name: "cherry", operands: "none", style: gnu, options: "abbrev?text"},
	{name: "cherry-pick", operands: "none", style: gnu, options: gitPick},
	{name: "citool", operands: "none"},
	{name: "clean", operands: "none", style: gnu, options: "e,exclude=text"},
	{name: "clone", operands: "none", style: gnu, options: "template=hooks u,upload-pack=code reference=read reference-if-able=read separate-git-dir=write o,origin=text b,branch=text revision=text depth=text shallow-since=text shallow-exclude=text c,config=config j,jobs=text recurse-submodules,recursive?text filter=text server-option=text bundle-uri=from ref-format=text bare mirror shallow-submodules"},
	{name: "column", operands: "none", style: gnu, options: "command=text mode?text raw-mode=text width=text indent=text nl=text padding=text"},
	{name: "commit", operands: "read", style: gnu, options: "m,message=text F,file=read t,template=read author=text date=text C,reuse-message=text c,reedit-message=text fixup=text squash=text trailer=text cleanup=text S,gpg-sign?text u,untracked-files?text pathspec-from-file=read color?text U,unified=text inter-hunk-context=text reset-author"},
	{name: "commit-graph", operands: "none", options: "object-dir=write split?text size-multiple=text max-commits=text expire-time=text"},
	{name: "commit-tree", operands: "none", options: "p=text m=text F=read S,gpg-sign?text"},
	{name: "config", operands: "none", style: gnu, options: "f,file=text blob=text t,type=text default=text value=text url=text comment=text get get-all get-regexp get-urlmatch get-color get-colorbool"},
	{name: "count-objects", operands: "none"},
	{name: "credential", operands: "none"},
	{name: "credential-cache", operands: "none", style: gnu, options: "timeout=text socket=write"},
	{name: "credential-store", operands: "none", style: gnu, options: "file=write"},
	{name: "daemon", operands: "none", options: "base-path=enter interpolated-path=text pid-file=write access-hook=prog port=text listen=text user=text group=text init-timeout=text timeout=text max-connections=text log-destination=text enable=text disable=text allow-override=text forbid-override=text user-path?text"},
	{name: "describe", operands: "none", style: gnu, options: "match=text exclude=text candidates=text abbrev?text dirty?text broken?text"},
	{name: "diagnose", operands: "none", style: gnu, options: "o,output-directory=write s,suffix=text mode=text"},
	{name: "diff", operands: "revs", style: gnu, options: gitDiff + "no-index"},
	{name: "diff-files", operands: "revs", style: gnu, options: gitDiff},
	{name: "diff-index", operands: "revs", style: gnu, options: gitDiff},
	{name: "diff-pairs", operands: "none", style: gnu, options: gitDiff},
	{name: "diff-tree", operands: "revs", style: gnu, options: gitLog},
	{name: "difftool", operands: "revs", style: gnu, options: gitDiff + "x,extcmd=code t,tool=text no-index"},
	{name: "fast-export", operands: "none", style: gnu, options: "export-marks=write import-marks=read import-marks-if-exists=read signed-tags=text tag-of-filtered-object=text reencode=text refspec=text anonymize anonymize-map=text progress=text"},
	{name: "fast-import", operands: "none", options: "export-marks=write import-marks=read import-marks-if-exists=read export-pack-edges=write date-format=text cat-blob-fd=text depth=text active-branches=text max-pack-size=text big-file-threshold=text rewrite-submodules-from=text rewrite-submodules-to=text"},
	{name: "fetch", operands: "none", style: gnu, options: gitFetch},
	{name: "fetch-pack", operands: "none", options: "upload-pack=code exec=code depth=text"},
	{name: "filter-branch", operands: "none", style: stop, options: "setup=code env-filter=code tree-filter=code index-filter=code parent-filter=code msg-filter=filter commit-filter=code tag-name-filter=filter subdirectory-filter=text original=text d=write state-branch=text"},
	{name: "filter-repo", operands: "none", options: "path=text path-glob=text path-regex=text path-rename=text paths-from-file=read replace-text=read replace-message=read mailmap=read source=enter target=enter refs=text subdirectory-filter=text to-subdirectory-filter=text tag-rename=text max-blob-size=text strip-blobs-with-ids=read report-dir=write filename-callback=python message-callback=python name-callback=python email-callback=python refname-callback=python blob-callback=python commit-callback=python tag-callback=python reset-callback=python done-callback=python"},
	{name: "fmt-merge-msg", operands: "none", style: gnu, options: "F,file=read m,message=text log?text into-name=text"},
	{name: "for-each-ref", operands: "none", style: gnu, options: gitRefs + "start-after=text"},
	{name: "for-each-repo", operands: "none", style: stop, options: "config=text"},
	{name: "format-patch", operands: "revs", style: gnu, options: gitDiff + "o,output-directory=write v,reroll-count=text start-number=text suffix=text subject-prefix=text rfc?text to=text cc=text in-reply-to=text add-header=text signature=text signature-file=read description-file=read cover-from-description=text attach?text inline?text thread?text from?text base=text interdiff=text range-diff=text creation-factor=text filename-max-length=text notes?text commit-list-format=text progress"},
	{name: "fsck", operands: "none", style: gnu},
	{name: "fsmonitor--daemon", operands: "none", style: gnu},
	{name: "gc", operands: "none", style: gnu, options: "prune?text expire-to=write max-cruft-size=text"},
	{name: "get-tar-commit-id", operands: "none"},
	{name: "grep", operands: "none", style: gnu, options: "e=text f=read O,open-files-in-pager?text A,after-context=text B,before-context=text C,context=text m,max-count=text max-depth=text threads=text color?text parent-basename=text no-index"},
	{name: "gui", operands: "none"},
	{name: "hash-object", operands: "files", style: gnu, options: "t=text path=text"},
	{name: "help", operands: "none"},
	{name: "history", operands: "none", style: gnu},
	{name: "hook", operands: "none", options: "to-stdin=read"},
	{name: "http-backend", operands: "none"},
	{name: "imap-send", operands: "none"},
	{name: "index-pack", operands: "files", options: "o=write keep?text index-version=text threads=text max-input-size=text object-format=text strict?text rev-index"},
	{name: "init", operands: "none", style: gnu, options: "template=hooks separate-git-dir=write shared?text b,initial-branch=text object-format=text ref-format=text"},
	{name: "init-db", operands: "none", style: gnu, options: "template=hooks separate-git-dir=write shared?text b,initial-branch=text object-format=text ref-format=text"},
	{name: "instaweb", operands: "none", options: "d,httpd=code m,module-path=exec p,port=text b,browser=prog"},
	{name: "interpret-trailers", operands: "none", style: gnu, options: "trailer=text where=text if-exists=text if-missing=text in-place"},
	{name: "last-modified", operands: "revs", style: gnu, options: gitLog},
	{name: "lfs", operands: "none"},
	{name: "log", operands: "revs", style: gnu, options: gitLog},
	{name: "ls-files", operands: "read", style: gnu, options: "x,exclude=text X,exclude-from=read exclude-per-directory=text with-tree=text format=text abbrev?text"},
	{name: "ls-remote", operands: "none", style: gnu, options: "upload-pack=code exec=code o,server-option=text sort=text"},
	{name: "ls-tree", operands: "none", style: gnu, options: "format=text abbrev?text"},
	{name: "mailinfo", operands: "none", style: gnu, options: "encoding=text quoted-cr=text"},
	{name: "mailsplit", operands: "files", options: "o=write d=text"},
	{name: "maintenance", operands: "none", style: gnu, options: "task=text schedule?text scheduler=text config-file=write"},
	{name: "merge", operands: "none", style: gnu, options: "m,message=text F,file=read s,strategy=text X,strategy-option=text S,gpg-sign?text into-name=text cleanup=text log?text"},
	{name: "merge-base", operands: "none", style: gnu},
	{name: "merge-file", operands: "none", style: gnu, options: "L=text marker-size=text diff-algorithm=text p,stdout"},
	{name: "merge-index", operands: "none", style: stop},
	{name: "merge-one-file", operands: "none"},
	{name: "merge-tree", operands: "none", style: gnu, options: "merge-base=text X,strategy-option=text"},
	{name: "mergetool", operands: "write", style: gnu, options: "t,tool=text O=read"},
	{name: "mktag", operands: "none"},
	{name: "mktree", operands: "none"},
	{name: "multi-pack-index", operands: "none", options: "object-dir=write preferred-pack=text refs-snapshot=read batch-size=text"},
	{name: "mv", operands: "write", style: gnu},
	{name: "name-rev", operands: "none", style: gnu, options: "refs=text exclude=text"},
	{name: "notes", operands: "none", style: gnu, options: "ref=text m,message=text F,file=read C,reuse-message=text c,reedit-message=text s,strategy=text for-rewrite=text separator?text"},
	{name: "p4", operands: "loose"},
	{name: "pack-objects", operands: "none", options: "window=text depth=text max-pack-size=text window-memory=text threads=text index-version=text filter=text missing=text keep-pack=text unpack-unreachable?text uri-protocol=text name-hash-version=text cruft?text cruft-expiration=text"},
	{name: "pack-redundant", operands: "none"},
	{name: "pack-refs", operands: "none", options: "include=text exclude=text"},
	{name: "patch-id", operands: "none"},
	{name: "prune", operands: "none", style: gnu, options: "expire=text"},
	{name: "prune-packed", operands: "none"},
	{name: "pull", operands: "none", style: gnu, options: gitFetch + "S,gpg-sign?text s,strategy=text X,strategy-option=text cleanup=text r,rebase?text log?text"},
	{name: "push", operands: "none", style: gnu, options: "receive-pack,exec=code repo=to o,push-option=text force-with-lease?text recurse-submodules=text signed?text f,force d,delete n,dry-run"},
	{name: "quiltimport", operands: "none", options: "patches=read series=read author=text"},
	{name: "range-diff", operands: "none", style: gnu, options: gitDiff + "creation-factor=text notes?text"},
	{name: "read-tree", operands: "none", style: gnu, options: "prefix=text index-output=write exclude-per-directory=text"},
	{name: "rebase", operands: "none", style: gnu, options: "x,exec=text onto=text s,strategy=text X,strategy-option=text C=text whitespace=text S,gpg-sign?text empty=text r,rebase-merges?text keep-base root update-refs"},
	{name: "receive-pack", operands: "none"},
	{name: "reflog", operands: "none", style: gnu, options: gitLog + "expire=text expire-unreachable=text"},
	{name: "refs", operands: "none", style: gnu, options: "ref-format=text"},
	{name: "remote", operands: "none", style: gnu, options: "t=text m,master=text mirror?text"},
	{name: "repack", operands: "none", options: "window=text depth=text window-memory=text max-pack-size=text threads=text unpack-unreachable=text keep-pack=text cruft-expiration=text expire-to=write filter=text filter-to=write max-cruft-size=text geometric,g=text"},
	{name: "replace", operands: "none", style: gnu, options: "format=text l,list d,delete"},
	{name: "replay", operands: "none", style: gnu, options: "onto=text advance=text"},
	{name: "repo", operands: "none", style: gnu, options: "format=text"},
	{name: "request-pull", operands: "none"},
	{name: "rerere", operands: "none"},
	{name: "reset", operands: "none", style: gnu, options: "pathspec-from-file=read recurse-submodules?text U,unified=text inter-hunk-context=text"},
	{name: "restore", operands: "write", style: gnu, options: "s,source=text conflict=text pathspec-from-file=read recurse-submodules?text U,unified=text inter-hunk-context=text"},
	{name: "rev-list", operands: "revs", style: gnu, options: gitLog},
	{name: "rev-parse", operands: "none", options: "resolve-git-dir=read default=text prefix=text git-path=text path-format=text abbrev-ref?text short?text glob=text exclude=text branches?text tags?text remotes?text disambiguate=text since,after=text until,before=text"},
	{name: "revert", operands: "none", style: gnu, options: gitPick},
	{name: "rm", operands: "write", style: gnu, options: "pathspec-from-file=read"},
	{name: "send-email", operands: "files", style: gnu, options: "to=text cc=text bcc=text from=text subject=text in-reply-to=text compose-encoding=text smtp-server=prog sendmail-cmd=code to-cmd=code cc-cmd=code header-cmd=code smtp-user=text smtp-pass=text smtp-encryption=text smtp-server-port=text smtp-domain=text suppress-cc=text confirm=text envelope-sender=text identity=text validate"},
	{name: "send-pack", operands: "none", options: "receive-pack=code exec=code remote=text"},
	{name: "shell", operands: "none", options: "c=code"},
	{name: "shortlog", operands: "revs", style: gnu, options: "n,numbered c,committer " + gitLog + "group=text"},
	{name: "show", operands: "revs", style: gnu, options: gitLog},
	{name: "show-branch", operands: "none", style: gnu, options: "color?text g,reflog?text more=text"},
	{name: "show-index", operands: "none"},
	{name: "show-ref", operands: "none", style: gnu, options: "abbrev?text hash?text exclude-existing?text"},
	{name: "sparse-checkout", operands: "none", style: gnu, options: "rules-file=read"},
	{name: "stage", operands: "write", style: gnu, options: "chmod=text pathspec-from-file=read"},
	{name: "stash", operands: "none", style: gnu, options: gitLog + "m,message=text pathspec-from-file=read"},
	{name: "status", operands: "read", style: gnu, options: "u,untracked-files?text ignored?text porcelain?text column?text M,find-renames?text ignore-submodules?text"},
	{name: "stripspace", operands: "none"},
	{name: "submodule", operands: "none", options: "b,branch=text name=text reference=read depth=text j,jobs=text summary-limit=text n=text filter=text"},
	{name: "subtree", operands: "none", options: "P,prefix=write m,message=text b,branch=text annotate=text onto=text S,gpg-sign?text"},
	{name: "svn", operands: "loose"},
	{name: "switch", operands: "none", style: gnu, options: "f,force c,create=text C,force-create=text orphan=text t,track?text conflict=text recurse-submodules?text"},
	{name: "symbolic-ref", operands: "none", style: gnu, options: "m=text d,delete"},
	{name: "tag", operands: "none", style: gnu, options: gitRefs + "m,message=text F,file=read u,local-user=text cleanup=text n?text trailer=text create-reflog l,list d,delete"},
	{name: "unpack-file", operands: "none"},
	{name: "unpack-objects", operands: "none"},
	{name: "update-index", operands: "read", style: gnu, options: "cacheinfo=text chmod=text index-version=text"},
	{name: "update-ref", operands: "none", style: gnu, options: "m=text d stdin"},
	{name: "update-server-info", operands: "none"},
	{name: "upload-archive", operands: "none"},
	{name: "upload-pack", operands: "none", options: "timeout=text"},
	{name: "var", operands: "none"},
	{name: "verify-commit", operands: "none"},
	{name: "verify-pack", operands: "files"},
	{name: "verify-tag", operands: "none", options: "format=text"},
	{name: "version", operands: "none"},
	{name: "web--browse", operands: "files", options: "b,browser=prog t,tool=prog c,config=text"},
	{name: "whatchanged", operands: "revs", style: gnu, options: gitLog},
	{name: "worktree", operands: "none", style: gnu, options: "b=text B=text reason=text expire=text orphan track"},
	{name: "write-tree", operands: "none", options: "prefix=text"},
}

// What blame and annotate share.
const gitBlame = "contents=read S=read ignore-revs-file=read ignore-rev=text L=text since=text M?text C?text date=text abbrev?text encoding=text " + gitDiff
