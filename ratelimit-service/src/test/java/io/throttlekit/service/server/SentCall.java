package io.throttlekit.service.server;

import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.Status;
import java.io.InputStream;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A call that records what is sent back. */
final class SentCall extends ServerCall<InputStream, InputStream> {
  final List<String> events = new CopyOnWriteArrayList<>();
  Runnable whileSending = () -> {};
  volatile String description = "";

  @Override
  public void close(Status status, Metadata trailers) {
    events.add("close " + status.getCode());
    description = String.valueOf(status.getDescription());
  }

  @Override
  public void request(int messages) {}

  @Override
  public void sendHeaders(Metadata headers) {
    events.add("headers");
    whileSending.run();
  }

  @Override
  public void sendMessage(InputStream message) {
    events.add("message");
  }

  @Override
  public boolean isCancelled() {
    return false;
  }

  @Override
  public MethodDescriptor<InputStream, InputStream> getMethodDescriptor() {
    throw new UnsupportedOperationException("a call does not depend on its method");
  }
}
