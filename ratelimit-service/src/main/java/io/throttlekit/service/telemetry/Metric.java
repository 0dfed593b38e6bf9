package io.throttlekit.service.telemetry;

import java.util.Locale;

/**
 * The counters without labels that have one instance per process. The name of each is its
 * constant's in lower case, after {@code throttlekit_}.
 */
enum Metric {
  // of TierMetrics
  LEASE_REQUESTED_UNITS("Units that those leases requested"),
  LEASE_GRANTED_UNITS("Units granted for them"),
  LEASE_FAILURES("Leases that got no answer in time"),
  LEASE_WAITERS("Requests that waited for a lease that another requested"),
  LEASE_REFILLS_AHEAD("Leases requested ahead of need"),
  LEASE_RETURNED_UNITS("Units returned to the store"),
  LEASE_FORFEITED_UNITS("Units left over when their window ended"),
  LEASE_LATE_GRANTS("Leases granted too late to be spent"),
  LEASE_LATE_UNITS("Units granted for those leases"),
  LEASE_EVICTED_CELLS("Counters whose units were returned because there were too many"),
  LEASE_SUSPENSIONS("Times this process was suspended and returned its leases"),
  // of FederationMetrics
  FEDERATION_ESCROW_LEASES("Leases requested from the region's store"),
  FEDERATION_ESCROW_UNITS("Units granted for them"),
  FEDERATION_ESCROW_FAILURES("Calls that the region's store did not answer"),
  FEDERATION_REFILLED_UNITS("Units put into the region's store for others"),
  FEDERATION_COORDINATOR_LEASES("Leases that the coordinator answered"),
  FEDERATION_COORDINATOR_UNITS("Units granted for them"),
  FEDERATION_COORDINATOR_FAILURES("Leases that the coordinator did not answer"),
  FEDERATION_NOT_CALLED("Leases not requested while only probes are sent to the coordinator"),
  FEDERATION_RETURNS("Returns of units to the coordinator"),
  FEDERATION_RETURNED_UNITS("Units that it took back"),
  FEDERATION_MISMATCHES("Leases refused because the limits of regions differ"),
  // of ConcurrencyMetrics
  CONCURRENCY_REFUSED_WITHOUT_LEASE("Requests refused because there are too many leases"),
  CONCURRENCY_LEASES("Leases acquired"),
  CONCURRENCY_STALE_RELEASES("Releases of a lease that had ended or never existed"),
  CONCURRENCY_FORWARDED_RELEASES("Releases that were forwarded to the process of their lease"),
  CONCURRENCY_RECEIVED_RELEASES("Releases of this process's leases that other processes forwarded"),
  CONCURRENCY_ORPHANED_RELEASES("Releases of leases of processes that died, reported to limits"),
  CONCURRENCY_FAILED_EXCHANGES("Calls that exchange releases with other processes, and failed"),
  CONCURRENCY_THRESHOLD_CHANGES("Changes of the priority level needed to wait"),
  // of AccessLogMetrics
  ACCESS_LOG_UNMARKED("Entries of requests that reached a backend without a mark of this service"),
  ACCESS_LOG_WITHOUT_NODE("Entries of streams without a node id"),
  ACCESS_LOG_REFUSED_STREAMS("Streams ended because they named a node id that they may not use"),
  // of LoadReportMetrics
  LOAD_REPORT_MESSAGES("Load reports read"),
  INVALID_LOAD_REPORTS("Clusters with invalid values in a load report"),
  LOAD_REPORT_REFUSED_STREAMS("Streams ended because of their node id"),
  // of ServerMetrics and CheckMetrics
  SENSORS_REFUSED_CLIENTS("Calls of clients whose certificates carry no allowed identity"),
  EXT_AUTHZ_REQUESTS_WITHOUT_DESCRIPTORS("Checks of requests that yield no descriptor");

  final String description;

  Metric(String description) {
    this.description = description;
  }

  String id() {
    return "throttlekit_" + name().toLowerCase(Locale.ROOT);
  }
}
