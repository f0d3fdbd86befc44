package io.fibry.io;

import io.fibry.ActorBuilder;
import io.fibry.Exitable;
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

/**
 * Answers URIs with what is there: a pool of actors around an HTTP client. Thread-safe.
 * {@snippet class="io.fibry.IoSnippetsTest" region="downloader"}
 *
 * <p>What went wrong is thrown, or fails the future, as an {@link IOException}: {@link Refused}
 * where the answer has another status than 200 to 299. A download ends when nobody waits for it any
 * more: after the limit of the {@code ask}, at an interrupt, or when the future is cancelled.
 *
 * <p>A server that cannot be reached, or answers 429, 502, 503 or 504, is asked again, after a
 * back-off that doubles and is by the half less at random, and not before the time that
 * {@code Retry-After} says. Retries are at most a tenth of all downloads, and ten more: where
 * everything fails, they do not make it worse. Who waits for his next try keeps his place among
 * those at work, so that a server that asks for patience gets less at once; downloads that should
 * not wait for each other are for two downloaders.
 *
 * <p>Redirections are followed, five at most and never from https to http. It asks whomever the URI
 * names: URIs of strangers can name what only this machine can reach.
 */
public interface Downloader extends Exitable {

  /**
   * Opens one.
   *
   * @param how makes the actors; no pool, since this is one
   * @param options changes the usual ones
   * @return the downloader; its end closes its connections
   */
  static Downloader open(ActorBuilder<?> how, UnaryOperator<Options> options) {
    return DownloadPool.open(how, options);
  }

  /**
   * DownloadPool it, waiting at most as long as the scope says.
   *
   * @param uri begins with http or https
   * @return what is there
   * @throws IllegalArgumentException if it is a URI of another kind
   */
  Download ask(URI uri);

  /**
   * DownloadPool it, waiting at most so long.
   *
   * @param uri begins with http or https
   * @param limit how long at most
   * @return what is there
   * @throws IllegalArgumentException if it is a URI of another kind
   */
  Download ask(URI uri, Duration limit);

  /**
   * DownloadPool it. Completing the future from outside, in any way, ends the download.
   *
   * @param uri begins with http or https
   * @return completes with what is there
   * @throws IllegalArgumentException if it is a URI of another kind
   */
  CompletableFuture<Download> sendMessageReturn(URI uri);

  @Override
  Downloader closeOnExit(AutoCloseable... resources);

  /**
   * What was there. Nobody else has the array, which is handed out as it is.
   *
   * @param uri where it was found, after all redirections
   * @param type what the server says it is, as in {@code text/html; charset=utf-8}
   * @param data the bytes
   */
  record Download(URI uri, Optional<String> type, byte[] data) {

    /** Its parts are never null. */
    public Download {
      Objects.requireNonNull(uri, "uri");
      Objects.requireNonNull(type, "type");
      Objects.requireNonNull(data, "data");
    }

    /**
     * The bytes as text, in the charset that the server says; UTF-8 if it says none, or one that
     * this machine does not know.
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
        } catch (IllegalArgumentException unknown) {
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

    /** Not its bytes: it stands in logs. */
    @Override
    public String toString() {
      return data.length + " bytes from " + uri;
    }
  }

  /** The answer had another status than 200 to 299. What came with it was not read. */
  final class Refused extends IOException {
    private static final long serialVersionUID = 1;

    /** What was asked for, after all redirections. */
    private final URI uri;
    /** How it was answered. */
    private final int status;

    Refused(URI uri, int status) {
      super(uri + " was answered with status " + status);
      this.uri = uri;
      this.status = status;
    }

    /**
     * What was asked for, after all redirections.
     *
     * @return the URI
     */
    public URI uri() {
      return uri;
    }

    /**
     * The status.
     *
     * @return 404, for instance
     */
    public int status() {
      return status;
    }
  }

  /** The limits of a downloader. Immutable and thread-safe. */
  final class Options implements Cloneable {
    // written by `with..` alone, before anybody else has the copy
    int parallel = 8;
    int maxBytes = 1_000_000;
    int tries = 4;
    Duration limit = Duration.ofSeconds(30);
    Duration first = Duration.ofMillis(200);
    Duration most = Duration.ofSeconds(10);
    String userAgent = "fibry";

    Options() {}

    private Options with(Consumer<Options> change) {
      try {
        var copy = (Options) clone();
        change.accept(copy);
        return copy;
      } catch (CloneNotSupportedException impossible) {
        throw new AssertionError(impossible);
      }
    }

    /**
     * How many downloads are at work at once; the others wait.
     *
     * @param downloads at least 1; 8 unless changed
     * @return a changed copy
     */
    public Options withParallel(int downloads) {
      if (downloads < 1) throw new IllegalArgumentException(downloads + " downloads at once are none; give at least 1");
      return with(copy -> copy.parallel = downloads);
    }

    /**
     * The longest download. One that is longer is broken off, and fails.
     *
     * @param bytes at least 1; 1,000,000 unless changed
     * @return a changed copy
     */
    public Options withMaxBytes(int bytes) {
      if (bytes < 1) throw new IllegalArgumentException("downloads of at most " + bytes + " bytes; give at least 1");
      return with(copy -> copy.maxBytes = bytes);
    }

    /**
     * How often one is tried.
     *
     * @param times at least 1, which means never again; 4 unless changed
     * @return a changed copy
     */
    public Options withTries(int times) {
      if (times < 1) throw new IllegalArgumentException(times + " tries are none; give at least 1");
      return with(copy -> copy.tries = times);
    }

    /**
     * How long one may take, all tries and what is between them together, once it was begun.
     *
     * @param limit more than zero; 30 seconds unless changed
     * @return a changed copy
     */
    public Options withLimit(Duration limit) {
      if (!Objects.requireNonNull(limit, "limit").isPositive()) throw new IllegalArgumentException(
          "a limit of " + limit + " leaves no time for a download; give more than zero");
      return with(copy -> copy.limit = limit);
    }

    /**
     * How long to wait before the next try: twice as long each time, by the half less at random.
     *
     * @param first more than zero; 200 milliseconds unless changed
     * @param most at least {@code first}; 10 seconds unless changed
     * @return a changed copy
     */
    public Options withBackOff(Duration first, Duration most) {
      if (!Objects.requireNonNull(first, "first").isPositive())
        throw new IllegalArgumentException("a back-off of " + first + " is none; give more than zero");
      if (Objects.requireNonNull(most, "most").compareTo(first) < 0) throw new IllegalArgumentException(
          "a back-off of " + first + " that grows to " + most + "; let the second be at least the first");
      return with(copy -> {
        copy.first = first;
        copy.most = most;
      });
    }

    /**
     * What it tells servers that it is.
     *
     * @param userAgent "fibry" unless changed
     * @return a changed copy
     */
    public Options withUserAgent(String userAgent) {
      // throws what it cannot send
      HttpRequest.newBuilder().header("User-Agent", Objects.requireNonNull(userAgent, "userAgent"));
      return with(copy -> copy.userAgent = userAgent);
    }
  }
}
