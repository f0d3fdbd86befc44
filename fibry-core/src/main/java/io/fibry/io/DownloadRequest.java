package io.fibry.io;

import io.fibry.Request;
import io.fibry.io.Downloader.Download;
import io.fibry.io.Downloader.HttpStatusException;
import io.fibry.io.Downloader.Options;
import io.fibry.text.Durations;
import io.fibry.text.Lines;
import io.fibry.time.Scheduler;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.UnknownHostException;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.channels.UnresolvedAddressException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.function.Function;
import java.util.random.RandomGenerator;

/** A download, as a message to the pool. */
final class DownloadRequest implements Request<DownloadRequest, Download> {
  private static final Set<Integer> TRANSIENT_STATUSES = Set.of(429, 502, 503, 504);

  private static final Duration MAX_RETRY_DELAY = Duration.ofDays(365); // short enough to avoid overflows

  private final URI uri;
  private final Options options;
  private final HttpRequest request;
  // fails at the time limit, or when the request is cancelled; never gets a value
  private final CompletableFuture<Object> abort = new CompletableFuture<>();

  DownloadRequest(URI uri, Options options) {
    var scheme = Objects.requireNonNull(uri, "uri").getScheme();
    if (!"http".equalsIgnoreCase(scheme) && !"https".equalsIgnoreCase(scheme) || uri.getHost() == null)
      throw new IllegalArgumentException(
          uri + " cannot be downloaded; give a URI that begins with http:// or https:// and names a host");
    this.uri = uri;
    this.options = options;
    this.request = HttpRequest.newBuilder(uri).header("User-Agent", options.userAgent)
        .version("https".equalsIgnoreCase(scheme) ? HttpClient.Version.HTTP_2 : HttpClient.Version.HTTP_1_1).build();
  }

  void cancel() {
    abort.completeExceptionally(new CancellationException(this + " was cancelled: no caller waits for it"));
  }

  Download run(HttpClient client, Scheduler clock, RetryBudget budget, RandomGenerator random)
      throws IOException, InterruptedException {
    long start = clock.nanoTime();
    var limitTimer = clock.schedule(options.limit, () -> abort
        .completeExceptionally(
            new HttpTimeoutException(uri + " was not downloaded within " + Durations.text(options.limit))));
    budget.countDownload();
    try {
      for (int tries = 1; true; tries++) {
        var result = attempt(client);
        if (result.download != null) return result.download;
        var delay = Collections.max(List.of(backoff(tries, random), result.retryAfter));
        var remaining = options.limit.minusNanos(clock.nanoTime() - start);
        var outcome = outcome(result.mayRetry, tries, delay, remaining, budget);
        if (outcome.isPresent()) throw result.failure.apply(outcome.get());
        sleep(clock, delay);
      }
    } finally {
      limitTimer.cancel();
    }
  }

  /**
   * Returns the end of the text of the failure: why this attempt was the last. If the download may
   * be tried again, returns empty, and takes a retry from the budget.
   */
  private Optional<String> outcome(boolean mayRetry, int tries, Duration delay, Duration remaining,
      RetryBudget budget) {
    var end = "; the download ended after " + Lines.count(tries, "attempt");
    if (!mayRetry) return Optional.of(tries == 1 ? "" : end);
    if (tries == options.maxAttempts) return Optional.of(end + ", because withMaxAttempts allows no more");
    if (delay.compareTo(remaining) >= 0) return Optional.of(end + ", because a delay of " + Durations.text(delay)
        + " would end after the limit of " + Durations.text(options.limit) + " (withLimit)");
    return budget.takeRetry() ? Optional.empty() : Optional.of(end
        + ", because the retry budget of this downloader is spent; raise its maximum of "
        + options.retryBudget + " by withRetryBudget");
  }

  /**
   * The result of one attempt. Either {@code download} or {@code failure} is null.
   *
   * @param failure makes the failure from the end of its text
   */
  private record AttemptResult(Download download, Function<String, IOException> failure, boolean mayRetry,
      Duration retryAfter) {}

  private AttemptResult attempt(HttpClient client) throws IOException, InterruptedException {
    HttpResponse<byte[]> response;
    var exchange = client.sendAsync(request, LimitedBodySubscriber.handler(options.maxBytes));
    try {
      await(exchange);
      response = exchange.join();
    } catch (ConnectException | HttpConnectTimeoutException connectFailure) {
      return new AttemptResult(null, outcome -> unreachable(connectFailure, outcome), true, Duration.ZERO);
    } finally {
      exchange.cancel(true);
    }
    int status = response.statusCode();
    if (LimitedBodySubscriber.isSuccess(status))
      return new AttemptResult(
          new Download(response.uri(), response.headers().firstValue("Content-Type"), response.body()),
          null, false, Duration.ZERO);
    var retryAfter = response.headers().firstValue("Retry-After").flatMap(DownloadRequest::retryDelay);
    return new AttemptResult(null, outcome -> new HttpStatusException(response.uri(), status, retryAfter, outcome),
        TRANSIENT_STATUSES.contains(status), retryAfter.orElse(Duration.ZERO));
  }

  private IOException unreachable(IOException connectFailure, String outcome) {
    var text = uri + " could not be reached: ";
    var failure = hasUnknownHost(connectFailure)
        ? new UnknownHostException(text + "no address is known for the host name " + uri.getHost()
            + ", or for the host name of a redirection" + outcome)
        : new ConnectException(text + Lines.thrown(connectFailure) + outcome);
    failure.initCause(connectFailure);
    return failure;
  }

  /** Returns whether the JDK found no address. Its exception does not tell the host name. */
  private static boolean hasUnknownHost(Throwable connectFailure) {
    for (var cause = connectFailure; cause != null; cause = cause.getCause())
      if (cause instanceof UnresolvedAddressException) return true;
    return false;
  }

  /** Sleeps until the next attempt. Throws the failure of {@code abort}, which ends the sleep. */
  private void sleep(Scheduler clock, Duration delay) throws IOException, InterruptedException {
    if (clock.isManual()) sleepInTest(clock, delay);
    else if (clock.awaitDone(abort, delay)) await(abort);
  }

  /**
   * Sleeps in a call that a manual clock knows, so the scope of a test counts as quiet. This call
   * ends only by an interrupt. On other clocks, the thread may belong to an executor, whose threads
   * are not interrupted.
   */
  private void sleepInTest(Scheduler clock, Duration delay) throws IOException, InterruptedException {
    var sleep = new AbortableSleep(Thread.currentThread());
    abort.whenComplete((none, failure) -> sleep.abort());
    try {
      clock.sleep(delay);
    } catch (InterruptedException interruption) {
      if (!sleep.end()) throw interruption;
    } finally {
      sleep.end();
    }
    if (abort.isDone()) await(abort);
  }

  /**
   * A sleep of a test that another thread may end by an interrupt. The lock ensures that the
   * interrupt comes before the end of the sleep, whose thread then clears its flag. So no later
   * code of the thread is interrupted. If a kill interrupts the thread at the same time, the flag
   * of the kill is cleared, too; the aborted download ends at once in any case.
   */
  private static final class AbortableSleep {
    private Thread sleeper; // null after the end; guarded by this, like the next field
    private boolean isAborted;

    AbortableSleep(Thread sleeper) {
      this.sleeper = sleeper;
    }

    synchronized void abort() {
      if (sleeper == null) return;
      isAborted = true;
      sleeper.interrupt();
    }

    /** Ends the sleep, on its thread. Returns whether it was aborted. */
    synchronized boolean end() {
      if (isAborted && sleeper != null) Thread.interrupted();
      sleeper = null;
      return isAborted;
    }
  }

  /** Waits until the future completes. Throws the failure of the future or of {@code abort}. */
  private void await(CompletableFuture<?> future) throws IOException, InterruptedException {
    try {
      CompletableFuture.anyOf(future, abort).get();
    } catch (ExecutionException execution) {
      Throwable failure = execution.getCause();
      while (failure instanceof CompletionException wrapper && wrapper.getCause() != null) failure = wrapper.getCause();
      switch (failure) {
        case CancellationException cancellation -> throw cancellation;
        case ConnectException connectFailure -> throw connectFailure;
        case HttpTimeoutException timeout -> throw timeout;
        default -> throw new IOException(uri + " could not be downloaded: " + Lines.message(failure), failure);
      }
    }
  }

  private Duration backoff(int tries, RandomGenerator random) {
    var backoff = options.initialBackoff;
    for (int i = 1; i < tries && backoff.compareTo(MAX_RETRY_DELAY) < 0; i++) backoff = backoff.multipliedBy(2);
    long nanos = Collections.min(List.of(backoff, options.maxBackoff, MAX_RETRY_DELAY)).toNanos();
    return Duration.ofNanos((long) (nanos * (1 - random.nextDouble() / 2)));
  }

  /**
   * Returns the delay that a {@code Retry-After} header demands, as a number of seconds or as a
   * date. Returns empty if the header is unreadable.
   */
  static Optional<Duration> retryDelay(String retryAfter) {
    try {
      var text = retryAfter.strip();
      if (text.matches("[0-9]+"))
        return Optional.of(text.length() > 9 ? MAX_RETRY_DELAY : Duration.ofSeconds(Long.parseLong(text)));
      var date = ZonedDateTime.parse(text, DateTimeFormatter.RFC_1123_DATE_TIME);
      return Optional.of(Collections.max(List.of(Duration.ZERO, Duration.between(Instant.now(), date))));
    } catch (DateTimeException | ArithmeticException unreadable) {
      return Optional.empty();
    }
  }

  @Override
  public String toString() {
    return "download of " + uri;
  }
}
