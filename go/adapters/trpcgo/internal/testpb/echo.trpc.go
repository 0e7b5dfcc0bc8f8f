// The trpc-go stubs of harena/test/echo.proto, written in the shape that trpc-cmdline gives them.

package testpb

import (
	"context"
	"fmt"

	"trpc.group/trpc-go/trpc-go/client"
	"trpc.group/trpc-go/trpc-go/codec"
	"trpc.group/trpc-go/trpc-go/server"
	"trpc.group/trpc-go/trpc-go/stream"
)

// EchoService is what a server implements.
type EchoService interface {
	Say(ctx context.Context, req *Note) (*Note, error)
	Fail(ctx context.Context, req *Note) (*Note, error)
	Repeat(req *Note, stream Echo_RepeatServer) error
	Collect(stream Echo_CollectServer) error
	Chat(stream Echo_ChatServer) error
}

func EchoService_Say_Handler(svr interface{}, ctx context.Context, f server.FilterFunc) (interface{}, error) {
	req := &Note{}
	filters, err := f(req)
	if err != nil {
		return nil, err
	}
	handleFunc := func(ctx context.Context, reqbody interface{}) (interface{}, error) {
		return svr.(EchoService).Say(ctx, reqbody.(*Note))
	}
	var rsp interface{}
	rsp, err = filters.Filter(ctx, req, handleFunc)
	if err != nil {
		return nil, err
	}
	return rsp, nil
}

func EchoService_Fail_Handler(svr interface{}, ctx context.Context, f server.FilterFunc) (interface{}, error) {
	req := &Note{}
	filters, err := f(req)
	if err != nil {
		return nil, err
	}
	handleFunc := func(ctx context.Context, reqbody interface{}) (interface{}, error) {
		return svr.(EchoService).Fail(ctx, reqbody.(*Note))
	}
	var rsp interface{}
	rsp, err = filters.Filter(ctx, req, handleFunc)
	if err != nil {
		return nil, err
	}
	return rsp, nil
}

func EchoService_Repeat_Handler(srv interface{}, stream server.Stream) error {
	m := new(Note)
	if err := stream.RecvMsg(m); err != nil {
		return err
	}
	return srv.(EchoService).Repeat(m, &echoRepeatServer{stream})
}

type Echo_RepeatServer interface {
	Send(*Note) error
	server.Stream
}

type echoRepeatServer struct{ server.Stream }

func (x *echoRepeatServer) Send(m *Note) error { return x.Stream.SendMsg(m) }

func EchoService_Collect_Handler(srv interface{}, stream server.Stream) error {
	return srv.(EchoService).Collect(&echoCollectServer{stream})
}

type Echo_CollectServer interface {
	SendAndClose(*Note) error
	Recv() (*Note, error)
	server.Stream
}

type echoCollectServer struct{ server.Stream }

func (x *echoCollectServer) SendAndClose(m *Note) error { return x.Stream.SendMsg(m) }

func (x *echoCollectServer) Recv() (*Note, error) {
	m := new(Note)
	if err := x.Stream.RecvMsg(m); err != nil {
		return nil, err
	}
	return m, nil
}

func EchoService_Chat_Handler(srv interface{}, stream server.Stream) error {
	return srv.(EchoService).Chat(&echoChatServer{stream})
}

type Echo_ChatServer interface {
	Send(*Note) error
	Recv() (*Note, error)
	server.Stream
}

type echoChatServer struct{ server.Stream }

func (x *echoChatServer) Send(m *Note) error { return x.Stream.SendMsg(m) }

func (x *echoChatServer) Recv() (*Note, error) {
	m := new(Note)
	if err := x.Stream.RecvMsg(m); err != nil {
		return nil, err
	}
	return m, nil
}

// EchoServer_ServiceDesc is what is registered with a server.
var EchoServer_ServiceDesc = server.ServiceDesc{
	ServiceName:  "harena.test.echo.Echo",
	HandlerType:  ((*EchoService)(nil)),
	StreamHandle: stream.NewStreamDispatcher(),
	Methods: []server.Method{
		{Name: "/harena.test.echo.Echo/Say", Func: EchoService_Say_Handler},
		{Name: "/harena.test.echo.Echo/Fail", Func: EchoService_Fail_Handler},
	},
	Streams: []server.StreamDesc{
		{StreamName: "/harena.test.echo.Echo/Repeat", Handler: EchoService_Repeat_Handler, ServerStreams: true},
		{StreamName: "/harena.test.echo.Echo/Collect", Handler: EchoService_Collect_Handler, ClientStreams: true},
		{StreamName: "/harena.test.echo.Echo/Chat", Handler: EchoService_Chat_Handler, ServerStreams: true, ClientStreams: true},
	},
}

// RegisterEchoService registers an implementation.
func RegisterEchoService(s server.Service, svr EchoService) {
	if err := s.Register(&EchoServer_ServiceDesc, svr); err != nil {
		panic(fmt.Sprintf("Echo register error:%v", err))
	}
}

// EchoClientProxy is what a client calls.
type EchoClientProxy interface {
	Say(ctx context.Context, req *Note, opts ...client.Option) (*Note, error)
	Fail(ctx context.Context, req *Note, opts ...client.Option) (*Note, error)
	Repeat(ctx context.Context, req *Note, opts ...client.Option) (Echo_RepeatClient, error)
	Collect(ctx context.Context, opts ...client.Option) (Echo_CollectClient, error)
	Chat(ctx context.Context, opts ...client.Option) (Echo_ChatClient, error)
}

// EchoClientProxyImpl makes the calls.
type EchoClientProxyImpl struct {
	client       client.Client
	streamClient stream.Client
	opts         []client.Option
}

// NewEchoClientProxy returns a client.
var NewEchoClientProxy = func(opts ...client.Option) EchoClientProxy {
	return &EchoClientProxyImpl{client: client.DefaultClient, streamClient: stream.DefaultStreamClient, opts: opts}
}

func (c *EchoClientProxyImpl) Say(ctx context.Context, req *Note, opts ...client.Option) (*Note, error) {
	return c.invoke(ctx, "Say", req, opts)
}

func (c *EchoClientProxyImpl) Fail(ctx context.Context, req *Note, opts ...client.Option) (*Note, error) {
	return c.invoke(ctx, "Fail", req, opts)
}

func (c *EchoClientProxyImpl) invoke(ctx context.Context, method string, req *Note, opts []client.Option) (*Note, error) {
	ctx, msg := codec.WithCloneMessage(ctx)
	defer codec.PutBackMessage(msg)
	msg.WithClientRPCName("/harena.test.echo.Echo/" + method)
	msg.WithCalleeServiceName(EchoServer_ServiceDesc.ServiceName)
	msg.WithCalleeService("Echo")
	msg.WithCalleeMethod(method)
	msg.WithSerializationType(codec.SerializationTypePB)
	callopts := make([]client.Option, 0, len(c.opts)+len(opts))
	callopts = append(callopts, c.opts...)
	callopts = append(callopts, opts...)
	rsp := &Note{}
	if err := c.client.Invoke(ctx, req, rsp, callopts...); err != nil {
		return nil, err
	}
	return rsp, nil
}

func (c *EchoClientProxyImpl) newStream(ctx context.Context, desc *client.ClientStreamDesc, opts []client.Option) (client.ClientStream, error) {
	ctx, msg := codec.WithCloneMessage(ctx)
	msg.WithClientRPCName("/harena.test.echo.Echo/" + desc.StreamName)
	msg.WithCalleeServiceName(EchoServer_ServiceDesc.ServiceName)
	msg.WithCalleeService("Echo")
	msg.WithCalleeMethod(desc.StreamName)
	msg.WithSerializationType(codec.SerializationTypePB)
	callopts := make([]client.Option, 0, len(c.opts)+len(opts))
	callopts = append(callopts, c.opts...)
	callopts = append(callopts, opts...)
	return c.streamClient.NewStream(ctx, desc, "/harena.test.echo.Echo/"+desc.StreamName, callopts...)
}

type Echo_RepeatClient interface {
	Recv() (*Note, error)
	client.ClientStream
}

type echoRepeatClient struct{ client.ClientStream }

func (x *echoRepeatClient) Recv() (*Note, error) {
	m := new(Note)
	if err := x.ClientStream.RecvMsg(m); err != nil {
		return nil, err
	}
	return m, nil
}

func (c *EchoClientProxyImpl) Repeat(ctx context.Context, req *Note, opts ...client.Option) (Echo_RepeatClient, error) {
	stream, err := c.newStream(ctx, &client.ClientStreamDesc{StreamName: "Repeat", ServerStreams: true}, opts)
	if err != nil {
		return nil, err
	}
	x := &echoRepeatClient{stream}
	if err := x.ClientStream.SendMsg(req); err != nil {
		return nil, err
	}
	if err := x.ClientStream.CloseSend(); err != nil {
		return nil, err
	}
	return x, nil
}

type Echo_CollectClient interface {
	Send(*Note) error
	CloseAndRecv() (*Note, error)
	client.ClientStream
}

type echoCollectClient struct{ client.ClientStream }

func (x *echoCollectClient) Send(m *Note) error { return x.ClientStream.SendMsg(m) }

func (x *echoCollectClient) CloseAndRecv() (*Note, error) {
	if err := x.ClientStream.CloseSend(); err != nil {
		return nil, err
	}
	m := new(Note)
	if err := x.ClientStream.RecvMsg(m); err != nil {
		return nil, err
	}
	return m, nil
}

func (c *EchoClientProxyImpl) Collect(ctx context.Context, opts ...client.Option) (Echo_CollectClient, error) {
	stream, err := c.newStream(ctx, &client.ClientStreamDesc{StreamName: "Collect", ClientStreams: true}, opts)
	if err != nil {
		return nil, err
	}
	return &echoCollectClient{stream}, nil
}

type Echo_ChatClient interface {
	Send(*Note) error
	Recv() (*Note, error)
	client.ClientStream
}

type echoChatClient struct{ client.ClientStream }

func (x *echoChatClient) Send(m *Note) error { return x.ClientStream.SendMsg(m) }

func (x *echoChatClient) Recv() (*Note, error) {
	m := new(Note)
	if err := x.ClientStream.RecvMsg(m); err != nil {
		return nil, err
	}
	return m, nil
}

func (c *EchoClientProxyImpl) Chat(ctx context.Context, opts ...client.Option) (Echo_ChatClient, error) {
	stream, err := c.newStream(ctx, &client.ClientStreamDesc{StreamName: "Chat", ServerStreams: true, ClientStreams: true}, opts)
	if err != nil {
		return nil, err
	}
	return &echoChatClient{stream}, nil
}
