package harena.interop;

import com.baidu.brpc.protocol.BrpcMeta;
import harena.test.brpc.BrpcWork.Result;
import harena.test.brpc.BrpcWork.Task;

/** The service as brpc-java calls it. */
public interface Work {
  @BrpcMeta(serviceName = "harena.test.brpc.Work", methodName = "Run")
  Result run(Task task);
}
