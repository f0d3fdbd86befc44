package io.fibry.dashboard;

import io.fibry.Handler;
import io.fibry.net.HttpException;
import io.fibry.net.HttpExchange;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;

/**
 * Checks the password of each request before its route runs. The headers that it adds forbid
 * browsers to do more with a response than to show it.
 */
final class AccessFilter implements Handler.Interceptor<HttpExchange> {
  private static final Map<String, String> HEADERS = Map.of(
      "Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
          + "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      "X-Frame-Options", "DENY",
      "X-Content-Type-Options", "nosniff",
      "Referrer-Policy", "no-referrer",
      "Cross-Origin-Resource-Policy", "same-origin",
      "Cross-Origin-Opener-Policy", "same-origin",
      "Cache-Control", "no-store");

  private final Optional<byte[]> password;

  AccessFilter(DashboardOptions options) {
    password = options.password.map(text -> text.getBytes(StandardCharsets.UTF_8));
  }

  @Override
  public void intercept(HttpExchange exchange, Handler.Task next) throws Exception {
    HEADERS.forEach(exchange::header);
    if (password.isPresent() && !isAuthorized(exchange.header("Authorization").orElse(""))) {
      exchange.header("WWW-Authenticate", "Basic realm=\"Fibry dashboard\", charset=\"UTF-8\"");
      throw new HttpException(401, "the dashboard asks for its password; any user name will do\n");
    }
    next.run();
  }

  private boolean isAuthorized(String header) {
    if (!header.regionMatches(true, 0, "Basic ", 0, 6)) return false;
    try {
      var credentials = new String(Base64.getDecoder().decode(header.substring(6).strip()), StandardCharsets.UTF_8);
      var sentPassword = credentials.substring(credentials.indexOf(':') + 1).getBytes(StandardCharsets.UTF_8);
      return MessageDigest.isEqual(password.orElseThrow(), sentPassword); // in constant time
    } catch (IllegalArgumentException malformed) {
      return false;
    }
  }
}
