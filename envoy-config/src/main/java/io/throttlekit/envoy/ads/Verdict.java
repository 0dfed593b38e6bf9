package io.throttlekit.envoy.ads;

import com.google.protobuf.Any;
import com.google.protobuf.ByteString;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryResponse;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.List;
import java.util.Optional;

/**
 * The result of a response. Repeated if the same response arrives again, because it was duplicated
 * or the stream is a new one.
 *
 * @param version of the response
 * @param digest of its resources
 * @param mistakes empty if it was accepted
 */
record Verdict(String version, ByteString digest, Optional<String> mistakes) {

  /** Returns a digest of the resources of a response, which does not depend on their order. */
  static ByteString digest(DiscoveryResponse response) {
    MessageDigest sha256 = sha256();
    List<ByteString> digests =
        response.getResourcesList().stream()
            .map(resource -> digest(sha256, resource))
            .sorted(ByteString.unsignedLexicographicalComparator())
            .toList();
    digests.forEach(digest -> sha256.update(digest.asReadOnlyByteBuffer()));
    return ByteString.copyFrom(sha256.digest());
  }

  boolean isOf(String otherVersion, ByteString otherDigest) {
    return version.equals(otherVersion) && digest.equals(otherDigest);
  }

  private static ByteString digest(MessageDigest sha256, Any resource) {
    sha256.update(resource.getTypeUrl().getBytes(StandardCharsets.UTF_8));
    sha256.update((byte) 0); // separates the two
    resource.getValue().asReadOnlyByteBufferList().forEach(sha256::update);
    return ByteString.copyFrom(sha256.digest());
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every JDK has SHA-256", e);
    }
  }
}
