package io.throttlekit.service.store;

import io.throttlekit.service.concurrency.ReleaseForwarder;
import io.throttlekit.service.concurrency.RequestPermits;
import io.throttlekit.share.ReleaseExchange;

/**
 * The exchange of releases between processes, and what forwards them through it.
 *
 * @param exchange with connections of its own
 */
record ForwardedReleases(Backend<ReleaseExchange> exchange, ReleaseForwarder forwarder) {

  /** Begins to forward the releases of {@code permits}. */
  static ForwardedReleases of(Backend<ReleaseExchange> exchange, RequestPermits permits) {
    return new ForwardedReleases(
        exchange, permits.forwardThrough(exchange.api(), exchange.ready()));
  }
}
