package io.fibry.io;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorStoppedException;
import io.fibry.ActorSystem;
import io.fibry.ExitReason;
import io.fibry.LeakProbe;
import io.fibry.Variants;
import io.fibry.io.Downloader.HttpStatusException;
import io.fibry.io.Downloader.Options;
import io.fibry.pool.Pools;
import io.fibry.support.Patience;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Promises on every strategy, refusals, and leaks. */
class DownloaderContractTest {
  private final ActorScope scope = ActorSystem.openScope("test", o -> o.withKillGrace(Duration.ofMillis(50)));

  static Stream<String> strategies() {
    return Variants.STRATEGIES.keySet().stream();
  }

  private Downloader downloader(String strategy, UnaryOperator<Options> options) {
    return Downloader.open(scope.named("web").strategy(Variants.STRATEGIES.get(strategy)), options);
  }

  @AfterEach
  void close() {
    scope.closeWithin(Duration.ZERO);
  }

  private static ScriptedWebServer web() {
    return new ScriptedWebServer(
        (head, out) -> out.write((head.startsWith("GET /none") ? "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"
            : "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi").getBytes()));
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void downloadsAndRefuses(String strategy) throws IOException {
    try (var web = web()) {
      var downloader = downloader(strategy, o -> o);

      assertEquals("hi", downloader.ask(web.uri("/")).text());
      assertEquals("hi", downloader.ask(web.uri("/"), Patience.LONG).text());
      assertEquals("hi", Patience.value(downloader.sendMessageReturn(web.uri("/"))).text());
      assertThrows(HttpStatusException.class, () -> downloader.ask(web.uri("/none")));
    }
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void closeFinishesWaitingDownloadsAndTakesNoMore(String strategy) {
    try (var web = web()) {
      var downloader = downloader(strategy, o -> o.withMaxParallel(1));
      var futures = IntStream.range(0, 5).mapToObj(i -> downloader.sendMessageReturn(web.uri("/" + i))).toList();

      downloader.close();

      futures.forEach(future -> assertEquals("hi", Patience.value(future).text()));
      assertEquals(new ExitReason.Finished(), downloader.onExit().resultNow());
      assertThrows(ActorStoppedException.class, () -> downloader.ask(web.uri("/")));
    }
  }

  @ParameterizedTest
  @MethodSource("strategies")
  void killBreaksOffRunningDownloads(String strategy) {
    var asked = new CountDownLatch(1);
    try (var web = new ScriptedWebServer((head, out) -> {
      asked.countDown();
      while (true) {
        // fails once the client is gone
        out.write("HTTP/1.1 100 Continue\r\n\r\n".getBytes());
        java.util.concurrent.locks.LockSupport.parkNanos(20_000_000);
      }
    })) {
      var downloader = downloader(strategy, o -> o);
      var asking = Patience.startFiber(() -> assertThrows(Exception.class, () -> downloader.ask(web.uri("/"))));
      Patience.await(asked);

      downloader.kill();
      Patience.ended(downloader::waitForExit);
      Patience.joined(asking);

      Patience.eventually(web.open::isEmpty);
    }
  }

  @Test
  void parallelDownloadsAreLimited() {
    var now = new AtomicInteger();
    var most = new AtomicInteger();
    var three = new CyclicBarrier(3); // of the 12, so that they come in threes
    try (var web = new ScriptedWebServer((head, out) -> {
      most.accumulateAndGet(now.incrementAndGet(), Math::max);
      three.await();
      now.decrementAndGet();
      out.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi".getBytes());
    })) {
      var downloader = downloader("FIBER", o -> o.withMaxParallel(3));

      IntStream.range(0, 12).mapToObj(i -> downloader.sendMessageReturn(web.uri("/" + i))).toList()
          .forEach(Patience::value);

      assertEquals(3, most.get());
    }
  }

  @Test
  void badInputIsRefusedAtOnce() {
    var options = new Options();

    refused("0 downloads at a time would load nothing; give at least 1", () -> options.withMaxParallel(0));
    refused("downloads of at most 0 bytes; give at least 1", () -> options.withMaxBytes(0));
    refused("0 tries would download nothing; give at least 1", () -> options.withMaxAttempts(0));
    refused("a limit of 0 s leaves no time for a download; give more than zero",
        () -> options.withLimit(Duration.ZERO));
    refused("a back-off of 0 s is none; give more than zero", () -> options.withBackoff(Duration.ZERO, Duration.ZERO));
    refused("a back-off of 2 s that grows to 1 s; let the second be at least the first",
        () -> options.withBackoff(Duration.ofSeconds(2), Duration.ofSeconds(1)));
    assertThrows(IllegalArgumentException.class, () -> options.withUserAgent("mine\r\nCookie: theirs"));
    assertThrows(IllegalArgumentException.class, () -> Downloader.open(Pools.fixed(scope.anonymous(), 2), o -> o));
    assertEquals("builder", assertThrows(NullPointerException.class, () -> Downloader.open(null, o -> o)).getMessage());
    assertEquals("options",
        assertThrows(NullPointerException.class, () -> Downloader.open(scope.anonymous(), null)).getMessage());
    assertEquals("uri",
        assertThrows(NullPointerException.class, () -> Downloader.open(scope.anonymous(), o -> o).ask(null))
            .getMessage());
  }

  private static void refused(String text, Executable code) {
    assertEquals(text, assertThrows(IllegalArgumentException.class, code).getMessage());
  }

  @Test
  void limitsWithoutEndAreNoOverflow() throws IOException {
    try (var web = web()) {
      var longest = Duration.ofSeconds(Long.MAX_VALUE);

      assertEquals("hi",
          downloader("FIBER", o -> o.withLimit(longest).withBackoff(longest, longest)).ask(web.uri("/")).text());
    }
  }

  @Test
  void manyDownloadersLeaveNothing() throws IOException {
    try (var web = web()) {
      round(web.uri("/")); // first use
      Patience.eventually(() -> web.open.isEmpty());
      long before = Descriptors.open();

      WeakReference<?> last = null;
      for (int i = 0; i < 20; i++) last = round(web.uri("/"));

      Patience.eventually(() -> web.open.isEmpty());
      Patience.eventually(() -> Descriptors.open() <= before);
      Patience.eventually(() -> Thread.getAllStackTraces().keySet().stream()
          .noneMatch(thread -> thread.getName().startsWith("HttpClient-")));
      assertTrue(LeakProbe.collected(last), "an ended downloader is kept by somebody");
    }
  }

  private static WeakReference<?> round(URI uri) throws IOException {
    var downloader = Downloader.open(ActorSystem.anonymous(), o -> o);
    assertEquals("hi", downloader.ask(uri).text());
    downloader.close();
    return new WeakReference<>(downloader);
  }
}
