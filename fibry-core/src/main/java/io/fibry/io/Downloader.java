package io.fibry.io;

import io.fibry.ActorBuilder;
import io.fibry.Exitable;
import io.fibry.block.Arguments;
import io.fibry.block.ChangedCopy;
import io.fibry.text.Durations;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Downloads the resources of URIs, with a pool of actors around an HTTP client. Thread-safe.
 * {@snippet class="io.fibry.IoSnippetsTest" region="downloader"}
 *
 * <p>A download fails with an {@link IOException}. If the status is not 200 to 299, this is an
 * {@link HttpStatusException}. If no address is known for the host name, this is a {@link
 * java.net.UnknownHostException}. If the server refuses the connection, this is a {@link
 * java.net.ConnectException}. A download is cancelled when its caller no longer waits for it:
 * after the limit of {@code ask}, at an interrupt, or when its future is completed or cancelled.
 *
 * <p>A download is tried again if the server cannot be reached, or responds with 429, 502, 503 or
 * 504. The delay is doubled with each attempt, is shortened at random by up to a half, and is at
 * least the delay that {@code Retry-After} demands. All downloads share a budget of ten retries
 * ({@link Options#withRetryBudget}), and every ten downloads add one. When the budget is spent, a
 * download is not tried again, and the exception says so. A download holds its worker between
 * attempts, which limits the load of the server. A slow host may thus hold all workers. A
 * downloader for each host, with {@link Options#withMaxParallel}, prevents this, and limits the
 * load of each host:
 * {@snippet class="io.fibry.IoSnippetsTest" region="hosts"}
 *
 * <p>All delays and the limits of {@code ask} and of {@link Options#withLimit} follow the clock of
 * the builder's scope. If a test moves this clock, a download that waits for its next attempt
 * counts as quiet, and its delays are not shortened at random. A running attempt does not count as
 * quiet. The limit of ten seconds for a connection, and a date in {@code Retry-After}, follow the
 * clock of the system.
 *
 * <p>At most five redirections are followed, never from https to http. Check untrusted URIs before
 * you download them, because they may name hosts that only this machine can reach.
 */
public interface Downloader extends Exitable {

  /**
   * Opens a downloader.
   *
   * @param builder makes the workers; must not be a builder of pools
   * @param options changes the defaults
   * @return the downloader; its end closes its connections
   */
  static Downloader open(ActorBuilder<?> builder, UnaryOperator<Options> options) {
    return DownloadPool.open(builder, options);
  }

  /**
   * Downloads, and waits at most for the ask limit of the scope.
   *
   * @param uri begins with http or https
   * @return the download
   * @throws IllegalArgumentException for other URIs
   * @throws HttpStatusException for a status other than 200 to 299
   * @throws IOException if the download failed for another reason
   */
  Download ask(URI uri) throws IOException;

  /**
   * Downloads, and waits at most {@code limit}.
   *
   * @param uri begins with http or https
   * @param limit maximum time to wait
   * @return the download
   * @throws IllegalArgumentException for other URIs
   * @throws HttpStatusException for a status other than 200 to 299
   * @throws IOException if the download failed for another reason
   */
  Download ask(URI uri, Duration limit) throws IOException;

  /**
   * Starts a download. If the caller completes or cancels the future, the download ends.
   *
   * @param uri begins with http or https
   * @return completes with the download
   * @throws IllegalArgumentException for other URIs
   */
  CompletableFuture<Download> sendMessageReturn(URI uri);

  @Override
  Downloader closeOnExit(AutoCloseable... resources);

  /**
   * A download. Its array is not copied.
   *
   * @param uri final URI, after all redirections
   * @param type Content-Type as the server sent it, for instance {@code text/html; charset=utf-8}
   * @param data the bytes
   */
  record Download(URI uri, Optional<String> type, byte[] data) {

    /** Rejects null. */
    public Download {
      Objects.requireNonNull(uri, "uri");
      Objects.requireNonNull(type, "type");
      Objects.requireNonNull(data, "data");
    }

    /**
     * Decodes the bytes in the server's charset, or in UTF-8 if that charset is missing or unknown.
     *
     * @return the text
     */
    public String text() {
      return new String(data, charset());
    }

    private Charset charset() {
      for (var part : type.orElse("").split(";")) {
        var pair = part.strip().toLowerCase(Locale.ROOT);
        if (!pair.startsWith("charset=")) continue;
        try {
          return Charset.forName(pair.substring("charset=".length()).replace("\"", ""));
        } catch (IllegalArgumentException unsupported) {
          return StandardCharsets.UTF_8;
        }
      }
      return StandardCharsets.UTF_8;
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Download download && uri.equals(download.uri) && type.equals(download.type)
          && Arrays.equals(data, download.data);
    }

    @Override
    public int hashCode() {
      return 31 * uri.hashCode() + Arrays.hashCode(data);
    }

    /** Returns a text for logs, without the bytes. */
    @Override
    public String toString() {
      return data.length + " bytes from " + uri;
    }
  }

  /** A status other than 200 to 299; the body was not read. */
  final class HttpStatusException extends IOException {
    private static final long serialVersionUID = 1;

    /** The URI. */
    private final URI uri;
    /** The status. */
    private final int status;
    /** The delay that the server demands; null if it demands none. */
    private final @Nullable Duration retryAfter;

    /**
     * Makes the exception.
     *
     * @param outcome the end of the text: why the attempt was the last, or an empty text
     */
    HttpStatusException(URI uri, int status, Optional<Duration> retryAfter, String outcome) {
      super("the response to " + uri + " has the status " + status
          + retryAfter.map(delay -> "; try again after " + Durations.text(delay)).orElse("") + outcome);
      this.uri = uri;
      this.status = status;
      this.retryAfter = retryAfter.orElse(null);
    }

    /**
     * The URI, after all redirections.
     *
     * @return the URI
     */
    public URI uri() {
      return uri;
    }

    /**
     * The status.
     *
     * @return such as 404
     */
    public int status() {
      return status;
    }

    /**
     * The delay that the header {@code Retry-After} demands.
     *
     * @return the time from the response to the next request, zero for a date that has passed;
     * empty without such a header, or if it is malformed
     */
    public Optional<Duration> retryAfter() {
      return Optional.ofNullable(retryAfter);
    }
  }

  /** Limits of a downloader. Immutable and thread-safe. */
  final class Options implements Cloneable {
    // written by `with` only, in a new copy
    int maxParallel = 8;
    int maxBytes = 1_000_000;
    int maxAttempts = 4;
    int retryBudget = 10;
    Duration limit = Duration.ofSeconds(30);
    Duration initialBackoff = Duration.ofMillis(200);
    Duration maxBackoff = Duration.ofSeconds(10);
    String userAgent = "fibry";

    Options() {}

    private Options with(Consumer<Options> change) {
      return ChangedCopy.of(this::clone, change);
    }

    /**
     * Limits how many downloads run at the same time.
     *
     * @param maxDownloads at least 1, by default 8
     * @return a changed copy
     */
    public Options withMaxParallel(int maxDownloads) {
      Arguments.requireAtLeastOne(maxDownloads, maxDownloads + " downloads at a time would load nothing");
      return with(copy -> copy.maxParallel = maxDownloads);
    }

    /**
     * Limits the size of a download; a longer download fails.
     *
     * @param maxBytes at least 1, by default 1,000,000
     * @return a changed copy
     */
    public Options withMaxBytes(int maxBytes) {
      Arguments.requireAtLeastOne(maxBytes, "a download cannot be limited to " + maxBytes + " bytes");
      return with(copy -> copy.maxBytes = maxBytes);
    }

    /**
     * Limits how often a download is tried.
     *
     * @param maxAttempts at least 1, by default 4
     * @return a changed copy
     */
    public Options withMaxAttempts(int maxAttempts) {
      Arguments.requireAtLeastOne(maxAttempts, maxAttempts + " tries would download nothing");
      return with(copy -> copy.maxAttempts = maxAttempts);
    }

    /**
     * Limits the retries of all downloads together. The budget begins full. Each retry takes one,
     * and every ten downloads add one, up to this maximum. When the budget is spent, a download is
     * not tried again. A server that is down thus gets few more requests than downloads.
     *
     * @param maxRetries at least 1, by default 10; {@link Integer#MAX_VALUE} means no limit
     * @return a changed copy
     */
    public Options withRetryBudget(int maxRetries) {
      Arguments.requireAtLeastOne(maxRetries, "a budget of " + maxRetries + " retries would allow none");
      return with(copy -> copy.retryBudget = maxRetries);
    }

    /**
     * Limits the time of a download, including its retries.
     *
     * @param limit more than zero, by default 30 seconds
     * @return a changed copy
     */
    public Options withLimit(Duration limit) {
      Arguments.requirePositive(limit, "limit",
          "a limit of " + Durations.text(limit) + " leaves no time for a download");
      return with(copy -> copy.limit = limit);
    }

    /**
     * Sets the delays before retries.
     *
     * @param initial delay before the first retry; more than zero, by default 200 milliseconds
     * @param max maximum delay; at least {@code initial}, by default 10 seconds
     * @return a changed copy
     */
    public Options withBackoff(Duration initial, Duration max) {
      Arguments.requirePositive(initial, "initial", "a backoff of " + Durations.text(initial) + " does not wait");
      if (Objects.requireNonNull(max, "max").compareTo(initial) < 0) throw new IllegalArgumentException(
          "a backoff cannot grow from " + Durations.text(initial) + " to " + Durations.text(max)
              + "; let the second be at least the first");
      return with(copy -> {
        copy.initialBackoff = initial;
        copy.maxBackoff = max;
      });
    }

    /**
     * Sets the header {@code User-Agent}.
     *
     * @param userAgent by default "fibry"
     * @return a changed copy
     */
    public Options withUserAgent(String userAgent) {
      // rejects invalid values
      HttpRequest.newBuilder().header("User-Agent", Objects.requireNonNull(userAgent, "userAgent"));
      return with(copy -> copy.userAgent = userAgent);
    }
  }
}
