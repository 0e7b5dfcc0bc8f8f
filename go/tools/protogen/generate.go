package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/pluginpb"
)

// generate runs the unit's plugins and adds what they write to made.
func (u unit) generate(ctx context.Context, root, bin string, made tree) error {
	names := map[string]bool{}
	var sources, targets, params []string
	for _, folder := range slices.Sorted(maps.Keys(u.packages)) {
		for _, name := range u.packages[folder] {
			names[name] = true
			sources = append(sources, name)
			targets = append(targets, u.variant.path(name))
			params = append(params, fmt.Sprintf("M%s=%s", u.variant.path(name), path.Join(module, u.dir, folder)))
		}
	}
	params = append(params, "module="+module)
	files, err := compile(ctx, root, sources)
	if err != nil {
		return err
	}
	u.variant.rename(files, names)
	for _, p := range u.plugins {
		request := &pluginpb.CodeGeneratorRequest{
			FileToGenerate: targets,
			Parameter:      new(strings.Join(append(slices.Clone(params), p.params...), ",")),
			ProtoFile:      files,
		}
		if err := p.run(ctx, bin, request, made); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

// run calls the plugin as protoc does: the request on standard input, the files on standard output.
func (p plugin) run(ctx context.Context, bin string, request *pluginpb.CodeGeneratorRequest, made tree) error {
	wire, err := proto.Marshal(request)
	if err != nil {
		return err
	}
	command := exec.CommandContext(ctx, filepath.Join(bin, p.name))
	command.Stdin = bytes.NewReader(wire)
	command.Stderr = os.Stderr
	output, err := command.Output()
	if err != nil {
		return err
	}
	response := new(pluginpb.CodeGeneratorResponse)
	if err := proto.Unmarshal(output, response); err != nil {
		return err
	}
	if response.Error != nil {
		return errors.New(response.GetError())
	}
	for _, file := range response.File {
		if _, twice := made[file.GetName()]; twice {
			return fmt.Errorf("writes %s a second time", file.GetName())
		}
		made[file.GetName()] = file.GetContent()
	}
	return nil
}
