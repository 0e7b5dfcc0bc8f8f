package scope

import (
	"cmp"
	"fmt"
)

// ServiceOptions are the settings of a service. Every adapter has them under the name Options. The
// zero value is mode codec without limits for unary methods, and streams as the RPC framework serves
// them.
type ServiceOptions struct {
	// Mode of the methods; it may be changed while the server runs.
	Mode Mode

	// RequestBytesMax bounds what one RPC may take, in bytes: its decoded request, the request's
	// bytes after decompression, and what the handler makes on the scope. Zero means no bound.
	RequestBytesMax int64

	// ProcessBytesMax bounds what all RPCs of the process take together, in bytes. It is set for the
	// whole process, as [ProcessBudget] does, when the service is made. Zero leaves that as it is.
	ProcessBytesMax int64

	// DecodedRatioMax and DecodedFloorBytes bound what decoding may take by the size of the request;
	// see [Options].
	DecodedRatioMax   float64
	DecodedFloorBytes int64

	// DepthMax bounds how deeply messages may nest: 1 to [DepthLevelsMax] levels. Zero means protobuf's
	// own limit.
	DepthMax int

	// QuarantineOneIn samples scopes to find who uses their memory too late; see [Options]. Zero means
	// none.
	QuarantineOneIn int

	// StreamScope says how streams use scopes.
	StreamScope StreamScope

	// Methods has settings of single methods, by their full names ("/package.Service/Method").
	Methods map[string]MethodOptions
}

// MethodOptions are the settings of one method, in place of those in [ServiceOptions]. A limit that it
// does not name is the service's: of RequestBytesMax, DecodedRatioMax, DecodedFloorBytes and DepthMax, zero
// stands for that.
type MethodOptions struct {
	Mode              Mode
	RequestBytesMax   int64
	DecodedRatioMax   float64
	DecodedFloorBytes int64
	DepthMax          int
	QuarantineOneIn   int
	StreamScope       StreamScope
}

// NoLimit lifts a limit of the service for one method, as its RequestBytesMax, DecodedRatioMax or DepthMax.
const NoLimit = -1

// Method returns the settings that a method has in the end, by its full name. Zero means no bound there.
func (o ServiceOptions) Method(name string) MethodOptions {
	own, found := o.Methods[name]
	if !found {
		own = MethodOptions{Mode: o.Mode, QuarantineOneIn: o.QuarantineOneIn, StreamScope: o.StreamScope}
	}
	own.RequestBytesMax = limitOf(own.RequestBytesMax, o.RequestBytesMax)
	own.DecodedRatioMax = limitOf(own.DecodedRatioMax, o.DecodedRatioMax)
	own.DecodedFloorBytes = cmp.Or(own.DecodedFloorBytes, o.DecodedFloorBytes)
	own.DepthMax = limitOf(own.DepthMax, o.DepthMax)
	return own
}

// limitOf returns the limit of a method that names its own, or not.
func limitOf[T int | int64 | float64](own, service T) T {
	switch own {
	case 0:
		return service
	case NoLimit:
		return 0
	}
	return own
}

// NewGroup makes the pools of a service's methods, by their full names. The error says what is wrong
// with the options.
func (o ServiceOptions) NewGroup(names []string) (*Group, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	own := make(map[string]Options, len(o.Methods))
	for name := range o.Methods {
		own[name] = o.Method(name).Scope()
	}
	group, err := NewGroup(names, o.Method("").Scope(), own)
	if err != nil {
		return nil, err
	}
	return group, o.SetProcessBytesMax()
}

// SetProcessBytesMax does what ProcessBytesMax asks for.
func (o ServiceOptions) SetProcessBytesMax() error {
	if o.ProcessBytesMax < 0 {
		return fmt.Errorf("harena/scope: ProcessBytesMax is %d; want 0 (as it is) or more", o.ProcessBytesMax)
	}
	if o.ProcessBytesMax > 0 {
		process.SetBytesMax(o.ProcessBytesMax)
	}
	return nil
}

// Scope returns what the method's pool is to be made with.
func (o MethodOptions) Scope() Options {
	return Options{
		Mode:              o.Mode,
		RequestBytesMax:   o.RequestBytesMax,
		DecodedRatioMax:   o.DecodedRatioMax,
		DecodedFloorBytes: o.DecodedFloorBytes,
		DepthMax:          o.DepthMax,
		QuarantineOneIn:   o.QuarantineOneIn,
	}
}

// Validate says what is wrong with the settings, of the service or of one of its methods.
func (o ServiceOptions) Validate() error {
	service := o
	service.Methods = nil
	if err := service.Method("").validate(); err != nil {
		return err
	}
	for name, own := range o.Methods {
		if err := own.Validate(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// Validate says what is wrong with the settings.
func (o MethodOptions) Validate() error {
	return ServiceOptions{Methods: map[string]MethodOptions{"": o}}.Method("").validate()
}

// validate is Validate for settings of which NoLimit is none.
func (o MethodOptions) validate() error {
	if err := o.StreamScope.Validate(); err != nil {
		return err
	}
	if o.Mode == Heap && o.Scope().asksForLimit(Options{}) {
		return errHeapLimit
	}
	return o.Scope().Validate()
}
