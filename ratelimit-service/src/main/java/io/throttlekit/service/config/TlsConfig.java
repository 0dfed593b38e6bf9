package io.throttlekit.service.config;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Certificate of a server, and requirements for its clients.
 *
 * @param certificate PEM chain
 * @param key PEM private key
 * @param clientCa PEM certificates that must have signed a client's; absent when clients need none
 * @param clientSan a name that the client's certificate must contain; absent for any
 */
public record TlsConfig(
    Path certificate, Path key, @Nullable Path clientCa, @Nullable String clientSan) {}
