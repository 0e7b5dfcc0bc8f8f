package harena.interop;

import com.baidu.brpc.RpcContext;
import com.baidu.brpc.client.BrpcProxy;
import com.baidu.brpc.client.RpcClient;
import com.baidu.brpc.client.RpcClientOptions;
import com.baidu.brpc.exceptions.RpcException;
import com.baidu.brpc.protocol.Options.CompressType;
import com.google.protobuf.ByteString;
import com.google.protobuf.CodedOutputStream;
import harena.test.brpc.BrpcWork.Result;
import harena.test.brpc.BrpcWork.Task;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;

/**
 * Calls harena.test.brpc.Work.Run over baidu_std in several ways and prints one line for each: its
 * name, and what came back. Ends with 1 when an answer is not the one that was computed here.
 */
public final class Client {
  private static final CompressType[] COMPRESSIONS = {
    CompressType.COMPRESS_TYPE_NONE, CompressType.COMPRESS_TYPE_GZIP,
    CompressType.COMPRESS_TYPE_ZLIB, CompressType.COMPRESS_TYPE_SNAPPY,
  };
  private static final int TIMEOUT_MILLIS = 60_000;
  private static final String FAILURE = "failed, as the request asks";

  private int wrong = 0;

  public static void main(String[] arguments) throws Exception {
    Client client = new Client();
    for (CompressType compression : COMPRESSIONS) {
      client.callAll(Integer.parseInt(arguments[0]), compression);
    }
    System.out.flush();
    System.exit(client.wrong == 0 ? 0 : 1); // brpc-java's threads would go on
  }

  private void callAll(int port, CompressType compression) throws Exception {
    RpcClientOptions options = new RpcClientOptions();
    options.setCompressType(compression);
    options.setConnectTimeoutMillis(TIMEOUT_MILLIS);
    options.setReadTimeoutMillis(TIMEOUT_MILLIS);
    options.setWriteTimeoutMillis(TIMEOUT_MILLIS);
    options.setMaxTryTimes(1);
    RpcClient connection = new RpcClient("list://127.0.0.1:" + port, options);
    Work work = BrpcProxy.getProxy(connection, Work.class);
    String how = compression.name().substring("COMPRESS_TYPE_".length()).toLowerCase();
    call(work, how + " empty", Task.getDefaultInstance(), null);
    call(work, how + " small", task(3), null);
    call(work, how + " large", task(3000), null);
    call(work, how + " attachment", task(20), attachment(100_000));
    fail(work, how + " error");
    call(work, how + " after the error", task(5), null);
    connection.stop();
  }

  private void call(Work work, String name, Task task, byte[] attachment) throws Exception {
    RpcContext context = RpcContext.getContext();
    context.reset();
    if (attachment != null) context.setRequestBinaryAttachment(attachment);
    Result result = work.run(task);
    byte[] back = taken(RpcContext.getContext().getResponseBinaryAttachment());
    check(name, result.equals(expected(task)) && Arrays.equals(back, orEmpty(attachment)));
    System.out.println(name + ": " + digest(bytes(result)) + " " + digest(back));
  }

  private void fail(Work work, String name) {
    RpcContext.getContext().reset();
    try {
      work.run(Task.newBuilder().setText("fail").build());
      check(name, false);
    } catch (RpcException error) {
      // brpc puts the error's number and the server's address before the text.
      int text = error.getMessage().indexOf(FAILURE);
      check(name, text >= 0 && error.getMessage().contains("[E1]"));
      System.out.println(name + ": " + error.getMessage().substring(Math.max(text, 0)));
    }
  }

  private void check(String name, boolean right) {
    if (right) return;
    ++wrong;
    System.err.println("WRONG: " + name);
  }

  private static Task task(int items) {
    Task.Builder task = Task.newBuilder().setText("a text that is longer than a short one: \u00e4");
    task.setNumber(-items).setBlob(ByteString.copyFrom(attachment(300)));
    for (int i = 0; i < items; ++i) {
      Task.Item.Builder item = task.addItemsBuilder();
      item.setName("an item with a name of ordinary length " + i);
      for (int score = 0; score < 8; ++score) item.addScores((long) score * i * 1_000_003);
      item.putLabels("key", "a value of a label " + i).putLabels("", "");
    }
    return task.build();
  }

  /** What the server must answer. */
  private static Result expected(Task task) {
    return Result.newBuilder()
        .setText("re: " + task.getText())
        .setNumber(task.getNumber() + 1)
        .addAllItems(task.getItemsList())
        .setBlob(task.getBlob())
        .build();
  }

  private static byte[] attachment(int size) {
    byte[] bytes = new byte[size];
    for (int i = 0; i < size; ++i) bytes[i] = (byte) (i * 31 + i / 256);
    return bytes;
  }

  private static byte[] orEmpty(byte[] bytes) {
    return bytes != null ? bytes : new byte[0];
  }

  private static byte[] taken(ByteBuf buffer) {
    if (buffer == null) return new byte[0];
    byte[] bytes = new byte[buffer.readableBytes()];
    buffer.readBytes(bytes);
    buffer.release();
    return bytes;
  }

  // A map's order is the sender's choice.
  private static byte[] bytes(Result result) throws IOException {
    byte[] bytes = new byte[result.getSerializedSize()];
    CodedOutputStream out = CodedOutputStream.newInstance(bytes);
    out.useDeterministicSerialization();
    result.writeTo(out);
    out.checkNoSpaceLeft();
    return bytes;
  }

  private static String digest(byte[] bytes) throws NoSuchAlgorithmException {
    byte[] hash = MessageDigest.getInstance("SHA-256").digest(bytes);
    return bytes.length + ":" + new java.math.BigInteger(1, hash).toString(16);
  }
}
