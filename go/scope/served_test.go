package scope

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

func servedBy(framework string) (found []*Group) {
	for _, served := range AllServed() {
		if served.Framework == framework {
			found = append(found, served.Group)
		}
	}
	return found
}

func TestPublishedGroupsAreFoundWhileTheyAreReachable(t *testing.T) {
	group, err := NewGroup([]string{"/a"}, Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	group.Publish("test-served")
	if found := servedBy("test-served"); len(found) != 1 || found[0] != group {
		t.Fatalf("found %v", found)
	}
	runtime.KeepAlive(group)
	for deadline := time.Now().Add(10 * time.Second); len(servedBy("test-served")) != 0; {
		if time.Now().After(deadline) {
			t.Fatal("a group that nobody can reach is still served")
		}
		runtime.GC()
	}
}

func TestChangeOfWhatIsFixedChangesNothing(t *testing.T) {
	group, err := NewGroup([]string{"/a", "/b"}, Options{QuarantineOneIn: 10}, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = group.Change("", func(o *Options) { o.DepthMax, o.QuarantineOneIn = 3, 5 })
	if err == nil || !strings.Contains(err.Error(), "/a: harena/scope: QuarantineOneIn cannot be changed") {
		t.Fatalf("error %v", err)
	}
	err = group.Change("/b", func(o *Options) { o.DepthMax, o.DecodedFloorBytes = 3, 4096 })
	if err != nil {
		t.Fatal(err)
	}
	a, b := group.Pool("/a").Options(), group.Pool("/b").Options()
	if a.DepthMax != 0 || b.DepthMax != 3 || b.DecodedFloorBytes != 4096 {
		t.Errorf("options are %+v and %+v", a, b)
	}
}
