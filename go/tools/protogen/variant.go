package main

import (
	"google.golang.org/protobuf/types/descriptorpb"
)

// variant is a word that is added to the path and to the package of a schema. The wire format stays,
// and the names differ: protobuf's registry refuses two files of one path, and two messages of one name,
// in one program.
//
//	harena/test/shapes.proto  -> opaque/harena/test/shapes.proto
//	package harena.test       -> package harena.test.opaque
type variant string

func (v variant) path(name string) string {
	if v == "" {
		return name
	}
	return string(v) + "/" + name
}

// rename changes the named files, and every reference from them to them.
func (v variant) rename(files []*descriptorpb.FileDescriptorProto, names map[string]bool) {
	if v == "" {
		return
	}
	r := renamer{variant: v, paths: names, names: map[string]string{}}
	for _, file := range files {
		if names[file.GetName()] {
			r.collect(file)
		}
	}
	for _, file := range files {
		if names[file.GetName()] {
			r.file(file)
		}
	}
}

// renamer holds the old paths, and the new name of every message and enum by its old one, both with
// their leading dot.
type renamer struct {
	variant variant
	paths   map[string]bool
	names   map[string]string
}

func (r *renamer) collect(file *descriptorpb.FileDescriptorProto) {
	before, after := "."+file.GetPackage(), "."+file.GetPackage()+"."+string(r.variant)
	for _, enum := range file.EnumType {
		r.names[before+"."+enum.GetName()] = after + "." + enum.GetName()
	}
	for _, message := range file.MessageType {
		r.collectMessage(before, after, message)
	}
}

func (r *renamer) collectMessage(before, after string, message *descriptorpb.DescriptorProto) {
	before, after = before+"."+message.GetName(), after+"."+message.GetName()
	r.names[before] = after
	for _, enum := range message.EnumType {
		r.names[before+"."+enum.GetName()] = after + "." + enum.GetName()
	}
	for _, nested := range message.NestedType {
		r.collectMessage(before, after, nested)
	}
}

func (r *renamer) file(file *descriptorpb.FileDescriptorProto) {
	file.Name = new(r.variant.path(file.GetName()))
	file.Package = new(file.GetPackage() + "." + string(r.variant))
	for i, path := range file.Dependency {
		if r.paths[path] {
			file.Dependency[i] = r.variant.path(path)
		}
	}
	for _, message := range file.MessageType {
		r.message(message)
	}
	r.fields(file.Extension)
	for _, service := range file.Service {
		for _, method := range service.Method {
			r.reference(&method.InputType)
			r.reference(&method.OutputType)
		}
	}
}

func (r *renamer) message(message *descriptorpb.DescriptorProto) {
	r.fields(message.Field)
	r.fields(message.Extension)
	for _, nested := range message.NestedType {
		r.message(nested)
	}
}

func (r *renamer) fields(fields []*descriptorpb.FieldDescriptorProto) {
	for _, field := range fields {
		r.reference(&field.TypeName)
		r.reference(&field.Extendee)
	}
}

func (r *renamer) reference(name **string) {
	if *name == nil {
		return
	}
	if after, ok := r.names[**name]; ok {
		*name = &after
	}
}
