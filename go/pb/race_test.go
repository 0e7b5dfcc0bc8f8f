//go:build race

package pb

// raceEnabled says that the race detector is on, which makes everything slow and allocates.
const raceEnabled = true
