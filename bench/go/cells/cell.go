// Package cells is what a benchmark is made of: cells, each measured in a process of its own. The
// packages below it have the cells themselves.
package cells

// Cell is one row of one group. The rows of a group do the same work, and the first is the baseline
// of the others.
type Cell struct {
	Group string // such as "alloc/node1k"
	Row   string // such as "new"
	Unit  string // what is counted: "allocation", "message"
	Units int    // how many of those are in one operation

	// Ops is how many operations there are, for shapes whose memory grows with each; 0 means as many
	// as fit the time.
	Ops int
	// Parallel runs one body on each processor.
	Parallel bool

	// Make prepares what is measured. It is called once for each goroutine.
	Make func() (Body, error)

	// Missing says why there is nothing to measure, if so. Make is nil then.
	Missing string
}

// Body is what one goroutine does.
type Body struct {
	Op  func() // one operation
	End func() // what comes after the last one, if anything; it is measured too
	// Check does the work of one operation and compares the outcome, if there is one to compare.
	Check func() error
}

// Name is the cell's name on the command line.
func (c *Cell) Name() string { return c.Group + "/" + c.Row }
