package workloads

// dice gives the same values as the C++ generator's: std::mt19937_64 and plain arithmetic.
type dice struct {
	words [312]uint64
	next  int
}

func newDice(seed uint64) *dice {
	d := &dice{next: 312}
	d.words[0] = seed
	for i := 1; i < len(d.words); i++ {
		before := d.words[i-1]
		d.words[i] = 6364136223846793005*(before^before>>62) + uint64(i)
	}
	return d
}

// roll returns the next 64 random bits.
func (d *dice) roll() uint64 {
	const upper, lower = 0xFFFFFFFF80000000, 0x7FFFFFFF
	if d.next == len(d.words) {
		for i := range d.words {
			x := d.words[i]&upper | d.words[(i+1)%312]&lower
			d.words[i] = d.words[(i+156)%312] ^ x>>1 ^ (x&1)*0xB5026F5AA96619E9
		}
		d.next = 0
	}
	x := d.words[d.next]
	d.next++
	x ^= x >> 29 & 0x5555555555555555
	x ^= x << 17 & 0x71D67FFFEDA60000
	x ^= x << 37 & 0xFFF7EEE000000000
	return x ^ x>>43
}

// between returns a number in [low, high].
func (d *dice) between(low, high int64) int64 {
	return low + int64(d.roll()%uint64(high-low+1))
}

// fraction returns a number in [0, 1) with 20 random bits, so that sums are exact enough to repeat
// anywhere.
func (d *dice) fraction() float64 { return float64(d.roll()>>44) / (1 << 20) }

// text returns lower-case text of 8 to 60 bytes.
func (d *dice) text() string { return d.textOf(d.between(8, 60)) }

func (d *dice) textOf(bytes int64) string {
	const letters = "abcdefghijklmnopqrstuvwxyz-_0123"
	text := make([]byte, bytes)
	for i := range text {
		text[i] = letters[d.roll()%uint64(len(letters))]
	}
	return string(text)
}

func (d *dice) bytes(count int) []byte {
	raw := make([]byte, count)
	for i := range raw {
		raw[i] = byte(d.roll())
	}
	return raw
}
