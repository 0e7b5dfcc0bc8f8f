package arena

import (
	"strconv"
	"testing"
)

// BenchmarkSampled is an arena with a few kilobytes, or 200, of mixed values, made and freed: with no
// sampling, with every arena sampled, and with one in a thousand. The second less the first, divided
// by a thousand, is what the third costs.
func BenchmarkSampled(b *testing.B) {
	for _, persons := range []int{20, 2000} {
		for _, oneIn := range []int{0, 1, 1000} {
			b.Run("persons="+strconv.Itoa(persons)+"/one_in="+strconv.Itoa(oneIn), func(b *testing.B) {
				p := NewPool(PoolOptions{QuarantineOneIn: oneIn})
				defer p.Close()
				b.ReportAllocs()
				for b.Loop() {
					a := p.Get()
					for range persons {
						one := NewOf[person](a)
						one.Tags = MakeSlice[string](a, 2, 2)
					}
					a.Free()
				}
			})
		}
	}
}
