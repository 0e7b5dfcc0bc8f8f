package pb

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// edges are the numbers around every change of length.
func edges() []uint64 {
	all := []uint64{0, 1, math.MaxUint64}
	for bit := range 64 {
		v := uint64(1) << bit
		all = append(all, v-1, v, v+1, v|v>>1, ^v)
	}
	return all
}

func TestVarintsAreProtobufs(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var all []uint64
	for _, v := range edges() {
		want := protowire.AppendVarint(nil, v)
		room := make([]byte, 40)
		for name, put := range map[string]func([]byte, int, uint64) int{"putVarint": putVarint, "putLongVarint": putLongVarint} {
			if got := room[put(room, len(room), v):]; !bytes.Equal(got, want) {
				t.Errorf("%s(%#x) = %x, want %x", name, v, got, want)
			}
		}
		for _, behind := range []int{0, 1, 7, 8, 20} { // the end of the input is handled apart
			b := append(bytes.Clone(want), make([]byte, behind)...)
			for name, get := range map[string]func([]byte, int) (uint64, int){"varint": varint, "longVarint": longVarint} {
				if got, next := get(b, 0); got != v || next != len(want) {
					t.Errorf("%s(%x) = %#x, %d", name, b, got, next)
				}
			}
		}
		all = append(all, v, v>>random.IntN(64))
	}
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for n := range 60 {
		list := all[random.IntN(len(all)-n):][:n]
		var want []byte
		narrow := make([]uint32, n)
		for i, v := range list {
			want = protowire.AppendVarint(want, v)
			narrow[i] = uint32(v)
		}
		if got := countVarints(want); got != n {
			t.Errorf("countVarints(%x) = %d, want %d", want, got, n)
		}
		room := make([]byte, 10*n+fieldBytesMax)
		if got := room[putVarints(room, len(room), list):]; !bytes.Equal(got, want) {
			t.Errorf("putVarints(%#x) = %x, want %x", list, got, want)
		}
		out, out32 := make([]uint64, n), make([]uint32, n)
		if next := varints(out, want, 0); next != len(want) {
			t.Errorf("varints(%x) ends at %d", want, next)
		}
		if next := varints(out32, want, 0); next != len(want) {
			t.Errorf("varints(%x) of 32 bits ends at %d", want, next)
		}
		for i := range list {
			if out[i] != list[i] || out32[i] != narrow[i] {
				t.Errorf("varints(%x)[%d] = %#x and %#x, want %#x", want, i, out[i], out32[i], list[i])
			}
		}
	}
}

// The bytes of a negative int32 are those of the same int64.
func TestNegativeInt32(t *testing.T) {
	room := make([]byte, 60)
	got := room[putVarints(room, len(room), []int32{-1, math.MinInt32, 7}):]
	var want []byte
	for _, v := range []int64{-1, math.MinInt32, 7} {
		want = protowire.AppendVarint(want, uint64(v))
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%x, want %x", got, want)
	}
}
