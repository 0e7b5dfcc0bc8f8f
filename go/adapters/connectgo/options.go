package connectgo

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/harena-project/harena/go/scope"
)

// Options are the settings of a service. Requests in JSON are bounded by connect.WithReadMaxBytes only.
type Options = scope.ServiceOptions

// MethodOptions are the settings of one method, in place of those in [Options]. A limit that it does not
// name is the service's; [scope.NoLimit] lifts it.
type MethodOptions = scope.MethodOptions

// StreamScope says how long the memory of a stream's messages lives.
type StreamScope = scope.StreamScope

// The values of StreamScope, as package scope explains them.
const (
	StreamHeap = scope.StreamHeap // connect's own messages, the default
	PerMessage = scope.PerMessage // until the next message
	PerStream  = scope.PerStream  // until the handler returns
)

// validate says what is wrong with options of which no method has been seen yet.
func validate(o Options) error {
	if err := o.Validate(); err != nil {
		return err
	}
	for name := range o.Methods {
		if err := methodExists(name); err != nil {
			return err
		}
	}
	return o.SetProcessBytesMax()
}

// methodExists looks a procedure up among the schemas that the program knows: connect names its
// procedures only when their handlers are made.
func methodExists(name string) error {
	service, method, _ := strings.Cut(strings.TrimPrefix(name, "/"), "/")
	found, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(service))
	desc, ok := found.(protoreflect.ServiceDescriptor)
	if err != nil || !ok || !strings.HasPrefix(name, "/") {
		return fmt.Errorf("no method %q: its service is not known; want a name like /package.Service/Method", name)
	}
	var known []string
	for i := range desc.Methods().Len() {
		if string(desc.Methods().Get(i).Name()) == method {
			return nil
		}
		known = append(known, "/"+service+"/"+string(desc.Methods().Get(i).Name()))
	}
	return fmt.Errorf("no method %q; known are %s", name, strings.Join(known, ", "))
}
