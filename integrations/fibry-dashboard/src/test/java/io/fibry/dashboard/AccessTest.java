package io.fibry.dashboard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests which requests the dashboard refuses, and how browsers may use its responses. */
class AccessTest {
  private static final List<String> PATHS = List.of("/", "/page.css", "/page.js", "/statistics",
      "/actor", "/route", "/events");

  private final ActorScope scope = ActorSystem.openScope("app");

  @AfterEach
  void close() {
    scope.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"localhost", "LOCALHOST:80", "127.0.0.1:99", "[::1]", "[::1]:8080", "[0:0:0:0:0:0:0:1]:80",
    "dash.example.org", "Dash.Example.org:443"})
  void requestsToLocalOrConfiguredHostAreAnswered(String host) throws Exception {
    try (var dashboard = Dashboard.open(scope, 0, options -> options.withHost("dash.example.org"))) {
      assertTrue(Web.response(dashboard.port(), "GET", "/statistics", "Host: " + host).startsWith("HTTP/1.1 200"));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"evil.example.org", "evil.example.org:80", "localhost.evil.org", "127.0.0.1.evil.org",
    "10.0.0.1", "127.0.0.2", "[::2]", "[fe80::1]:80", "localhost:80:80", "evillocalhost"})
  void requestsToOtherHostsAreRefused(String host) throws Exception {
    scope.named("shown").newActor((String text) -> {});

    try (var dashboard = Dashboard.open(scope, 0)) {
      for (var path : PATHS) {
        var answer = Web.response(dashboard.port(), "GET", path, "Host: " + host);

        assertTrue(answer.matches("(?s)HTTP/1\\.1 4(00|21) .*"), answer);
        assertFalse(answer.contains("shown"), answer);
      }
    }
  }

  @Test
  void refusalOfUnknownHostAdvisesOptionWithHost() throws Exception {
    try (var dashboard = Dashboard.open(scope, 0)) {
      var answer = Web.response(dashboard.port(), "GET", "/", "Host: evil.example.org");

      assertTrue(answer.startsWith("HTTP/1.1 421 ") && answer.endsWith("421 Misdirected Request: a Host header of "
          + "another server; call the dashboard by localhost, or give withHost(..)\n"), answer);
    }
  }

  @Test
  void hostWithInvalidCharacterIsRefused() {
    assertThrows(IllegalArgumentException.class,
        () -> Dashboard.open(scope, 0, options -> options.withHost("dash board")));
  }

  @Test
  void methodsExceptGetAndHeadAreRefused() throws Exception {
    try (var dashboard = Dashboard.open(scope, 0)) {
      for (var path : PATHS)
        for (var method : List.of("POST", "PUT", "DELETE", "PATCH"))
          assertTrue(Web.response(dashboard.port(), method, path, "Host: localhost", "Content-Length: 0")
              .startsWith("HTTP/1.1 405"), method + " " + path);
      assertTrue(Web.get(dashboard.port(), "/other").startsWith("HTTP/1.1 404"));
      assertTrue(Web.response(dashboard.port(), "HEAD", "/events", "Host: localhost").startsWith("HTTP/1.1 200"));
    }
  }

  @Test
  void responsesForbidFramingAndCrossOriginUse() throws Exception {
    try (var dashboard = Dashboard.open(scope, 0)) {
      for (var path : PATHS.subList(0, 6)) {
        var head = Web.response(dashboard.port(), "GET", path, "Host: localhost", "Origin: https://evil.example.org")
            .split("\n\n")[0].toLowerCase(Locale.ROOT);

        assertTrue(head.contains("content-security-policy: default-src 'none'; script-src 'self'; "), head);
        assertTrue(head.contains("frame-ancestors 'none'"), head);
        assertTrue(head.contains("x-frame-options: deny"), head);
        assertTrue(head.contains("x-content-type-options: nosniff"), head);
        assertTrue(head.contains("cache-control: no-store"), head);
        assertFalse(head.contains("access-control"), head);
      }
    }
  }

  @Test
  void pageLoadsFromNoOtherHostAndWritesNoRawHtml() throws Exception {
    try (var dashboard = Dashboard.open(scope, 0)) {
      var script = Web.get(dashboard.port(), "/page.js");
      var files = Web.get(dashboard.port(), "/") + Web.get(dashboard.port(), "/page.css") + script;

      assertEquals(List.of(), files.lines().filter(line -> line.contains("//") && line.contains("http")
          && !line.contains("http://www.w3.org/2000/svg")).toList());
      for (var unsafe : List.of("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("))
        assertFalse(script.contains(unsafe), unsafe);
    }
  }

  private static String basic(String userAndPassword) {
    return "Authorization: Basic " + Base64.getEncoder().encodeToString(userAndPassword.getBytes());
  }

  @Test
  void requestWithoutPasswordIsRefused() throws Exception {
    try (var dashboard = Dashboard.open(scope, 0, options -> options.withPassword("correct horse"))) {
      for (var path : PATHS) for (var header : List.of("X: y", basic("me:wrong"), basic("correct horse2"), basic(""),
          "Authorization: Basic ~", "Authorization: Bearer correct horse", "Authorization: Basic")) {
            var answer = Web.response(dashboard.port(), "GET", path, "Host: localhost", header);
            assertTrue(answer.startsWith("HTTP/1.1 401"), answer);
            assertTrue(answer.toLowerCase(Locale.ROOT).contains("www-authenticate: basic realm="), answer);
          }
      assertTrue(Web.response(dashboard.port(), "GET", "/", "Host: localhost", basic("me:correct horse"))
          .startsWith("HTTP/1.1 200"));
    }
  }

  @Test
  void shortPasswordAndInvalidHostAreRefused() {
    var options = DashboardOptions.DEFAULT;

    assertThrows(IllegalArgumentException.class, () -> options.withPassword("short"));
    for (var host : List.of("", " ", "dash.example.org:80", "https://dash.example.org"))
      assertThrows(IllegalArgumentException.class, () -> options.withHost(host), host);
  }
}
