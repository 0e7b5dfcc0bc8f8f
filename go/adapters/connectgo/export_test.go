package connectgo

// TableSizes returns how many entries wait for a hook.
func TableSizes() int {
	return incomings.Len() + outgoings.Len() + int(waiting.count.Load())
}
