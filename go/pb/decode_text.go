package pb

import (
	"strings"
	"sync/atomic"
	"unicode/utf8"
	"unsafe"
)

// Strings are parts of the input where that cannot change. Otherwise they are copied into a block, one
// after the other: a block is memory that nobody writes to again, of which every string of one message
// is a part. The collector frees it when the last of them is gone. A block is as long as the strings of
// messages of this type are, by experience: less memory than a copy of the whole input, which holds
// numbers, tags and lengths as well.

// string decodes a string.
func (d *decoder) string(f *field, at *string, i, end int) int {
	from, to := length(d.buf[:end], i)
	if from < 0 {
		return d.fail(errDecode)
	}
	var ok bool
	if *at, ok = d.textAt(from, to, f.utf8); !ok {
		return -1
	}
	return to
}

// textAt returns buf[from:to] as a string, or fails and returns false.
func (d *decoder) textAt(from, to int, check bool) (string, bool) {
	n := to - from
	if n <= wordsBytes && from+wordsBytes <= len(d.buf) {
		// No branch on the length: words are handled, with what follows the string.
		src := (*[wordsBytes]byte)(d.buf[from:])
		mask := &highMasks[n]
		if !d.shared && d.blockUsed+wordsBytes <= d.blockBytes {
			dst := (*[wordsBytes]byte)(unsafe.Add(d.block, d.blockUsed))
			w, x, y, z := word(src[:], 0), word(src[:], 8), word(src[:], 16), word(src[:], 24)
			putWord(dst[:], 0, w)
			putWord(dst[:], 8, x)
			putWord(dst[:], 16, y)
			putWord(dst[:], 24, z)
			high := w&mask[0] | x&mask[1] | y&mask[2] | z&mask[3]
			if n > wordsBytes/2 {
				w, x, y, z = word(src[:], 32), word(src[:], 40), word(src[:], 48), word(src[:], 56)
				putWord(dst[:], 32, w)
				putWord(dst[:], 40, x)
				putWord(dst[:], 48, y)
				putWord(dst[:], 56, z)
				high |= w&mask[4] | x&mask[5] | y&mask[6] | z&mask[7]
			}
			if high == 0 || !check || utf8.Valid(d.buf[from:to]) {
				d.blockUsed += n
				return unsafe.String(&dst[0], n), true
			}
		} else if d.shared {
			high := word(src[:], 0)&mask[0] | word(src[:], 8)&mask[1] | word(src[:], 16)&mask[2] | word(src[:], 24)&mask[3]
			if n > wordsBytes/2 {
				high |= word(src[:], 32)&mask[4] | word(src[:], 40)&mask[5] | word(src[:], 48)&mask[6] | word(src[:], 56)&mask[7]
			}
			if high == 0 {
				return d.text[from:to], true
			}
		}
	}
	return d.anyText(from, to, check)
}

// wordsBytes is how long a string may be to be handled by the word, where that much memory follows its
// start.
const wordsBytes = 64

// highMasks has, for each length, the highest bits of as many bytes in the order of word.
var highMasks = func() (masks [wordsBytes + 1][wordsBytes / 8]uint64) {
	for n := range masks {
		for i := range n {
			masks[n][i/8] |= 0x80 << (i % 8 * 8)
		}
	}
	return masks
}()

// anyText is textAt for every string.
func (d *decoder) anyText(from, to int, check bool) (string, bool) {
	text := d.buf[from:to]
	if d.shared {
		if check && !validUTF8(text) {
			d.fail(errUTF8)
			return "", false
		}
		return d.text[from:to], true
	}
	if len(text) == 0 {
		return "", true
	}
	if len(text) > d.blockBytes-d.blockUsed && !d.newBlock(len(text), from) {
		return "", false
	}
	dst := unsafe.Slice((*byte)(unsafe.Add(d.block, d.blockUsed)), len(text))
	if !copyUTF8(dst, text) && check {
		d.fail(errUTF8)
		return "", false
	}
	d.blockUsed += len(text)
	return unsafe.String(&dst[0], len(dst)), true
}

// newBlock takes a block for the strings of buf[from:], of which the first has n bytes. What is left of
// the one before is lost: less than n, so that blocks never take twice what strings do.
func (d *decoder) newBlock(n, from int) bool {
	left := len(d.buf) - from
	wanted := left
	if share := atomic.LoadUint32(&d.root.textShare); share > 0 {
		share = max(share, uint32(d.blocksUsed*textShareUnit/max(from, 1)))
		wanted = int(int64(left)*int64(share)/textShareUnit) + left/textSpareShare + wordsBytes
	}
	size := min(max(wanted, n), left)
	// One copy of the input is charged, however much it will be: what a limit admits must not depend on
	// what was decoded before.
	if d.block == nil && !d.options.Limits.TextCounted && !d.chargeOutside(int64(len(d.buf))) {
		return false
	}
	d.blocksUsed += d.blockUsed
	var b strings.Builder // the one that does not zero memory first
	b.Grow(size)
	b.WriteByte(0)
	d.block = unsafe.Pointer(unsafe.StringData(b.String()))
	d.blockUsed, d.blockBytes = 0, size
	return true
}

const (
	// textShare counts in parts of this.
	textShareUnit = 1 << 10
	// How much longer a block is than expected, as a part of the input.
	textSpareShare = 32
)

// learnTextShare remembers how much of the input was strings: the most of late.
func (d *decoder) learnTextShare() {
	if d.block == nil || len(d.buf) == 0 {
		return
	}
	share := uint32(int64(d.blocksUsed+d.blockUsed)*textShareUnit/int64(len(d.buf))) + 1
	known := atomic.LoadUint32(&d.root.textShare)
	if known > share {
		share = known - (known-share)/8
	}
	if share != known {
		atomic.StoreUint32(&d.root.textShare, share)
	}
}
