package counter

// Counter counts events up to a limit.
type Counter struct {
	count int
	limit int
}

// New makes a counter that stops at limit.
func New(limit int) *Counter {
	return &Counter{limit: limit}
}

// Add counts n events more.
func (c Counter) Add(n int) {
	c.count += n
	if c.count > c.limit {
		c.count = c.limit
	}
}

// Count is how many there were.
func (c *Counter) Count() int {
	return c.count
}

// Full says whether the limit is reached.
func (c *Counter) Full() bool {
	return c.count == c.limit
}
