package io.throttlekit.service.config.load;

import io.throttlekit.service.config.StoreAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reads the address and credentials of a Redis from the variables of envoyproxy/ratelimit. */
final class PeerStore {
  /** The origin of the address of the second Redis. */
  static final Origin SECOND_URL = Origin.variable("REDIS_PERSECOND_URL");

  /** A scheme of our own URIs, or of another store: all but those that that program reads, too. */
  private static final Pattern OWN = Pattern.compile("(?i)(?!rediss?://)[a-z][a-z0-9+.-]*://.*");

  private static final Pattern SCHEME = Pattern.compile("(?i)redis(?<tls>s?)://");
  // No path of a socket.
  private static final Pattern HOST_AND_PORT = Pattern.compile("[^/]*:[0-9]{1,5}");

  private static final Pattern HOST = Pattern.compile("[0-9A-Za-z_.-]{1,255}(?<port>:[0-9]{1,5})?");

  private final PeerEnvironment environment;
  private final SettingValues values;
  private final String prefix;
  private final String section;
  private final Origin origin;

  private PeerStore(
      PeerEnvironment environment, SettingValues values, String prefix, String section) {
    this.environment = environment;
    this.values = values;
    this.prefix = prefix;
    this.section = section;
    this.origin = Origin.variable(prefix + "URL");
  }

  /** Puts the settings of the variables of both Redis servers into the values. */
  static void read(PeerEnvironment environment, SettingValues values) {
    new PeerStore(environment, values, "REDIS_", "store.").read();
    if (environment.isOn("REDIS_PERSECOND")) {
      new PeerStore(environment, values, "REDIS_PERSECOND_", "store.per_second.").read();
    }
    Object cacheBytes = environment.value("LOCAL_CACHE_SIZE_IN_BYTES");
    if (cacheBytes instanceof Long bytes && bytes > 0) { // 0 is that program's default
      values.put("store.cached_deny_default", true, Origin.variable("LOCAL_CACHE_SIZE_IN_BYTES"));
    }
  }

  private void read() {
    readLogin("AUTH", "");
    readLogin("SENTINEL_AUTH", "sentinel_");
    boolean tls = environment.isOn(prefix + "TLS");
    String url = environment.text(prefix + "URL");
    String uri = url == null ? null : uri(url, tls);
    if (uri != null) {
      values.read(section + "uri", uri, origin);
    }
  }

  /** Returns one of our own URIs; null after reporting that there is none. */
  private @Nullable String uri(String url, boolean tls) {
    Object type = environment.value(prefix + "TYPE");
    Object socketType = environment.value(prefix + "SOCKET_TYPE");
    if (OWN.matcher(url).matches()) {
      return url;
    }
    boolean secure = tls || "tls".equals(socketType) || namesTls(url);
    String scheme = secure ? "rediss" : "redis";
    if ("sentinel".equals(type)) {
      int comma = url.indexOf(',');
      if (comma >= 1 && comma < url.length() - 1) {
        String master = StoreAddress.encoded(url.substring(0, comma));
        return scheme + "-sentinel://" + several(url.substring(comma + 1)) + "#" + master;
      }
      return refused(
          url, "is not MASTER,HOST:PORT,HOST:PORT…: the name of the master, then its Sentinels");
    }
    if ("cluster".equals(type)) {
      return scheme + "-cluster://" + several(url);
    }
    if (isSocket(url, socketType) && url.indexOf('/') < 0) {
      Matcher host = HOST.matcher(url);
      String port = host.matches() && host.group("port") == null ? ":6379" : "";
      return refused(
          url,
          "is not the absolute path of a Unix socket; for TCP write %s and %sSOCKET_TYPE=tcp"
              .formatted(host.matches() ? url + port : "HOST:PORT", prefix));
    }
    if (!isSocket(url, socketType)) {
      return scheme + "://" + here(withoutScheme(url));
    }
    return secure
        ? refused(
            url,
            "is the path of a Unix socket, which has no TLS here; turn %sTLS off, or give HOST:PORT and"
                    .formatted(prefix)
                + " %sSOCKET_TYPE=tcp".formatted(prefix))
        : "redis-socket://" + StoreAddress.encodedPath(url);
  }

  private @Nullable String refused(String url, String why) {
    values.error(origin, Yaml.alwaysQuoted(Secrets.maskStore(url)) + " " + why);
    return null;
  }

  /**
   * Returns whether the URL is a Unix socket, that program's default; HOST:PORT is read as TCP all
   * the same.
   */
  private static boolean isSocket(String url, @Nullable Object socketType) {
    if (url.contains("://")) {
      return false;
    }
    return socketType == null ? !HOST_AND_PORT.matcher(url).matches() : socketType.equals("unix");
  }

  /** Returns whether one of the addresses, with commas between them, has the scheme of TLS. */
  private static boolean namesTls(String urls) {
    return Stream.of(urls.split(",", -1))
        .map(url -> SCHEME.matcher(url.strip()))
        .anyMatch(scheme -> scheme.lookingAt() && !scheme.group("tls").isEmpty());
  }

  private static String withoutScheme(String url) {
    Matcher scheme = SCHEME.matcher(url.strip());
    return scheme.lookingAt() ? scheme.replaceFirst("") : url.strip();
  }

  /** Returns hosts that may each be a URI; the first login before a host counts for all. */
  private static String several(String urls) {
    String login = "";
    List<String> hosts = new ArrayList<>();
    for (String url : urls.split(",", -1)) {
      String rest = withoutScheme(url);
      int at = rest.lastIndexOf('@');
      login = login.isEmpty() ? rest.substring(0, at + 1) : login;
      hosts.add(here(rest.substring(at + 1)));
    }
    return login + String.join(",", hosts);
  }

  /** Returns the host; a port without a host is on this machine. */
  private static String here(String host) {
    boolean portAlone = host.startsWith(":") && !host.startsWith("::") && host.indexOf('@') < 0;
    return portAlone ? "localhost" + host : host;
  }

  /** Reads {@code password} or {@code user:password}. */
  private void readLogin(String name, String whose) {
    String login = environment.text(prefix + name);
    if (login != null) {
      int colon = login.indexOf(':');
      Origin variable = Origin.variable(prefix + name);
      if (colon > 0) {
        values.read(section + whose + "user", login.substring(0, colon), variable);
      }
      values.read(section + whose + "password", login.substring(colon + 1), variable);
    }
  }
}
