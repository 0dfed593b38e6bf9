package io.throttlekit.envoy.ads;

import com.google.protobuf.Any;
import com.google.protobuf.ByteString;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
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

  /**
   * Returns the sum of the digests of all resources, which does not depend on their order. Needs no
   * memory for each: a response can have millions that are empty.
   */
  static ByteString digest(DiscoveryResponse response) {
    MessageDigest sha256 = sha256();
    long[] sums = new long[sha256.getDigestLength() / Long.BYTES];
    for (Any resource : response.getResourcesList()) {
      sha256.update(resource.getTypeUrl().getBytes(StandardCharsets.UTF_8));
      sha256.update((byte) 0); // separates the two
      resource.getValue().asReadOnlyByteBufferList().forEach(sha256::update);
      ByteBuffer digest = ByteBuffer.wrap(sha256.digest());
      for (int i = 0; i < sums.length; i++) {
        sums[i] += digest.getLong(); // not xor, by which a pair would vanish
      }
    }
    ByteBuffer all = ByteBuffer.allocate(sha256.getDigestLength());
    all.asLongBuffer().put(sums);
    return ByteString.copyFrom(all);
  }

  boolean isOf(String otherVersion, ByteString otherDigest) {
    return version.equals(otherVersion) && digest.equals(otherDigest);
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every JDK has SHA-256", e);
    }
  }
}
