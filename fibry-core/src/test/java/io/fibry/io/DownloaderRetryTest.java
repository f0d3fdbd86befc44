package io.fibry.io;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.io.Downloader.HttpStatusException;
import io.fibry.io.Downloader.Options;
import io.fibry.support.Patience;
import io.fibry.testing.Clock;
import io.fibry.testing.Promise;
import io.fibry.testing.RefusingPort;
import io.fibry.testing.StressRuns;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.UnknownHostException;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests, on a manual clock, when downloads are retried and when they fail. */
class DownloaderRetryTest {
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final RandomGenerator FULL_BACKOFF = () -> 0; // never shortens a backoff

  private final List<Duration> pauses = new CopyOnWriteArrayList<>();
  private int passedPauses; // how many of these pauses the test has let pass on the clock
  private final Clock clock = new Clock() {
    @Override
    public Timer schedule(Duration delay, Runnable task) {
      var timer = super.schedule(delay, task);
      if (delay.isPositive() && !delay.equals(LIMIT)) pauses.add(delay);
      return timer;
    }
  };
  private final ActorScope scope = ActorSystem.openScope("test",
      o -> o.withScheduler(clock).withAskLimit(Duration.ofDays(1)).withKillGrace(Duration.ZERO));

  @AfterEach
  void close() {
    scope.closeWithin(Duration.ZERO);
  }

  private Downloader downloader(RandomGenerator random, UnaryOperator<Options> options) {
    return new DownloadPool(scope.anonymous(), options.apply(new Options()), random);
  }

  /**
   * Returns a server that responds with these statuses in order, and then repeats the last status.
   */
  private static ScriptedWebServer statuses(String header, int... statuses) {
    var index = new AtomicInteger();
    return new ScriptedWebServer(
        (head, out) -> out.write(("HTTP/1.1 " + statuses[Math.min(index.getAndIncrement(), statuses.length - 1)]
            + " X\r\n" + header + "Content-Length: 2\r\n\r\nhi").getBytes()));
  }

  /** Advances the clock by each pause when the pause has begun, until the future is done. */
  private void passTime(CompletableFuture<?> future) {
    while (true) {
      Patience.eventually(() -> future.isDone() || pauses.size() > passedPauses);
      if (pauses.size() == passedPauses) return;
      clock.manual.advance(pauses.get(passedPauses++));
    }
  }

  @Promise("26.5")
  @ParameterizedTest
  @ValueSource(ints = {429, 502, 503, 504})
  void transientStatusIsRetried(int status) {
    try (var web = statuses("", status, status, 200)) {
      var future = downloader(FULL_BACKOFF, o -> o).sendMessageReturn(web.uri("/"));
      passTime(future);

      assertEquals("hi", Patience.value(future).text());
      assertEquals(List.of(Duration.ofMillis(200), Duration.ofMillis(400)), pauses);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {400, 403, 404, 408, 500, 501, 505})
  void permanentStatusIsNotRetried(int status) {
    try (var web = statuses("", status, 200)) {
      var failure = Patience.failure(downloader(FULL_BACKOFF, o -> o).sendMessageReturn(web.uri("/")));

      assertEquals(status, assertInstanceOf(HttpStatusException.class, failure).status());
      assertEquals(1, web.requestHeads.size());
    }
  }

  @Promise("26.5")
  @Test
  void unreachableServerIsRetried() {
    try (var port = new RefusingPort()) {
      var future = downloader(FULL_BACKOFF, o -> o.withMaxAttempts(3)).sendMessageReturn(port.uri());
      passTime(future);

      var failure = assertInstanceOf(ConnectException.class, Patience.failure(future));
      assertTrue(failure.getMessage().startsWith(port.uri() + " could not be reached: "), failure.getMessage());
      assertTrue(failure.getMessage().endsWith("; the download ended after 3 attempts, because withMaxAttempts "
          + "allows no more"), failure.getMessage());
      assertEquals(2, pauses.size());
    }
  }

  @Test
  void failureTellsUnknownHost() {
    var host = "x".repeat(64) + ".invalid"; // the resolver refuses this length without asking a server
    var future = downloader(FULL_BACKOFF, o -> o.withMaxAttempts(2)).sendMessageReturn(URI.create("http://" + host));
    passTime(future);

    assertEquals("http://" + host + " could not be reached: no address is known for the host name " + host
        + ", or for the host name of a redirection; the download ended after 2 attempts, because withMaxAttempts "
        + "allows no more", assertInstanceOf(UnknownHostException.class, Patience.failure(future)).getMessage());
    assertEquals(1, pauses.size());
  }

  @Test
  void permanentStatusAfterRetryTellsAttempts() {
    try (var web = statuses("", 503, 404)) {
      var future = downloader(FULL_BACKOFF, o -> o).sendMessageReturn(web.uri("/"));
      passTime(future);

      assertEquals("the response to " + web.uri("/") + " has the status 404; the download ended after 2 attempts",
          Patience.failure(future).getMessage());
    }
  }

  @Test
  void downloadFailsWithLastStatusAfterMaxAttempts() {
    try (var web = statuses("", 503, 502, 504, 429)) {
      var future = downloader(FULL_BACKOFF, o -> o.withMaxAttempts(3)).sendMessageReturn(web.uri("/"));
      passTime(future);

      var failure = assertInstanceOf(HttpStatusException.class, Patience.failure(future));
      assertEquals(504, failure.status());
      assertEquals("the response to " + web.uri("/") + " has the status 504; the download ended after 3 attempts, "
          + "because withMaxAttempts allows no more", failure.getMessage());
      assertEquals(3, web.requestHeads.size());
    }
  }

  @Test
  void backoffDoublesUpToMax() {
    try (var web = statuses("", 503)) {
      var future =
          downloader(FULL_BACKOFF,
              o -> o.withMaxAttempts(6).withBackoff(Duration.ofMillis(100), Duration.ofMillis(350)))
              .sendMessageReturn(web.uri("/"));
      passTime(future);

      Patience.failure(future);
      assertEquals(List.of(100L, 200L, 350L, 350L, 350L), pauses.stream().map(Duration::toMillis).toList());
    }
  }

  @Test
  void backoffIsShortenedByUpToHalfAtRandom() {
    long seed = StressRuns.seed();
    System.out.println("DownloaderRetryTest -Dfibry.seed=" + seed);
    try (var web = statuses("", 503)) {
      var future =
          downloader(new Random(seed),
              o -> o.withMaxAttempts(8).withBackoff(Duration.ofMillis(100), Duration.ofMillis(100)))
              .sendMessageReturn(web.uri("/"));
      passTime(future);

      Patience.failure(future);
      assertEquals(7, pauses.stream().distinct().count());
      assertTrue(pauses.stream().allMatch(pause -> pause.toNanos() > 50_000_000 && pause.toNanos() <= 100_000_000),
          () -> pauses.toString());
    }
  }

  @Test
  void retryAfterHeaderIsObeyed() {
    try (var web = statuses("Retry-After: 7\r\n", 503, 200)) {
      var future = downloader(FULL_BACKOFF, o -> o).sendMessageReturn(web.uri("/"));
      passTime(future);

      assertEquals("hi", Patience.value(future).text());
      assertEquals(List.of(Duration.ofSeconds(7)), pauses);
    }
  }

  @Test
  void retryAfterHeaderBeyondLimitFailsDownloadAtOnce() {
    try (var web = statuses("Retry-After: 3600\r\n", 429)) {
      var failure = Patience.failure(downloader(FULL_BACKOFF, o -> o).sendMessageReturn(web.uri("/")));

      var refusal = assertInstanceOf(HttpStatusException.class, failure);
      assertEquals(429, refusal.status());
      assertEquals(Optional.of(Duration.ofHours(1)), refusal.retryAfter());
      assertTrue(refusal.getMessage().endsWith(" has the status 429; try again after 1 h; the download ended after "
          + "1 attempt, because a delay of 1 h would end after the limit of 30 s (withLimit)"), refusal.getMessage());
      assertEquals(List.of(), pauses);
    }
  }

  @Test
  void failureWithoutReadableRetryAfterHeaderHasNoDelay() {
    try (var web = statuses("Retry-After: soon\r\n", 404)) {
      var failure = Patience.failure(downloader(FULL_BACKOFF, o -> o).sendMessageReturn(web.uri("/")));

      assertEquals(Optional.empty(), assertInstanceOf(HttpStatusException.class, failure).retryAfter());
    }
  }

  @Test
  void retryAfterHeaderIsParsedLeniently() {
    var inOneHour = DateTimeFormatter.RFC_1123_DATE_TIME.format(ZonedDateTime.now(ZoneOffset.UTC).plusHours(1));
    var oneHourAgo = DateTimeFormatter.RFC_1123_DATE_TIME.format(ZonedDateTime.now(ZoneOffset.UTC).minusHours(1));

    assertEquals(Optional.of(Duration.ofSeconds(120)), DownloadRequest.retryDelay(" 120 "));
    assertTrue(DownloadRequest.retryDelay(inOneHour).orElseThrow().compareTo(Duration.ofMinutes(59)) > 0, inOneHour);
    assertEquals(Optional.of(Duration.ZERO), DownloadRequest.retryDelay(oneHourAgo));
    for (var centuries : List.of("9999999999", "99999999999999999999"))
      assertTrue(DownloadRequest.retryDelay(centuries).orElseThrow().compareTo(Duration.ofDays(364)) > 0, centuries);
    for (var invalidHeader : List.of("", "-5", "soon", "1e9", "Fri, 99 Nov 2026 00:00:00 GMT", "\u0663"))
      assertEquals(Optional.empty(), DownloadRequest.retryDelay(invalidHeader), invalidHeader);
  }

  @Promise("26.5")
  @Test
  void retriesAreLimitedToTenthOfDownloadsPlusTen() {
    try (var web = statuses("", 503)) {
      var downloader =
          downloader(FULL_BACKOFF, o -> o.withMaxParallel(1).withBackoff(Duration.ofMillis(1), Duration.ofMillis(1)));

      for (int i = 0; i < 100; i++) passTime(downloader.sendMessageReturn(web.uri("/")));

      // the budget begins full, with 10 retries, so the first download adds nothing to it
      assertEquals(100 + 10 + 9, web.requestHeads.size());
    }
  }

  @Test
  void failureTellsThatRetryBudgetIsSpent() {
    try (var web = statuses("Retry-After: 1\r\n", 503)) {
      var downloader = downloader(FULL_BACKOFF, o -> o.withRetryBudget(1));
      var retried = downloader.sendMessageReturn(web.uri("/"));
      passTime(retried);
      var failedAtOnce = Patience.failure(downloader.sendMessageReturn(web.uri("/")));

      var spent = ", because the retry budget of this downloader is spent; raise its maximum of 1 by "
          + "withRetryBudget";
      assertEquals("the response to " + web.uri("/") + " has the status 503; try again after 1 s; the download ended "
          + "after 2 attempts" + spent, Patience.failure(retried).getMessage());
      assertEquals("the response to " + web.uri("/") + " has the status 503; try again after 1 s; the download ended "
          + "after 1 attempt" + spent, failedAtOnce.getMessage());
    }
  }

  @ParameterizedTest
  @CsvSource({"10, 15", "60, 60", "2147483647, 60"})
  void retryBudgetLimitsPagesThatAreRetried(int budget, int retriedPages) {
    var paths = ConcurrentHashMap.<String>newKeySet();
    try (var web = new ScriptedWebServer((head, out) -> out.write(("HTTP/1.1 "
        + (paths.add(head.split(" ")[1]) ? 503 : 200) + " X\r\nContent-Length: 2\r\n\r\nhi").getBytes()))) {
      var downloader = downloader(FULL_BACKOFF, o -> o.withMaxParallel(1).withRetryBudget(budget));

      int successes = 0;
      for (int page = 0; page < 60; page++) {
        var future = downloader.sendMessageReturn(web.uri("/" + page));
        passTime(future);
        if (future.state() == Future.State.SUCCESS) successes++;
      }

      assertEquals(retriedPages, successes);
    }
  }

  @Test
  void cancelEndsBackoffOfDownload() {
    try (var web = statuses("", 503)) {
      var downloader = downloader(FULL_BACKOFF, o -> o.withMaxParallel(1));
      var future = downloader.sendMessageReturn(web.uri("/"));
      Patience.eventually(() -> pauses.size() == 1);

      future.cancel(true);

      try (var healthyWeb = statuses("", 200)) {
        assertEquals("hi", Patience.value(downloader.sendMessageReturn(healthyWeb.uri("/"))).text());
      }
      assertEquals(1, web.requestHeads.size());
    }
  }

  @Test
  void downloadInBackoffStillCountsTowardMaxParallel() {
    try (var web = statuses("", 503, 200)) {
      var downloader = downloader(FULL_BACKOFF, o -> o.withMaxParallel(1));
      var firstFuture = downloader.sendMessageReturn(web.uri("/first"));
      Patience.eventually(() -> pauses.size() == 1);

      var secondFuture = downloader.sendMessageReturn(web.uri("/second"));
      passTime(firstFuture);
      Patience.value(secondFuture);

      assertEquals(List.of("/first", "/first", "/second"),
          web.requestHeads.stream().map(head -> head.split(" ")[1]).toList());
    }
  }

  @Test
  void finishedDownloadLeavesNoTimer() {
    try (var web = statuses("", 503, 200)) {
      var future = downloader(FULL_BACKOFF, o -> o).sendMessageReturn(web.uri("/"));
      passTime(future);

      Patience.value(future);
      assertTrue(scope.awaitQuiescence(Patience.LONG));
    }
  }

  @Test
  void malformedResponseIsNotRetried() {
    try (var web = ScriptedWebServer.respondingWith("nonsense", "", "")) {
      assertThrows(IOException.class, () -> downloader(FULL_BACKOFF, o -> o).ask(web.uri("/")));

      assertEquals(1, web.requestHeads.size());
    }
  }
}
