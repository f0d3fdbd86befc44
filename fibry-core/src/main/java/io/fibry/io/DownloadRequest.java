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
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.random.RandomGenerator;

/** A download, as a message to the pool. */
final class DownloadRequest implements Request<DownloadRequest, Download> {
  private static final Set<Integer> TRANSIENT = Set.of(429, 502, 503, 504);

  private static final Duration MAX_RETRY_DELAY = Duration.ofDays(365); // no overflow

  private final URI uri;
  private final Options options;
  private final HttpRequest request;
  // only fails: at its limit, or when cancelled
  private final CompletableFuture<Object> ended = new CompletableFuture<>();

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
    ended.completeExceptionally(new CancellationException(this + " was cancelled: no caller waits for it"));
  }

  Download run(HttpClient client, Scheduler clock, RetryBudget budget, RandomGenerator random)
      throws IOException, InterruptedException {
    long begun = clock.nanoTime();
    var limit = clock.schedule(options.limit, () -> ended
        .completeExceptionally(
            new HttpTimeoutException(uri + " was not downloaded within " + Durations.text(options.limit))));
    budget.pay();
    try {
      for (int tries = 1; true; tries++) {
        var answer = attempt(client);
        if (answer.download != null) return answer.download;
        var pause = Collections.max(List.of(backoff(tries, random), answer.retryAfter));
        var left = options.limit.minusNanos(clock.nanoTime() - begun);
        if (!answer.mayRetry || tries == options.maxAttempts || pause.compareTo(left) >= 0 || !budget.spend())
          throw answer.failure;
        pause(clock, pause);
      }
    } finally {
      limit.cancel();
    }
  }

  /** The result of a try; one of the first two is null. */
  private record AttemptResult(Download download, IOException failure, boolean mayRetry, Duration retryAfter) {}

  private AttemptResult attempt(HttpClient client) throws IOException, InterruptedException {
    HttpResponse<byte[]> response;
    var exchange = client.sendAsync(request, LimitedBodySubscriber.handler(options.maxBytes));
    try {
      await(exchange);
      response = exchange.join();
    } catch (ConnectException | HttpConnectTimeoutException unreached) {
      var failure = new ConnectException(uri + " could not be reached: " + Lines.thrown(unreached));
      failure.initCause(unreached);
      return new AttemptResult(null, failure, true, Duration.ZERO);
    } finally {
      exchange.cancel(true);
    }
    int status = response.statusCode();
    if (LimitedBodySubscriber.isSuccess(status))
      return new AttemptResult(
          new Download(response.uri(), response.headers().firstValue("Content-Type"), response.body()),
          null, false, Duration.ZERO);
    return new AttemptResult(null, new HttpStatusException(response.uri(), status), TRANSIENT.contains(status),
        response.headers().firstValue("Retry-After").map(DownloadRequest::retryDelay).orElse(Duration.ZERO));
  }

  private void pause(Scheduler clock, Duration pause) throws IOException, InterruptedException {
    var end = new CompletableFuture<Object>();
    var timer = clock.schedule(pause, () -> end.complete(pause));
    try {
      await(end);
    } finally {
      timer.cancel();
    }
  }

  /** Waits for a step, or {@code ended}. */
  private void await(CompletableFuture<?> step) throws IOException, InterruptedException {
    try {
      CompletableFuture.anyOf(step, ended).get();
    } catch (ExecutionException failed) {
      Throwable failure = failed.getCause();
      while (failure instanceof CompletionException wrapped && wrapped.getCause() != null) failure = wrapped.getCause();
      switch (failure) {
        case CancellationException gone -> throw gone;
        case ConnectException unreached -> throw unreached;
        case HttpTimeoutException late -> throw late;
        default -> throw new IOException(uri + " could not be downloaded: " + Lines.message(failure), failure);
      }
    }
  }

  private Duration backoff(int tries, RandomGenerator random) {
    var full = options.initialBackoff;
    for (int i = 1; i < tries && full.compareTo(MAX_RETRY_DELAY) < 0; i++) full = full.multipliedBy(2);
    long nanos = Collections.min(List.of(full, options.maxBackoff, MAX_RETRY_DELAY)).toNanos();
    return Duration.ofNanos((long) (nanos * (1 - random.nextDouble() / 2)));
  }

  /** Seconds, or until a date; zero if unreadable. */
  static Duration retryDelay(String retryAfter) {
    try {
      var text = retryAfter.strip();
      if (text.matches("[0-9]+")) return text.length() > 9 ? MAX_RETRY_DELAY : Duration.ofSeconds(Long.parseLong(text));
      var end = ZonedDateTime.parse(text, DateTimeFormatter.RFC_1123_DATE_TIME);
      return Collections.max(List.of(Duration.ZERO, Duration.between(Instant.now(), end)));
    } catch (DateTimeException | ArithmeticException unreadable) {
      return Duration.ZERO;
    }
  }

  @Override
  public String toString() {
    return "download of " + uri;
  }
}
