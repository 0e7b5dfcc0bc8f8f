package trpcdemo

import (
	tnetlog "trpc.group/trpc-go/tnet/log"
	"trpc.group/trpc-go/trpc-go/log"
)

// Quiet keeps trpc-go, and its network library, from writing to standard output, where the programs print
// JSON. Call it before anything of trpc-go's.
func Quiet() {
	log.SetLevel("0", log.LevelFatal)
	tnetlog.Default = log.GetDefaultLogger()
}
