package audit

import (
	"context"
	"errors"
	"slices"

	"cordon/internal/git"
	"cordon/internal/lfs"
)

// clean puts pointers in the place of content that Git LFS keeps, as a commit would hold
// it: content that matches the base's pointer is unchanged then. A pointer that the worker
// wrote itself stands for content that nobody looked at, unless the base has it.
func (c *collector) clean(ctx context.Context) error {
	if c.Large == nil {
		return nil
	}
	var paths []string
	at := map[string]int{}
	for i, n := range c.survey.nodes {
		if n.isFile() && c.errs[i] == nil && c.entries[i].OID != "" && c.entries[i] != c.old[i] && !c.ignored[n.path] {
			paths, at[n.path] = append(paths, n.path), i
		}
	}
	if len(paths) == 0 {
		return nil
	}
	large, err := c.Large(ctx, paths)
	if err != nil {
		return err
	}
	c.large, c.forged = map[string]string{}, map[string]bool{}
	for p := range large {
		i := at[p]
		if err := c.pointTo(i, p); err != nil {
			c.errs[i] = err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// pointTo replaces the entry of one file by that of its pointer.
func (c *collector) pointTo(i int, p string) error {
	f, err := openFile(c.Top, p, !c.Live)
	if err != nil {
		return err
	}
	defer f.Close()
	pointer, given, err := lfs.Clean(f)
	switch {
	case errors.Is(err, lfs.ErrEmpty):
		return nil
	case err != nil:
		return err
	case given:
		c.forged[p] = !c.baseHas(c.entries[i].OID)
		return nil
	}
	c.entries[i].OID = c.Format.Blob(pointer.Text())
	if c.entries[i].OID != c.old[i].OID {
		c.large[p] = pointer.OID
	}
	return nil
}

// baseHas reports whether a file of the base has some content, wherever.
func (c *collector) baseHas(oid git.OID) bool {
	return slices.ContainsFunc(c.Base.All(), func(f git.File) bool { return f.OID == oid })
}
