package io.fibry.io;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorBuilder;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.io.Downloader.Download;
import io.fibry.support.Patience;
import io.fibry.testing.Clock;
import io.fibry.testing.Promise;
import io.fibry.testing.Variants;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests, on a manual clock, that a downloader is quiet between the attempts of a download. */
class DownloaderQuietTest {
  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = ActorSystem.openScope("test", o -> o.withScheduler(clock)
      .withAskLimit(Duration.ofDays(1)).withKillGrace(Duration.ofDays(1)));
  private final AtomicInteger attempts = new AtomicInteger();
  private final ScriptedWebServer web = new ScriptedWebServer((head, out) -> {
    attempts.incrementAndGet();
    out.write("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n".getBytes());
  });

  @AfterEach
  void close() {
    scope.closeWithin(Duration.ZERO);
    web.close();
  }

  static Stream<String> strategies() {
    return Variants.STRATEGIES.keySet().stream().filter(strategy -> !strategy.equals("CALLER"));
  }

  private Downloader downloader(String strategy) {
    return Downloader.open(scope.named("web").strategy(Variants.STRATEGIES.get(strategy)),
        o -> o.withMaxParallel(2).withBackoff(Duration.ofSeconds(1), Duration.ofSeconds(8)));
  }

  private void awaitQuiet() {
    assertTrue(scope.awaitQuiescence(Patience.LONG), () -> scope.dump());
  }

  @Promise("26.8")
  @ParameterizedTest
  @MethodSource("strategies")
  void downloaderIsQuietDuringBackoff(String strategy) {
    var future = downloader(strategy).sendMessageReturn(web.uri("/"));
    for (int attempt = 1; attempt < 4; attempt++) {
      awaitQuiet();
      assertEquals(attempt, attempts.get());
      assertFalse(future.isDone());
      clock.advance(Duration.ofSeconds(1 << attempt - 1));
    }
    awaitQuiet();

    assertEquals(4, attempts.get());
    assertEquals(Future.State.FAILED, future.state());
  }

  @Test
  void downloaderIsNotQuietDuringAttempt() {
    var arrived = new CountDownLatch(1);
    var opened = new CountDownLatch(1);
    try (var slowWeb = new ScriptedWebServer((head, out) -> {
      arrived.countDown();
      opened.await();
      out.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi".getBytes());
    })) {
      var future = downloader("FIBER").sendMessageReturn(slowWeb.uri("/"));
      Patience.await(arrived);

      assertFalse(scope.awaitQuiescence(Duration.ZERO));

      opened.countDown();
      assertEquals("hi", Patience.value(future).text());
    }
  }

  @Promise("26.8")
  @ParameterizedTest
  @MethodSource("strategies")
  void cancelDuringBackoffEndsDownloadBeforeScopeIsQuiet(String strategy) {
    var downloader = downloader(strategy);
    var future = downloader.sendMessageReturn(web.uri("/"));
    awaitQuiet();

    future.cancel(true);
    awaitQuiet();

    assertTrue(clock.untilNext().isEmpty(), "the cancelled download has left a timer");
    assertEquals(1, attempts.get());
  }

  @Test
  void cancelAsSleepEndsLeavesNoInterruptFlag() {
    var future = new CompletableFuture<CompletableFuture<Download>>();
    var flags = new CopyOnWriteArrayList<Boolean>();
    var cancellingClock = new Clock() {
      @Override
      public boolean isManual() {
        return true;
      }

      @Override
      public void sleepUntil(long time) {
        Patience.value(future).cancel(true); // and returns, as if the time had come before the interrupt
      }
    };
    try (var cancelledScope = scope.openScope("cancelled", o -> o.withScheduler(cancellingClock))) {
      var downloader = Downloader.open(recordingFlags(cancelledScope, flags), o -> o);

      future.complete(downloader.sendMessageReturn(web.uri("/")));
      downloader.close();

      assertEquals(List.of(false), flags);
      assertEquals(1, attempts.get());
    }
  }

  @Test
  void cancelAfterSleepDoesNotInterruptNextAttempt() {
    var arrived = new CountDownLatch(2);
    var opened = new CountDownLatch(1);
    var flags = new CopyOnWriteArrayList<Boolean>();
    try (var slowWeb = new ScriptedWebServer((head, out) -> {
      arrived.countDown();
      if (arrived.getCount() == 0) opened.await();
      out.write("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n".getBytes());
    })) {
      var downloader = Downloader.open(recordingFlags(scope, flags), o -> o);
      var future = downloader.sendMessageReturn(slowWeb.uri("/"));
      awaitQuiet();
      clock.advance(Duration.ofSeconds(1));
      Patience.await(arrived);

      future.cancel(true);
      downloader.close();
      opened.countDown();

      assertEquals(List.of(false), flags);
    }
  }

  /** Returns a builder whose actors record after each message if their thread is interrupted. */
  private static ActorBuilder<Object> recordingFlags(ActorScope scope, List<Boolean> flags) {
    return scope.anonymous().intercept((message, next) -> {
      try {
        next.run();
      } finally {
        flags.add(Thread.currentThread().isInterrupted());
      }
    });
  }

  @Test
  void killDuringBackoffInterruptsDownload() {
    var downloader = downloader("FIBER");
    var future = downloader.sendMessageReturn(web.uri("/"));
    awaitQuiet();

    downloader.kill();
    Patience.awaitEnd(downloader::waitForExit);

    assertInstanceOf(InterruptedException.class, Patience.failure(future));
  }
}
