package io.throttlekit.service.policies;

import java.util.List;

/**
 * Status of policies that come from a control plane.
 *
 * @param server address of the control plane
 * @param connected whether there is a connection
 * @param disconnection why the last connection ended, or the last attempt failed; empty if none did
 * @param version of the newest response; empty before the first one, and where it has none
 * @param receivedMillis time of the newest response, since the Unix epoch; 0 for none
 * @param acceptedMillis time of the newest response that was accepted as a whole, since the Unix
 *     epoch; 0 for none
 * @param accepted number of responses that were accepted as a whole
 * @param rejected number of responses with a mistake, which do not take effect, or only in part
 * @param unchanged number of responses among both that changed nothing
 * @param rejectedParts what does not take effect of the newest response, and what does instead
 */
public record ControlPlaneStatus(
    String server,
    boolean connected,
    String disconnection,
    String version,
    long receivedMillis,
    long acceptedMillis,
    long accepted,
    long rejected,
    long unchanged,
    List<RejectedPart> rejectedParts) {

  /**
   * A domain or descriptor that does not take effect as it was sent.
   *
   * @param domain printable and of limited length; empty if it is not known
   * @param text names the part, and what takes effect instead
   */
  public record RejectedPart(String domain, String text) {}

  /** Copies the list. */
  public ControlPlaneStatus {
    rejectedParts = List.copyOf(rejectedParts);
  }

  /** Returns the status before the first connection. */
  public static ControlPlaneStatus of(String server) {
    return new ControlPlaneStatus(server, false, "", "", 0, 0, 0, 0, 0, List.of());
  }

  /** Returns the status once there is a connection. */
  public ControlPlaneStatus withConnection() {
    return withConnection(true, disconnection);
  }

  /** Returns the status once there is no connection any more. */
  public ControlPlaneStatus withoutConnection(String reason) {
    return withConnection(false, reason);
  }

  private ControlPlaneStatus withConnection(boolean connection, String reason) {
    return new ControlPlaneStatus(
        server,
        connection,
        reason,
        version,
        receivedMillis,
        acceptedMillis,
        accepted,
        rejected,
        unchanged,
        rejectedParts);
  }

  /** Returns the status without the parts that were rejected, or with others. */
  public ControlPlaneStatus withRejectedParts(List<RejectedPart> parts) {
    return new ControlPlaneStatus(
        server,
        connected,
        disconnection,
        version,
        receivedMillis,
        acceptedMillis,
        accepted,
        rejected,
        unchanged,
        parts);
  }

  /**
   * Returns the status after a response.
   *
   * @param good whether it was accepted as a whole
   * @param changed whether it differs from the one before it
   */
  public ControlPlaneStatus withResponse(
      String newest, long nowMillis, boolean good, boolean changed) {
    return new ControlPlaneStatus(
        server,
        connected,
        disconnection,
        newest,
        nowMillis,
        good ? nowMillis : acceptedMillis,
        accepted + (good ? 1 : 0),
        rejected + (good ? 0 : 1),
        unchanged + (changed ? 0 : 1),
        rejectedParts);
  }
}
