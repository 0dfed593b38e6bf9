package io.throttlekit.service.config;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads the address and credentials of Redis from the variables of envoyproxy/ratelimit. */
final class PeerStore {

  private static final AccessSettings ACCESS = StoreSettings.ACCESS;
  private static final List<String> TYPES = List.of("single", "sentinel", "cluster");
  private static final List<String> SOCKET_TYPES = List.of("unix", "tcp", "tls");
  private static final Pattern SCHEME = Pattern.compile("(?i)rediss?://");
  // No path of a socket.
  private static final Pattern HOST_AND_PORT = Pattern.compile("[^/]*:[0-9]{1,5}");

  private final Map<String, String> environment;
  private final SettingValues values;

  /** Creates a reader of variables, none of which is empty. */
  PeerStore(Map<String, String> environment, SettingValues values) {
    this.environment = environment;
    this.values = values;
  }

  /** Puts the variables' settings into {@code values}. */
  void read() {
    readLogin("REDIS_AUTH", ACCESS.user(), ACCESS.password());
    readLogin("REDIS_SENTINEL_AUTH", ACCESS.sentinelUser(), ACCESS.sentinelPassword());
    readLocalCache();
    boolean tls = flag("REDIS_TLS");
    if (tls) {
      readTls();
    }
    String url = environment.get("REDIS_URL");
    if (url != null) {
      readUrl(url, tls);
    }
  }

  private void readUrl(String url, boolean tls) {
    String type = word("REDIS_TYPE", TYPES);
    String socketType = word("REDIS_SOCKET_TYPE", SOCKET_TYPES);
    boolean secure = tls || "tls".equals(socketType);
    Origin origin = new Origin.Variable("REDIS_URL");
    if (url.regionMatches(true, 0, "redis-", 0, 6) || url.regionMatches(true, 0, "rediss-", 0, 7)) {
      values.read(StoreSettings.URI, List.of(url), origin); // one of our own URIs
    } else if ("sentinel".equals(type)) {
      int comma = url.indexOf(',');
      if (comma < 1 || comma == url.length() - 1) {
        values.error(
            origin,
            Forms.alwaysQuoted(Secrets.maskStore(url))
                + " is not MASTER,HOST:PORT,HOST:PORT…: the name of the master, then its"
                + " Sentinels");
      } else {
        String master = UriText.encode(url.substring(0, comma));
        readUri(secure, "sentinel", several(url.substring(comma + 1)) + "#" + master, origin);
      }
    } else if ("cluster".equals(type)) {
      readUri(secure, "cluster", several(url), origin);
    } else if (isSocket(url, socketType)) {
      readSocket(url, secure, origin);
    } else {
      boolean https = url.regionMatches(true, 0, "rediss:", 0, 7);
      readUri(secure || https, "", here(SCHEME.matcher(url).replaceFirst("")), origin);
    }
  }

  private void readUri(boolean tls, String kind, String rest, Origin origin) {
    String scheme = (tls ? "rediss" : "redis") + (kind.isEmpty() ? "" : "-" + kind);
    values.read(StoreSettings.URI, List.of(scheme + "://" + rest), origin);
  }

  private void readSocket(String path, boolean tls, Origin origin) {
    if (tls) {
      values.error(
          origin,
          Forms.alwaysQuoted(Secrets.maskStore(path))
              + " is the path of a Unix socket, over which TLS is not spoken here; turn REDIS_TLS"
              + " off, or give HOST:PORT and REDIS_SOCKET_TYPE=tcp");
    } else {
      values.read(StoreSettings.URI, List.of("redis-socket://" + UriText.encode(path)), origin);
    }
  }

  /**
   * Returns whether the URL is a Unix socket, that program's default; HOST:PORT is read as TCP all
   * the same.
   */
  private static boolean isSocket(String url, @Nullable String socketType) {
    if (url.contains("://")) {
      return false;
    }
    return socketType == null ? !HOST_AND_PORT.matcher(url).matches() : socketType.equals("unix");
  }

  /** Returns hosts that may each be a URI; the first login before a host counts for all. */
  private static String several(String urls) {
    String login = "";
    List<String> hosts = new ArrayList<>();
    for (String url : urls.split(",", -1)) {
      String rest = SCHEME.matcher(url.strip()).replaceFirst("");
      int at = rest.lastIndexOf('@');
      login = login.isEmpty() ? rest.substring(0, at + 1) : login;
      hosts.add(here(rest.substring(at + 1)));
    }
    return login + String.join(",", hosts);
  }

  /** Returns the host; a port without a host is on this machine. */
  private static String here(String host) {
    return host.startsWith(":") && host.indexOf('@') < 0 ? "localhost" + host : host;
  }

  /** Reads {@code password} or {@code user:password}. */
  private void readLogin(String name, Setting<String> user, Setting<String> password) {
    String login = environment.get(name);
    if (login != null) {
      int colon = login.indexOf(':');
      Origin origin = new Origin.Variable(name);
      if (colon > 0) {
        values.read(user, List.of(login.substring(0, colon)), origin);
      }
      values.read(password, List.of(login.substring(colon + 1)), origin);
    }
  }

  private void readTls() {
    readSame("REDIS_TLS_CACERT", ACCESS.tlsCa());
    readSame("REDIS_TLS_CLIENT_CERT", ACCESS.tlsCertificate());
    readSame("REDIS_TLS_CLIENT_KEY", ACCESS.tlsKey());
    if (flag("REDIS_TLS_SKIP_HOSTNAME_VERIFICATION")) {
      values.put(
          ACCESS.tlsVerifyHost(),
          false,
          new Origin.Variable("REDIS_TLS_SKIP_HOSTNAME_VERIFICATION"));
    }
  }

  /** Enables cached denials where that program's local cache has a size. */
  private void readLocalCache() {
    String name = "LOCAL_CACHE_SIZE_IN_BYTES";
    String bytes = environment.get(name);
    if (bytes != null) {
      Form<Long> form = Forms.longCount(0, Long.MAX_VALUE);
      Long room = form.parse(List.of(bytes));
      if (room == null) {
        error(name, bytes, form.expected());
      } else if (room > 0) { // 0 is that program's default, not a choice
        values.put(StoreSettings.CACHED_DENY_DEFAULT, true, new Origin.Variable(name));
      }
    }
  }

  private void readSame(String name, Setting<String> setting) {
    String value = environment.get(name);
    if (value != null) {
      values.read(setting, List.of(value), new Origin.Variable(name));
    }
  }

  private boolean flag(String name) {
    String value = environment.get(name);
    if (value == null) {
      return false;
    }
    Form<Boolean> form = Forms.flag();
    Boolean flag = form.parse(List.of(value));
    if (flag == null) {
      error(name, value, form.expected() + Spelling.hint(value, form.words()));
    }
    return flag != null && flag;
  }

  private @Nullable String word(String name, List<String> words) {
    String value = environment.get(name);
    if (value == null) {
      return null;
    }
    Form<String> form = Forms.word(words, Map.of());
    String word = form.parse(List.of(value));
    if (word == null) {
      error(name, value, form.expected() + Spelling.hint(value, words));
    }
    return word;
  }

  private void error(String name, String value, String expected) {
    values.error(
        new Origin.Variable(name), Forms.alwaysQuoted(Secrets.mask(value)) + " is not " + expected);
  }
}
