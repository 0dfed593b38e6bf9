package io.throttlekit.service.server;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.Marshaller;
import io.grpc.MethodDescriptor.PrototypeMarshaller;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;
import io.grpc.ServiceDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.throttlekit.envoy.LenientParser;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;

/**
 * Parses the requests of generated services, so that no bytes of a client make more fail than the
 * message in which they are.
 *
 * <p>Strings that are not UTF-8 are repaired ({@link LenientParser}). A message that is not in the
 * wire format of protobuf ends its own call with {@code INVALID_ARGUMENT}. Within a gRPC marshaller
 * it would cause a stack trace in the log, and a status without a description.
 */
public final class LenientRequests {
  private static final Marshaller<InputStream> UNPARSED =
      new Marshaller<>() {
        @Override
        public InputStream stream(InputStream message) {
          return message;
        }

        @Override
        public InputStream parse(InputStream message) {
          return message;
        }
      };

  private LenientRequests() {}

  /** Returns the service with other parsers of its generated classes; other messages are kept. */
  public static ServerServiceDefinition of(ServerServiceDefinition service) {
    List<ServerMethodDefinition<?, ?>> methods =
        service.getMethods().stream()
            .<ServerMethodDefinition<?, ?>>map(LenientRequests::of)
            .toList();
    ServiceDescriptor.Builder descriptor =
        ServiceDescriptor.newBuilder(service.getServiceDescriptor().getName())
            .setSchemaDescriptor(service.getServiceDescriptor().getSchemaDescriptor());
    methods.forEach(method -> descriptor.addMethod(method.getMethodDescriptor()));
    ServerServiceDefinition.Builder lenient = ServerServiceDefinition.builder(descriptor.build());
    methods.forEach(lenient::addMethod);
    return lenient.build();
  }

  private static <Q, A> ServerMethodDefinition<?, A> of(ServerMethodDefinition<Q, A> method) {
    MethodDescriptor<Q, A> generated = method.getMethodDescriptor();
    if (!(generated.getRequestMarshaller() instanceof PrototypeMarshaller<Q> marshaller)) {
      return method;
    }
    ServerCallHandler<Q, A> handler = method.getServerCallHandler();
    Q prototype = marshaller.getMessagePrototype();
    if (prototype == null) { // a marshaller without one
      return method;
    }
    return ServerMethodDefinition.create(
        generated.toBuilder(UNPARSED, generated.getResponseMarshaller()).build(),
        (call, headers) ->
            new Requests<Q>(
                prototype, call, handler.startCall(new ParsedCall<>(call, generated), headers)));
  }

  /** A call as its handler sees it: of the generated method. */
  private static final class ParsedCall<Q, A> extends SimpleForwardingServerCall<Q, A> {
    private final MethodDescriptor<Q, A> generated;

    @SuppressWarnings("unchecked") // only the descriptor depends on the type of requests
    ParsedCall(ServerCall<InputStream, A> call, MethodDescriptor<Q, A> generated) {
      super((ServerCall<Q, A>) (ServerCall<?, A>) call);
      this.generated = generated;
    }

    @Override
    public MethodDescriptor<Q, A> getMethodDescriptor() {
      return generated;
    }
  }

  /** The requests of one call; for one thread at a time, as gRPC calls it. */
  private static final class Requests<Q> extends ServerCall.Listener<InputStream> {
    private final Q prototype;
    private final ServerCall<InputStream, ?> call;
    private final ServerCall.Listener<Q> parsed;
    private boolean failed;

    Requests(Q prototype, ServerCall<InputStream, ?> call, ServerCall.Listener<Q> parsed) {
      this.prototype = prototype;
      this.call = call;
      this.parsed = parsed;
    }

    @Override
    public void onMessage(InputStream stream) {
      if (failed) {
        return;
      }
      Q message;
      try {
        message = parse(MessageBytes.read(stream));
      } catch (StatusRuntimeException tooLong) {
        fail(tooLong.getStatus());
        return;
      } catch (InvalidProtocolBufferException malformed) {
        fail(invalid("the message is not a valid protobuf message"));
        return;
      } catch (IOException malformed) {
        fail(invalid("the message does not match its declared compression"));
        return;
      }
      parsed.onMessage(message);
    }

    @Override
    public void onHalfClose() {
      if (!failed) {
        parsed.onHalfClose();
      }
    }

    @Override
    public void onCancel() {
      if (!failed) {
        parsed.onCancel();
      }
    }

    @Override
    public void onComplete() {
      if (!failed) {
        parsed.onComplete();
      }
    }

    @Override
    public void onReady() {
      if (!failed) {
        parsed.onReady();
      }
    }

    @SuppressWarnings("unchecked") // the message has the type of the prototype
    private Q parse(byte[] bytes) throws InvalidProtocolBufferException {
      return (Q) LenientParser.parse((Message) prototype, bytes);
    }

    /**
     * Ends the call; the handler is notified as of a client that has left. What the handler of a
     * stream sends meanwhile on another thread is dropped by {@link OpenStreams}.
     */
    private void fail(Status status) {
      failed = true;
      call.close(status, new Metadata());
      parsed.onCancel();
    }

    private static Status invalid(String why) {
      return Status.INVALID_ARGUMENT.withDescription(why);
    }
  }
}
