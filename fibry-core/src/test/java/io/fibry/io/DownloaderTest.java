package io.fibry.io;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.AskTimeoutException;
import io.fibry.Promise;
import io.fibry.io.Downloader.Download;
import io.fibry.io.Downloader.HttpStatusException;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Downloads, refusals, limits and cancellation. */
class DownloaderTest {
  private final ActorScope scope = ActorSystem.openScope("test", o -> o.withKillGrace(Duration.ofMillis(50)));
  private final Downloader downloader =
      Downloader.open(scope.named("web"), o -> o.withMaxBytes(1_000).withMaxAttempts(1));

  @AfterEach
  void close() {
    scope.closeWithin(Duration.ZERO);
  }

  // ---- what comes

  @Test
  void downloaderReturnsBody() throws IOException {
    try (var web =
        ScriptedWebServer.saying("HTTP/1.1 200 OK", "Content-Type: text/plain", "Content-Length: 5", "", "hello")) {
      var download = downloader.ask(web.uri("/greeting"));

      assertEquals(new Download(web.uri("/greeting"), Optional.of("text/plain"), "hello".getBytes()), download);
      assertEquals("hello", download.text());
    }
  }

  @Test
  void answersWhatComesInChunksOrUntilTheEnd() throws IOException {
    try (
        var chunks =
            ScriptedWebServer.saying("HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "", "3", "hel", "2", "lo", "0",
                "", "");
        var end = ScriptedWebServer.saying("HTTP/1.1 200 OK", "", "hello")) {
      assertEquals("hello", downloader.ask(chunks.uri("/")).text());
      assertEquals("hello", downloader.ask(end.uri("/")).text());
    }
  }

  @Test
  void theTextIsInTheCharsetThatTheServerSays() {
    var latin = "é".getBytes(StandardCharsets.ISO_8859_1);
    var uri = URI.create("http://localhost/");

    assertEquals("é", new Download(uri, Optional.of("text/html; Charset=\"ISO-8859-1\""), latin).text());
    assertEquals("é", new Download(uri, Optional.of("text/html"), "é".getBytes(StandardCharsets.UTF_8)).text());
    assertEquals("é",
        new Download(uri, Optional.of("text/html; charset=klingon"), "é".getBytes(StandardCharsets.UTF_8)).text());
    assertEquals("é", new Download(uri, Optional.empty(), "é".getBytes(StandardCharsets.UTF_8)).text());
  }

  @Test
  void downloaderSendsUserAgent() throws IOException {
    try (var web = ScriptedWebServer.saying("HTTP/1.1 200 OK", "Content-Length: 0", "", "");
        var mine = Downloader.open(scope.anonymous(), o -> o.withUserAgent("mine/1"))) {
      downloader.ask(web.uri("/"));
      mine.ask(web.uri("/"));

      assertTrue(web.heads.get(0).contains("User-Agent: fibry"), web.heads.get(0));
      assertTrue(web.heads.get(1).contains("User-Agent: mine/1"), web.heads.get(1));
    }
  }

  @Test
  void followsARedirectionAndSaysWhereItWasFound() throws IOException {
    try (var web = new ScriptedWebServer((head,
        out) -> out.write((head.startsWith("GET /old")
            ? "HTTP/1.1 302 Found\r\nLocation: /new\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            : "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi").getBytes()))) {
      var download = downloader.ask(web.uri("/old"));

      assertEquals(new Download(web.uri("/new"), Optional.empty(), "hi".getBytes()), download);
    }
  }

  @Test
  void redirectionLoopFails() {
    try (var web =
        ScriptedWebServer.saying("HTTP/1.1 302 Found", "Location: /again", "Content-Length: 0", "Connection: close", "",
            "")) {
      assertThrows(IOException.class, () -> downloader.ask(web.uri("/")));

      assertTrue(web.heads.size() <= 6, "it followed " + web.heads.size());
    }
  }

  // ---- what is refused

  @ParameterizedTest
  @ValueSource(ints = {400, 401, 404, 410, 500, 501})
  void errorStatusIsExceptionWithStatusAndUri(int status) {
    try (var web = ScriptedWebServer.saying("HTTP/1.1 " + status + " No", "Content-Length: 6", "", "secret")) {
      var refused = assertThrows(HttpStatusException.class, () -> downloader.ask(web.uri("/x")));

      assertEquals(web.uri("/x") + " was answered with status " + status, refused.getMessage());
      assertEquals(status, refused.status());
      assertEquals(web.uri("/x"), refused.uri());
    }
  }

  @Test
  void errorStatusIsNoFailureOfActorAndIsNotLogged() {
    try (var web = ScriptedWebServer.saying("HTTP/1.1 404 Not Found", "Content-Length: 0", "", "");
        var logged = new Logged()) {
      assertThrows(HttpStatusException.class, () -> downloader.ask(web.uri("/")));

      assertEquals("", logged.about("Refused", web.uri("/").toString()));
    }
  }

  @Test
  void onlyTheWebIsDownloaded() {
    for (var uri : new String[] {"file:///etc/passwd", "ftp://localhost/", "jar:http://localhost/x!/y", "localhost",
      "http:/nowhere", "mailto:me"}) {
      var refused = assertThrows(IllegalArgumentException.class, () -> downloader.ask(URI.create(uri)));

      assertEquals(uri + " cannot be downloaded; give a URI that begins with http:// or https:// and names a host",
          refused.getMessage());
    }
  }

  // ---- what is too long

  @Test
  void bodyWithTooLargeContentLengthIsNotRead() {
    try (var web = new ScriptedWebServer((head, out) -> {
      out.write("HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n".getBytes());
      forEver(out);
    })) {
      var refused = assertThrows(IOException.class, () -> downloader.ask(web.uri("/")));

      assertTrue(refused.getMessage().contains("the body is longer than 1000 bytes"), refused.getMessage());
      Patience.eventually(web.open::isEmpty);
    }
  }

  @Test
  void endlessBodyIsBrokenOff() {
    try (var web = new ScriptedWebServer((head, out) -> {
      out.write("HTTP/1.1 200 OK\r\n\r\n".getBytes());
      forEver(out);
    })) {
      var refused = assertThrows(IOException.class, () -> downloader.ask(web.uri("/")));

      assertTrue(refused.getMessage().contains("the body is longer than 1000 bytes"), refused.getMessage());
      Patience.eventually(web.open::isEmpty);
    }
  }

  @Test
  void bodyOfMaxLengthComesWhole() throws IOException {
    try (var web = ScriptedWebServer.saying("HTTP/1.1 200 OK", "Content-Length: 1000", "", "x".repeat(1_000))) {
      assertEquals("x".repeat(1_000), downloader.ask(web.uri("/")).text());
    }
  }

  @Promise("26.6")
  @Test
  void bodyWithByteTooManyIsRefused() {
    try (var web = ScriptedWebServer.saying("HTTP/1.1 200 OK", "", "x".repeat(1_001))) {
      assertThrows(IOException.class, () -> downloader.ask(web.uri("/")));
    }
  }

  @Test
  void theEndlessTextOfAnErrorIsNotRead() {
    try (var web = new ScriptedWebServer((head, out) -> {
      out.write("HTTP/1.1 404 Not Found\r\n\r\n".getBytes());
      forEver(out);
    })) {
      assertThrows(HttpStatusException.class, () -> downloader.ask(web.uri("/")));

      Patience.eventually(web.open::isEmpty);
    }
  }

  private static void forEver(OutputStream out) throws IOException {
    while (true) out.write(new byte[1_000]);
  }

  @Test
  void truncatedBodyIsFailure() {
    try (var web = ScriptedWebServer.saying("HTTP/1.1 200 OK", "Content-Length: 500", "", "hello")) {
      var failure = assertThrows(IOException.class, () -> downloader.ask(web.uri("/")));

      assertTrue(failure.getMessage().startsWith(web.uri("/") + " could not be downloaded: "), failure.getMessage());
    }
  }

  // ---- who waits no more

  @Test
  void expiredAskEndsDownload() {
    var seen = new AtomicInteger();
    try (var web = new ScriptedWebServer((head, out) -> dripping(out, seen))) {
      assertThrows(AskTimeoutException.class, () -> downloader.ask(web.uri("/"), Duration.ofMillis(200)));

      Patience.eventually(web.open::isEmpty);
    }
  }

  @Promise("26.6")
  @Test
  void cancelledFutureEndsDownload() {
    var seen = new AtomicInteger();
    try (var web = new ScriptedWebServer((head, out) -> dripping(out, seen))) {
      var future = downloader.sendMessageReturn(web.uri("/"));
      Patience.eventually(() -> seen.get() > 0);

      future.cancel(true);

      Patience.eventually(web.open::isEmpty);
    }
  }

  @Test
  void interruptedAskEndsDownload() {
    var seen = new AtomicInteger();
    try (var web = new ScriptedWebServer((head, out) -> dripping(out, seen))) {
      var interrupted = new AtomicInteger();
      var asking = Thread.ofVirtual().start(() -> {
        assertThrows(CancellationException.class, () -> downloader.ask(web.uri("/")));
        if (Thread.currentThread().isInterrupted()) interrupted.set(1);
      });
      Patience.eventually(() -> seen.get() > 0);

      asking.interrupt();
      Patience.joined(asking);

      assertEquals(1, interrupted.get());
      Patience.eventually(web.open::isEmpty);
    }
  }

  @Test
  void aDownloadThatTakesTooLongIsBrokenOff() {
    var clock = new io.fibry.Clock();
    var seen = new AtomicInteger();
    try (var web = new ScriptedWebServer((head, out) -> dripping(out, seen));
        var inner = scope.openScope("by hand", o -> o.withScheduler(clock))) {
      var slow = Downloader.open(inner.anonymous(), o -> o.withLimit(Duration.ofSeconds(5)));
      var future = slow.sendMessageReturn(web.uri("/"));
      Patience.eventually(() -> seen.get() > 0);

      clock.manual.advance(Duration.ofSeconds(5));

      var late = assertInstanceOf(HttpTimeoutException.class, Patience.failure(future));
      assertEquals(web.uri("/") + " was not downloaded within 5 s", late.getMessage());
      Patience.eventually(web.open::isEmpty);
    }
  }

  @Test
  void killEndsTheDownload() {
    var seen = new AtomicInteger();
    try (var web = new ScriptedWebServer((head, out) -> dripping(out, seen));
        var patient = scope.openScope("patient", o -> o.withKillGrace(Patience.LONG))) { // no download is cut off
      var killed = Downloader.open(patient.named("web"), o -> o.withMaxAttempts(1));
      var future = killed.sendMessageReturn(web.uri("/"));
      Patience.eventually(() -> seen.get() > 0);

      killed.kill();
      Patience.ended(killed::waitForExit);

      assertInstanceOf(InterruptedException.class, Patience.failure(future));
      Patience.eventually(web.open::isEmpty);
    }
  }

  /** Sends bytes slowly, below the limit, until the client is gone. */
  private static void dripping(OutputStream out, AtomicInteger seen) throws IOException {
    out.write("HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n".getBytes());
    while (true) {
      if (seen.get() < 800) out.write('x');
      seen.incrementAndGet();
      java.util.concurrent.locks.LockSupport.parkNanos(20_000_000);
    }
  }
}
