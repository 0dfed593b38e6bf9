package io.throttlekit.service.config;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Configuration of policies that a control plane sends over xDS.
 *
 * @param server host and port of the control plane
 * @param nodeId by which the control plane selects what it sends
 * @param nodeMetadata texts by name
 * @param headers of each stream, by lower-case name; may contain secrets
 * @param tls absent for plaintext
 * @param backoff pauses between attempts to connect
 * @param maxMessageBytes longest response
 * @param folder where the last good policies are kept; absent for none
 * @param overrides file of settings for the rules; absent for none
 */
public record XdsConfig(
    String server,
    String nodeId,
    Map<String, String> nodeMetadata,
    Map<String, String> headers,
    @Nullable XdsTls tls,
    Backoff backoff,
    int maxMessageBytes,
    @Nullable Path folder,
    @Nullable Path overrides) {

  /** Copies the maps. */
  public XdsConfig {
    nodeMetadata = Map.copyOf(nodeMetadata);
    headers = Map.copyOf(headers);
  }

  /**
   * TLS of the connection.
   *
   * @param ca PEM certificates that must have signed the server's; absent for those that Java
   *     trusts
   * @param serverName name that the server's certificate must contain; absent for its host
   * @param certificate PEM chain of this process; absent, with the key, for none
   * @param key PEM private key of the certificate
   */
  public record XdsTls(
      @Nullable Path ca,
      @Nullable String serverName,
      @Nullable Path certificate,
      @Nullable Path key) {}

  /**
   * Pauses between attempts to connect.
   *
   * @param connect first pause after an attempt that failed
   * @param lost first pause after a connection that was lost
   * @param max longest pause
   * @param growth factor from one pause to the next, from 1
   * @param jitter part of itself by which a pause varies
   */
  public record Backoff(
      Duration connect, Duration lost, Duration max, double growth, double jitter) {}
}
