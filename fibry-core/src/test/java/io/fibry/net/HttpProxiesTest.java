package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import java.io.IOException;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests which client a request behind proxies comes from. */
class HttpProxiesTest {
  private static final HttpRoutes ROUTES = HttpRoutes.none().text("/",
      exchange -> exchange.scheme() + " " + exchange.remoteAddress().getAddress().getHostAddress());

  private final ServerScope net = new ServerScope();
  private final LinkedBlockingQueue<AccessLogEntry> log = new LinkedBlockingQueue<>();

  @AfterEach
  void close() {
    net.close();
  }

  private String get(String headers, String... proxies) throws IOException {
    var server = HttpServer.open(net.scope.anonymous(), 0, ROUTES,
        o -> (proxies.length == 0 ? o : o.withProxies(proxies)).withAccessLog(log::add));
    var request = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n" + headers + "\r\n";
    var response = RawClient.sendAndReadAll(server.port(), request);
    return response.substring(response.indexOf("\r\n\r\n") + 4);
  }

  @Promise("27.25")
  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
    "X-Forwarded-For: 1.2.3.4 | http 1.2.3.4",
    "X-Forwarded-For: 6.6.6.6, 1.2.3.4 | http 1.2.3.4",
    "X-Forwarded-For: 6.6.6.6, 1.2.3.4, 10.1.2.3 | http 1.2.3.4",
    "X-Forwarded-For: 1.2.3.4:555 | http 1.2.3.4",
    "X-Forwarded-For: 1.2.3.4;X-Forwarded-Proto: https | https 1.2.3.4",
    "X-Forwarded-For: 1.2.3.4, 10.1.2.3;X-Forwarded-Proto: https, http | https 1.2.3.4",
    "X-Forwarded-For: 1.2.3.4, 10.1.2.3;X-Forwarded-Proto: https | https 1.2.3.4",
    "X-Forwarded-For: 10.0.0.1 | http 10.0.0.1",
    "X-Forwarded-For: unknown | http 127.0.0.1", "X-Forwarded-For: 1.2.3.4, x.example | http 127.0.0.1",
    "X-Forwarded-For: | http 127.0.0.1", "X-Forwarded-For: 1.2.3.999 | http 127.0.0.1",
    "X-Forwarded-For: 1.2.3.4:99999 | http 127.0.0.1",
    "X-Forwarded-Proto: https | https 127.0.0.1",
    "Forwarded: for=1.2.3.4 | http 1.2.3.4", "Forwarded: for=1.2.3.4~proto=https | https 1.2.3.4",
    "Forwarded: proto=HTTPS~ For=\"1.2.3.4:80\" | https 1.2.3.4",
    "Forwarded: for=\"[2001:db8::7]:4711\" | http 2001:db8:0:0:0:0:0:7",
    "Forwarded: for=6.6.6.6~proto=https, for=1.2.3.4~proto=http | http 1.2.3.4",
    "Forwarded: for=_hidden | http 127.0.0.1", "Forwarded: for=1.2.3.4:_p | http 1.2.3.4",
    "Forwarded: for=1.2.3.4;X-Forwarded-For: 6.6.6.6 | http 1.2.3.4"})
  void clientAddressIsLastForwardedAddressThatIsNoProxy(String headers, String expected) throws IOException {
    var lines = headers.replace(";", "\r\n").replace("~", ";") + "\r\n";

    assertEquals(expected, get(lines, "127.0.0.1", "10.0.0.0/8"));
  }

  @Promise("27.25")
  @Test
  void forwardedHeadersFromUntrustedAddressAreIgnored() throws IOException {
    var lines = "X-Forwarded-For: 1.2.3.4\r\nX-Forwarded-Proto: https\r\nForwarded: for=1.2.3.4\r\n";

    assertEquals("http 127.0.0.1", get(lines));
    assertEquals("http 127.0.0.1", get(lines, "10.0.0.0/8", "::1"));
  }

  @Test
  void accessLogHasForwardedAddressOfClient() throws IOException {
    get("X-Forwarded-For: 1.2.3.4\r\n", "127.0.0.0/8");

    assertEquals("1.2.3.4", Patience.nextOf(log).client().getAddress().getHostAddress());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "proxy.example", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/x", "::1/129", "1.2.3", "a",
    "1.2.3.999"})
  void invalidNetworkOfProxyIsRefused(String network) {
    var refusal = assertThrows(IllegalArgumentException.class,
        () -> HttpServer.open(net.scope.anonymous(), 0, ROUTES, o -> o.withProxies(network)));

    assertTrue(refusal.getMessage().contains("is no address of a proxy"), refusal.getMessage());
  }
}
