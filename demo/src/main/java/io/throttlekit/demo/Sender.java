package io.throttlekit.demo;

import java.util.function.Consumer;

/** A way to the service. Thread-safe. */
interface Sender extends AutoCloseable {

  /** For people and for the JSON summary: {@code envoy} or {@code grpc}. */
  String through();

  /** Sends a request; the answer is given later, on any thread, exactly once. */
  void send(DemoRequest request, Consumer<Answer> answered);

  @Override
  void close();
}
