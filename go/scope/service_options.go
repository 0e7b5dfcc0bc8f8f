package scope

import "fmt"

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

	// Methods has whole sets of settings for single methods, by their full names
	// ("/package.Service/Method").
	Methods map[string]MethodOptions
}

// MethodOptions are the settings of one method, in place of those in [ServiceOptions].
type MethodOptions struct {
	Mode              Mode
	RequestBytesMax   int64
	DecodedRatioMax   float64
	DecodedFloorBytes int64
	DepthMax          int
	QuarantineOneIn   int
	StreamScope       StreamScope
}

// Method returns the settings of a method by its full name; the service's, if it has none of its own.
func (o ServiceOptions) Method(name string) MethodOptions {
	if own, found := o.Methods[name]; found {
		return own
	}
	return MethodOptions{
		Mode:              o.Mode,
		RequestBytesMax:   o.RequestBytesMax,
		DecodedRatioMax:   o.DecodedRatioMax,
		DecodedFloorBytes: o.DecodedFloorBytes,
		DepthMax:          o.DepthMax,
		QuarantineOneIn:   o.QuarantineOneIn,
		StreamScope:       o.StreamScope,
	}
}

// NewGroup makes the pools of a service's methods, by their full names. The error says what is wrong
// with the options.
func (o ServiceOptions) NewGroup(names []string) (*Group, error) {
	own := make(map[string]Options, len(o.Methods))
	for name, m := range o.Methods {
		own[name] = m.Scope()
	}
	group, err := NewGroup(names, o.Method("").Scope(), own)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if err := o.Method(name).StreamScope.Validate(); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
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

// Validate says what is wrong with the settings.
func (o MethodOptions) Validate() error {
	if err := o.StreamScope.Validate(); err != nil {
		return err
	}
	return o.Scope().Validate()
}
