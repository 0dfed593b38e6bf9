package io.throttlekit.service.server;

import io.grpc.MethodDescriptor;
import io.grpc.ServerCallHandler;
import io.grpc.ServerServiceDefinition;
import io.grpc.ServiceDescriptor;
import java.io.InputStream;

/** Defines services of one unary method with messages of plain bytes. */
final class UnaryService {

  private UnaryService() {}

  /** Returns the service with the generated descriptors, so that reflection shows its types. */
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
