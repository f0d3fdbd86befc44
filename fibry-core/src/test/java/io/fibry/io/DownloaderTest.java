package io.fibry.io;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.AskTimeoutException;
import io.fibry.io.Downloader.Download;
import io.fibry.io.Downloader.HttpStatusException;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.testing.Clock;
import io.fibry.testing.Promise;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests downloads: their bodies, their failures, their limits and their cancellation. */
class DownloaderTest {
  private final ActorScope scope = ActorSystem.openScope("test", o -> o.withKillGrace(Duration.ofMillis(50)));
  private final Downloader downloader =
      Downloader.open(scope.named("web"), o -> o.withMaxBytes(1_000).withMaxAttempts(1));

  @AfterEach
  void close() {
    scope.closeWithin(Duration.ZERO);
  }

  // ---- bodies

  @Test
  void downloaderReturnsBody() throws IOException {
    try (var web =
        ScriptedWebServer.respondingWith("HTTP/1.1 200 OK", "Content-Type: text/plain", "Content-Length: 5", "",
            "hello")) {
      var download = downloader.ask(web.uri("/greeting"));

      assertEquals(new Download(web.uri("/greeting"), Optional.of("text/plain"), "hello".getBytes()), download);
      assertEquals("hello", download.text());
    }
  }

  @Test
  void chunkedBodyAndBodyWithoutLengthAreRead() throws IOException {
    try (
        var chunkedWeb =
            ScriptedWebServer.respondingWith("HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "", "3", "hel", "2", "lo",
                "0",
                "", "");
        var endingWeb = ScriptedWebServer.respondingWith("HTTP/1.1 200 OK", "", "hello")) {
      assertEquals("hello", downloader.ask(chunkedWeb.uri("/")).text());
      assertEquals("hello", downloader.ask(endingWeb.uri("/")).text());
    }
  }

  @Test
  void textIsDecodedWithCharsetOfResponse() {
    var latin1 = "é".getBytes(StandardCharsets.ISO_8859_1);
    var uri = URI.create("http://localhost/");

    assertEquals("é", new Download(uri, Optional.of("text/html; Charset=\"ISO-8859-1\""), latin1).text());
    assertEquals("é", new Download(uri, Optional.of("text/html"), "é".getBytes(StandardCharsets.UTF_8)).text());
    assertEquals("é",
        new Download(uri, Optional.of("text/html; charset=klingon"), "é".getBytes(StandardCharsets.UTF_8)).text());
    assertEquals("é", new Download(uri, Optional.empty(), "é".getBytes(StandardCharsets.UTF_8)).text());
  }

  @Test
  void downloaderSendsUserAgent() throws IOException {
    try (var web = ScriptedWebServer.respondingWith("HTTP/1.1 200 OK", "Content-Length: 0", "", "");
        var customDownloader = Downloader.open(scope.anonymous(), o -> o.withUserAgent("mine/1"))) {
      downloader.ask(web.uri("/"));
      customDownloader.ask(web.uri("/"));

      assertTrue(web.requestHeads.get(0).contains("User-Agent: fibry"), web.requestHeads.get(0));
      assertTrue(web.requestHeads.get(1).contains("User-Agent: mine/1"), web.requestHeads.get(1));
    }
  }

  @Test
  void redirectedDownloadHasUriOfRedirectionTarget() throws IOException {
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
        ScriptedWebServer.respondingWith("HTTP/1.1 302 Found", "Location: /again", "Content-Length: 0",
            "Connection: close", "",
            "")) {
      assertThrows(IOException.class, () -> downloader.ask(web.uri("/")));

      assertTrue(web.requestHeads.size() <= 6, "the downloader sent " + web.requestHeads.size() + " requests");
    }
  }

  // ---- refused URIs and error responses

  @ParameterizedTest
  @ValueSource(ints = {400, 401, 404, 410, 500, 501})
  void exceptionForErrorStatusHasStatusAndUri(int status) {
    try (var web = ScriptedWebServer.respondingWith("HTTP/1.1 " + status + " No", "Content-Length: 6", "", "secret")) {
      var failure = assertThrows(HttpStatusException.class, () -> downloader.ask(web.uri("/x")));

      assertEquals("the response to " + web.uri("/x") + " has the status " + status, failure.getMessage());
      assertEquals(status, failure.status());
      assertEquals(web.uri("/x"), failure.uri());
    }
  }

  @Test
  void errorStatusDoesNotFailActorAndIsNotLogged() {
    try (var web = ScriptedWebServer.respondingWith("HTTP/1.1 404 Not Found", "Content-Length: 0", "", "");
        var logged = new Logged()) {
      assertThrows(HttpStatusException.class, () -> downloader.ask(web.uri("/")));

      assertEquals("", logged.entriesAbout("Refused", web.uri("/").toString()));
    }
  }

  @Test
  void onlyHttpUrisAreDownloaded() {
    for (var uri : new String[] {"file:///etc/passwd", "ftp://localhost/", "jar:http://localhost/x!/y", "localhost",
      "http:/nowhere", "mailto:me"}) {
      var failure = assertThrows(IllegalArgumentException.class, () -> downloader.ask(URI.create(uri)));

      assertEquals(uri + " cannot be downloaded; give a URI that begins with http:// or https:// and names a host",
          failure.getMessage());
    }
  }

  // ---- bodies beyond the limit

  @Test
  void bodyWithTooLargeContentLengthIsNotRead() {
    try (var web = new ScriptedWebServer((head, out) -> {
      out.write("HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n".getBytes());
      writeForever(out);
    })) {
      var failure = assertThrows(IOException.class, () -> downloader.ask(web.uri("/")));

      assertTrue(failure.getMessage().contains("the body is longer than 1000 bytes"), failure.getMessage());
      Patience.eventually(web.openSockets::isEmpty);
    }
  }

  @Test
  void downloadOfEndlessBodyFailsAndClosesConnection() {
    try (var web = new ScriptedWebServer((head, out) -> {
      out.write("HTTP/1.1 200 OK\r\n\r\n".getBytes());
      writeForever(out);
    })) {
      var failure = assertThrows(IOException.class, () -> downloader.ask(web.uri("/")));

      assertTrue(failure.getMessage().contains("the body is longer than 1000 bytes"), failure.getMessage());
      Patience.eventually(web.openSockets::isEmpty);
    }
  }

  @Test
  void bodyOfMaxLengthIsReturnedWhole() throws IOException {
    try (var web = ScriptedWebServer.respondingWith("HTTP/1.1 200 OK", "Content-Length: 1000", "", "x".repeat(1_000))) {
      assertEquals("x".repeat(1_000), downloader.ask(web.uri("/")).text());
    }
  }

  @Promise("26.6")
  @Test
  void bodyOneByteAboveLimitIsRefused() {
    try (var web = ScriptedWebServer.respondingWith("HTTP/1.1 200 OK", "", "x".repeat(1_001))) {
      assertThrows(IOException.class, () -> downloader.ask(web.uri("/")));
    }
  }

  @Test
  void endlessBodyOfErrorResponseIsNotRead() {
    try (var web = new ScriptedWebServer((head, out) -> {
      out.write("HTTP/1.1 404 Not Found\r\n\r\n".getBytes());
      writeForever(out);
    })) {
      assertThrows(HttpStatusException.class, () -> downloader.ask(web.uri("/")));

      Patience.eventually(web.openSockets::isEmpty);
    }
  }

  private static void writeForever(OutputStream out) throws IOException {
    while (true) out.write(new byte[1_000]);
  }

  @Test
  void truncatedBodyFailsDownload() {
    try (var web = ScriptedWebServer.respondingWith("HTTP/1.1 200 OK", "Content-Length: 500", "", "hello")) {
      var failure = assertThrows(IOException.class, () -> downloader.ask(web.uri("/")));

      assertTrue(failure.getMessage().startsWith(web.uri("/") + " could not be downloaded: "), failure.getMessage());
    }
  }

  // ---- limits and cancellation

  @Test
  void expiredAskEndsDownload() {
    var clock = new Clock();
    var steps = new AtomicInteger();
    try (var web = new ScriptedWebServer((head, out) -> sendSlowly(out, steps));
        var manualScope = scope.openScope("by hand", o -> o.withScheduler(clock))) {
      var askedDownloader = Downloader.open(manualScope.anonymous(), o -> o);
      CompletableFuture<AskTimeoutException> timeout =
          Patience.callOnFiber(() -> assertThrows(AskTimeoutException.class,
              () -> askedDownloader.ask(web.uri("/"), Duration.ofSeconds(5))));
      Patience.eventually(() -> steps.get() > 0);

      clock.manual.advance(Duration.ofSeconds(5));

      assertEquals(Duration.ofSeconds(5), Patience.value(timeout).limit());
      Patience.eventually(web.openSockets::isEmpty);
    }
  }

  @Promise("26.6")
  @Test
  void cancelledFutureEndsDownload() {
    var steps = new AtomicInteger();
    try (var web = new ScriptedWebServer((head, out) -> sendSlowly(out, steps))) {
      var future = downloader.sendMessageReturn(web.uri("/"));
      Patience.eventually(() -> steps.get() > 0);

      future.cancel(true);

      Patience.eventually(web.openSockets::isEmpty);
    }
  }

  @Test
  void interruptedAskEndsDownload() {
    var steps = new AtomicInteger();
    try (var web = new ScriptedWebServer((head, out) -> sendSlowly(out, steps))) {
      var interruptFlag = new AtomicInteger();
      var asker = Patience.startFiber(() -> {
        assertThrows(CancellationException.class, () -> downloader.ask(web.uri("/")));
        if (Thread.currentThread().isInterrupted()) interruptFlag.set(1);
      });
      Patience.eventually(() -> steps.get() > 0);

      asker.interrupt();
      Patience.awaitEnd(asker);

      assertEquals(1, interruptFlag.get());
      Patience.eventually(web.openSockets::isEmpty);
    }
  }

  @Test
  void downloadBeyondTimeLimitFailsAndClosesConnection() {
    var clock = new Clock();
    var steps = new AtomicInteger();
    try (var web = new ScriptedWebServer((head, out) -> sendSlowly(out, steps));
        var manualScope = scope.openScope("by hand", o -> o.withScheduler(clock))) {
      var limitedDownloader = Downloader.open(manualScope.anonymous(), o -> o.withLimit(Duration.ofSeconds(5)));
      var future = limitedDownloader.sendMessageReturn(web.uri("/"));
      Patience.eventually(() -> steps.get() > 0);

      clock.manual.advance(Duration.ofSeconds(5));

      var failure = assertInstanceOf(HttpTimeoutException.class, Patience.failure(future));
      assertEquals(web.uri("/") + " was not downloaded within 5 s", failure.getMessage());
      Patience.eventually(web.openSockets::isEmpty);
    }
  }

  @Test
  void killEndsDownload() {
    var steps = new AtomicInteger();
    try (var web = new ScriptedWebServer((head, out) -> sendSlowly(out, steps));
        // the kill grace is so long that no download is cut off
        var patientScope = scope.openScope("patient", o -> o.withKillGrace(Patience.LONG))) {
      var killedDownloader = Downloader.open(patientScope.named("web"), o -> o.withMaxAttempts(1));
      var future = killedDownloader.sendMessageReturn(web.uri("/"));
      Patience.eventually(() -> steps.get() > 0);

      killedDownloader.kill();
      Patience.awaitEnd(killedDownloader::waitForExit);

      assertInstanceOf(InterruptedException.class, Patience.failure(future));
      Patience.eventually(web.openSockets::isEmpty);
    }
  }

  /** Slowly sends up to 800 bytes, which are fewer than the header of the response announces. */
  private static void sendSlowly(OutputStream out, AtomicInteger steps) throws IOException {
    out.write("HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n".getBytes());
    while (true) {
      if (steps.get() < 800) out.write('x');
      steps.incrementAndGet();
      java.util.concurrent.locks.LockSupport.parkNanos(20_000_000);
    }
  }
}
