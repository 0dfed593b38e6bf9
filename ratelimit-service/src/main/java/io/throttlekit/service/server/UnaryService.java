package io.throttlekit.service.server;

import io.grpc.MethodDescriptor;
import io.grpc.ServerCallHandler;
import io.grpc.ServerServiceDefinition;
import io.grpc.ServiceDescriptor;
import java.io.InputStream;

/** Services of one method whose messages come and go as the bytes that they are. */
final class UnaryService {

  private UnaryService() {}

  /** The service, described as the generated one is, so that reflection knows its types. */
  static ServerServiceDefinition of(
      ServiceDescriptor generated,
      MethodDescriptor<?, ?> generatedMethod,
      ServerCallHandler<InputStream, byte[]> handler) {
    MethodDescriptor<InputStream, byte[]> method =
        generatedMethod.toBuilder(MessageBytes.REQUEST, MessageBytes.RESPONSE).build();
    ServiceDescriptor service =
        ServiceDescriptor.newBuilder(generated.getName())
            .setSchemaDescriptor(generated.getSchemaDescriptor())
            .addMethod(method)
            .build();
    return ServerServiceDefinition.builder(service).addMethod(method, handler).build();
  }
}
