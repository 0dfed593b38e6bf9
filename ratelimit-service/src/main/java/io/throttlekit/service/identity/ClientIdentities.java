package io.throttlekit.service.identity;

import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.throttlekit.envoy.NodeIds;
import java.util.List;

/**
 * Admits only clients whose certificates have one of some identities, and provides the node ids
 * that they may use. Thread-safe.
 *
 * @param identities empty for any certificate
 * @param bindNodeIds whether a node id must be one that the certificate allows
 * @param refused run for each call that is refused
 */
public record ClientIdentities(List<Identity> identities, boolean bindNodeIds, Runnable refused)
    implements ServerInterceptor {

  /** Copies the list. */
  public ClientIdentities {
    identities = List.copyOf(identities);
  }

  @Override
  public <Q, A> ServerCall.Listener<Q> interceptCall(
      ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
    if (identities.isEmpty() && !bindNodeIds) {
      return next.startCall(call, headers);
    }
    CertificateNames names = CertificateNames.of(call.getAttributes());
    if (!identities.isEmpty() && !names.carryOneOf(identities)) {
      refused.run();
      call.close(
          Status.PERMISSION_DENIED.withDescription(
              "the client's certificate carries no allowed identity"),
          new Metadata());
      return new ServerCall.Listener<>() {};
    }
    if (!bindNodeIds) {
      return next.startCall(call, headers);
    }
    Context bound = Context.current().withValue(NodeIds.KEY, names);
    return Contexts.interceptCall(bound, call, headers, next);
  }
}
