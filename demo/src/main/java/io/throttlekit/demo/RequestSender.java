package io.throttlekit.demo;

import java.util.function.Consumer;

/** A connection to the service. Thread-safe. */
interface RequestSender extends AutoCloseable {

  /** Returns {@code envoy} or {@code grpc}, for readers and for the JSON summary. */
  String through();

  /** Sends a request. The response is passed on later, on any thread, exactly once. */
  void send(DemoRequest request, Consumer<Answer> answered);

  @Override
  void close();
}
