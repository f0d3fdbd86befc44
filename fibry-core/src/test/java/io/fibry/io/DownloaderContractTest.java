package io.fibry.io;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorStoppedException;
import io.fibry.ActorSystem;
import io.fibry.ExitReason;
import io.fibry.io.Downloader.HttpStatusException;
import io.fibry.io.Downloader.Options;
import io.fibry.pool.Pools;
import io.fibry.support.Patience;
import io.fibry.testing.Descriptors;
import io.fibry.testing.LeakProbe;
import io.fibry.testing.Variants;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.net.URI;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests downloaders on every strategy, the refusal of invalid options, and leaks. */
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
  void downloaderReturnsBodyOrErrorStatus(String strategy) throws IOException {
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
  void closeFinishesWaitingDownloadsAndRefusesMore(String strategy) {
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
  void killCutsOffRunningDownloads(String strategy) {
    var requestArrived = new CountDownLatch(1);
    try (var web = new ScriptedWebServer((head, out) -> {
      requestArrived.countDown();
      while (true) {
        // this write fails once the client has disconnected
        out.write("HTTP/1.1 100 Continue\r\n\r\n".getBytes());
        java.util.concurrent.locks.LockSupport.parkNanos(20_000_000);
      }
    })) {
      var downloader = downloader(strategy, o -> o);
      CompletableFuture<Exception> failure =
          Patience.callOnFiber(() -> assertThrows(Exception.class, () -> downloader.ask(web.uri("/"))));
      Patience.await(requestArrived);

      downloader.kill();
      Patience.awaitEnd(downloader::waitForExit);
      Patience.value(failure);

      Patience.eventually(web.openSockets::isEmpty);
    }
  }

  @Test
  void parallelDownloadsAreLimited() {
    var runningRequests = new AtomicInteger();
    var maxRunning = new AtomicInteger();
    var barrier = new CyclicBarrier(3); // the 12 requests pass it in groups of three
    try (var web = new ScriptedWebServer((head, out) -> {
      maxRunning.accumulateAndGet(runningRequests.incrementAndGet(), Math::max);
      barrier.await();
      runningRequests.decrementAndGet();
      out.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi".getBytes());
    })) {
      var downloader = downloader("FIBER", o -> o.withMaxParallel(3));

      IntStream.range(0, 12).mapToObj(i -> downloader.sendMessageReturn(web.uri("/" + i))).toList()
          .forEach(Patience::value);

      assertEquals(3, maxRunning.get());
    }
  }

  @Test
  void invalidOptionsAndArgumentsAreRefusedAtOnce() {
    var options = new Options();

    assertRefused("0 downloads at a time would load nothing; give at least 1", () -> options.withMaxParallel(0));
    assertRefused("a download cannot be limited to 0 bytes; give at least 1", () -> options.withMaxBytes(0));
    assertRefused("0 tries would download nothing; give at least 1", () -> options.withMaxAttempts(0));
    assertRefused("a budget of 0 retries would allow none; give at least 1", () -> options.withRetryBudget(0));
    assertRefused("a limit of 0 s leaves no time for a download; give more than zero",
        () -> options.withLimit(Duration.ZERO));
    assertRefused("a backoff of 0 s does not wait; give more than zero",
        () -> options.withBackoff(Duration.ZERO, Duration.ZERO));
    assertRefused("a backoff cannot grow from 2 s to 1 s; let the second be at least the first",
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

  private static void assertRefused(String text, Executable code) {
    assertEquals(text, assertThrows(IllegalArgumentException.class, code).getMessage());
  }

  @Test
  void downloadSucceedsWithLongestLimitAndBackoff() throws IOException {
    try (var web = web()) {
      var maxDuration = Duration.ofSeconds(Long.MAX_VALUE);

      assertEquals("hi",
          downloader("FIBER", o -> o.withLimit(maxDuration).withBackoff(maxDuration, maxDuration)).ask(web.uri("/"))
              .text());
    }
  }

  @Test
  void manyDownloadersLeaveNoThreadsOrDescriptors() throws IOException {
    try (var web = web()) {
      var threadsBefore = clientThreads();
      downloadOnce(web.uri("/")); // the first use opens descriptors that stay
      Patience.eventually(() -> web.openSockets.isEmpty());
      long descriptorsBefore = Descriptors.countOpen();

      WeakReference<?> reference = null;
      for (int i = 0; i < 20; i++) reference = downloadOnce(web.uri("/"));

      Patience.eventually(() -> web.openSockets.isEmpty());
      Patience.eventually(() -> Descriptors.countOpen() <= descriptorsBefore);
      Patience.eventually(() -> threadsBefore.containsAll(clientThreads()));
      assertTrue(LeakProbe.collected(reference), "an ended downloader is still reachable");
    }
  }

  /** Returns the threads of all HTTP clients of this JVM; other tests may have clients, too. */
  private static Set<Thread> clientThreads() {
    return Thread.getAllStackTraces().keySet().stream().filter(thread -> thread.getName().startsWith("HttpClient-"))
        .collect(Collectors.toSet());
  }

  private static WeakReference<?> downloadOnce(URI uri) throws IOException {
    var downloader = Downloader.open(ActorSystem.anonymous(), o -> o);
    assertEquals("hi", downloader.ask(uri).text());
    downloader.close();
    return new WeakReference<>(downloader);
  }
}
