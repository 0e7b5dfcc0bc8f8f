package alloc

// growPerson is the object of umem's test: 64 bytes.
type growPerson struct {
	Name    string
	Age     int
	Address string
	number  int
	uuid    string
}

// parallelPerson is the object of mi's test: 48 bytes.
type parallelPerson struct {
	Name string
	Age  int
	Addr string
	Zip  int
}

// node has 16 bytes.
type node struct {
	next  *node
	value int
}

// person has 56 bytes.
type person struct {
	next *person
	name string
	age  int
	addr string
	zip  int
}

// Eight types of 32 bytes, with and without pointers.
type (
	typeA struct{ words [4]int }
	typeB struct{ words [4]int }
	typeC struct{ words [4]int }
	typeD struct {
		next  *typeD
		words [3]int
	}
	typeE struct {
		next  *typeE
		words [3]int
	}
	typeF struct {
		next  *typeF
		words [3]int
	}
	typeG struct {
		name  string
		words [2]int
	}
	typeH struct {
		name  string
		words [2]int
	}
)

func (p *person) fill(next *person, i int) {
	p.next = next
	p.name = "John"
	p.age = i
	p.addr = "Istanbul"
	p.zip = 397
}
