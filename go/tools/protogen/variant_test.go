package main

import (
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

func compileHere(t *testing.T, names ...string) []*descriptorpb.FileDescriptorProto {
	t.Helper()
	files, err := compile(t.Context(), filepath.Join("..", "..", ".."), names)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestRenameChangesOwnNamesAndKeepsTheRest(t *testing.T) {
	extensions, wellKnown := "harena/test/go_extensions.proto", "harena/test/go_well_known.proto"
	files := compileHere(t, extensions, wellKnown)
	variant("other").rename(files, map[string]bool{extensions: true, wellKnown: true})

	// Linking fails on any reference that was not renamed, or was and should not have been.
	set, err := protodesc.NewFiles(&descriptorpb.FileDescriptorSet{File: files})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"harena.test.other.Extendable",
		"harena.test.other.ExtensionHolder.held_self",
		"harena.test.other.WellKnown",
		"google.protobuf.Any",
	} {
		if _, err := set.FindDescriptorByName(protoreflect.FullName(name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, path := range []string{"other/" + extensions, "google/protobuf/any.proto"} {
		if _, err := set.FindFileByPath(path); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := set.FindDescriptorByName("harena.test.Extendable"); err == nil {
		t.Error("the old name is still there")
	}
}

func TestRenameFollowsImportsAndServices(t *testing.T) {
	names := map[string]bool{}
	var paths []string
	for _, sources := range workloadPackages {
		for _, path := range sources {
			names[path] = true
			paths = append(paths, path)
		}
	}
	files := compileHere(t, paths...)
	variant("vt").rename(files, names)
	set, err := protodesc.NewFiles(&descriptorpb.FileDescriptorSet{File: files})
	if err != nil {
		t.Fatal(err)
	}
	service, err := set.FindDescriptorByName("harena.bench.v1.vt.DemoService.BoardFeed")
	if err != nil {
		t.Fatal(err)
	}
	method := protodesc.ToMethodDescriptorProto(service.(protoreflect.MethodDescriptor))
	if got, want := method.GetInputType(), ".transit_realtime.vt.FeedMessage"; got != want {
		t.Errorf("input type %s, want %s", got, want)
	}
}

func TestRenameWithoutVariantChangesNothing(t *testing.T) {
	const path = "harena/test/go_deep.proto"
	files := compileHere(t, path)
	before := proto.CloneOf(files[0])
	variant("").rename(files, map[string]bool{path: true})
	if !proto.Equal(before, files[0]) {
		t.Error("an empty variant changed the schema")
	}
}
