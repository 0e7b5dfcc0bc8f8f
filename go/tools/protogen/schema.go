package main

import (
	"context"
	"path/filepath"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

// compile reads the named files below root/proto. It returns them and all that they import, every file
// after its imports, as a plugin wants them. Comments are kept: they become doc comments.
func compile(ctx context.Context, root string, names []string) ([]*descriptorpb.FileDescriptorProto, error) {
	compiler := protocompile.Compiler{
		Resolver: protocompile.WithStandardImports(&protocompile.SourceResolver{
			ImportPaths: []string{filepath.Join(root, "proto")},
		}),
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	files, err := compiler.Compile(ctx, names...)
	if err != nil {
		return nil, err
	}
	var sorted []*descriptorpb.FileDescriptorProto
	seen := map[string]bool{}
	var visit func(protoreflect.FileDescriptor) error
	visit = func(file protoreflect.FileDescriptor) error {
		if seen[file.Path()] {
			return nil
		}
		seen[file.Path()] = true
		for i := range file.Imports().Len() {
			if err := visit(file.Imports().Get(i).FileDescriptor); err != nil {
				return err
			}
		}
		plain, err := plainCopy(protoutil.ProtoFromFileDescriptor(file))
		sorted = append(sorted, plain)
		return err
	}
	for _, file := range files {
		if err := visit(file); err != nil {
			return nil, err
		}
	}
	return sorted, nil
}

// plainCopy makes a copy that may be changed, without the compiler's own types for options.
func plainCopy(file *descriptorpb.FileDescriptorProto) (*descriptorpb.FileDescriptorProto, error) {
	wire, err := proto.Marshal(file)
	if err != nil {
		return nil, err
	}
	result := new(descriptorpb.FileDescriptorProto)
	return result, proto.Unmarshal(wire, result)
}
