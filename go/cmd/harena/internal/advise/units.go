package advise

import (
	"fmt"
	"math/bits"
	"strconv"
)

const (
	kib       = int64(1) << 10
	mib       = int64(1) << 20
	gib       = int64(1) << 30
	pageBytes = 64 * kib
)

// Size writes bytes as a file has them: exactly.
func Size(bytes int64) string {
	switch {
	case bytes == 0:
		return "0"
	case bytes%gib == 0:
		return strconv.FormatInt(bytes/gib, 10) + "GiB"
	case bytes%mib == 0:
		return strconv.FormatInt(bytes/mib, 10) + "MiB"
	case bytes%kib == 0:
		return strconv.FormatInt(bytes/kib, 10) + "KiB"
	}
	return strconv.FormatInt(bytes, 10)
}

// About writes bytes as people read them.
func About(bytes int64) string {
	switch x := float64(bytes); {
	case bytes >= gib:
		return fmt.Sprintf("%.1f GiB", x/float64(gib))
	case bytes >= mib:
		return fmt.Sprintf("%.1f MiB", x/float64(mib))
	case bytes >= kib:
		return fmt.Sprintf("%.1f KiB", x/float64(kib))
	}
	return fmt.Sprintf("%d B", bytes)
}

// limit writes a bound that may not be there.
func limit(bytes *int64) string {
	if bytes == nil {
		return "unlimited"
	}
	return Size(*bytes)
}

// powerOfTwo returns the least one that is not below x.
func powerOfTwo(x int64) int64 {
	if x <= 1 {
		return 1
	}
	return int64(1) << min(bits.Len64(uint64(x-1)), 62)
}

// pages rounds up to whole pages.
func pages(bytes int64) int64 { return (bytes + pageBytes - 1) / pageBytes * pageBytes }
