package tool

import "sort"

// tables are the rows, each table sorted by name.
func tables() [7][]row {
	return [7][]row{fileRows, textRows, archiveRows, buildRows, scriptRows, otherRows, systemRows}
}

// lookup finds the row of a command, or of a command and its subcommand.
func lookup(name string) *row {
	r := exactly(name)
	if r == nil || r.like == "" {
		return r
	}
	like := exactly(r.like)
	if like == nil {
		return nil
	}
	c := *like
	if r.out != "" {
		c.out = r.out
	}
	return &c
}

// exactly finds the row with a name, or of what the name is another for.
func exactly(name string) *row {
	if r := inTables(name); r != nil {
		return r
	}
	if to := another(name); to != "" {
		return inTables(to)
	}
	return nil
}

func inTables(name string) *row {
	for _, table := range tables() {
		if r := find(table, name); r != nil {
			return r
		}
	}
	return nil
}

func find(table []row, name string) *row {
	i := sort.Search(len(table), func(i int) bool { return table[i].name >= name })
	if i < len(table) && table[i].name == name {
		return &table[i]
	}
	return nil
}

func inTable(table []row, name string) bool {
	if to := another(name); to != "" {
		name = to
	}
	return find(table, name) != nil
}
