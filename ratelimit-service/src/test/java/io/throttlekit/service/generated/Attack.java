package io.throttlekit.service.generated;

import com.google.protobuf.Message;
import io.grpc.BindableService;
import io.grpc.MethodDescriptor;
import java.util.function.Function;
import java.util.random.RandomGenerator;

/** A method that hostile clients call, and the messages that they damage. */
record Attack<A extends Message>(
    BindableService service,
    MethodDescriptor<?, A> method,
    Function<RandomGenerator, Message> messages) {

  WireStream<A> open() {
    return WireStream.open(service, method);
  }
}
