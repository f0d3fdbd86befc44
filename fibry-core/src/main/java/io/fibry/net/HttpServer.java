package io.fibry.net;

import io.fibry.ActorBuilder;
import io.fibry.Exitable;
import io.fibry.net.http.HttpListener;
import io.fibry.text.Durations;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * A running HTTP/1.1 server. Each connection has an actor, which handles the exchanges of the
 * connection one after the other. With {@code Strategy.CALLER} there is one connection at a time.
 * Thread-safe.
 *
 * <p>If a handler throws a {@code MailboxFullException}, {@code ActorStoppedException},
 * {@code CircuitOpenException}, or another exception of a request that was not handled, the
 * response is 503 with {@code Retry-After: 1}. After an {@code AskTimeoutException}, or if a stored
 * request is not answered in time, the response is 504: see {@link HttpException#statusOf}. A
 * handler that exceeds the {@linkplain HttpRoutes#withTimeLimit time limit} of its route gets 504,
 * too. After
 * any other exception the response is 500. A response with 504 or 500 has a number that is also in
 * the log. The failure policy of the builder is not applied. Rules of {@link HttpRoutes} come
 * first.
 *
 * <p>{@code sendPoisonPill}, {@code close} and {@code askExit} close idle connections and let
 * exchanges finish within the drain limit; {@code kill} cuts all connections off. A scope that
 * closes ends its servers first.
 *
 * <p>HTTP/2, compression and multipart are not supported: use a proxy, or another server.
 * {@snippet class="io.fibry.HttpSnippetsTest" region="server"}
 */
public interface HttpServer extends Exitable {

  /**
   * Opens a server.
   *
   * @param builder makes the actors
   * @param port 0 for any free port
   * @param routes the routes of the server
   * @param options changes the limits
   * @return the listening server
   * @throws java.io.UncheckedIOException if the server cannot listen on this port
   */
  static HttpServer open(ActorBuilder<?> builder, int port, HttpRoutes routes, UnaryOperator<HttpOptions> options) {
    Objects.requireNonNull(builder, "builder");
    Objects.requireNonNull(routes, "routes");
    return HttpListener.open(builder, port, routes.table, HttpOptions.settings(options));
  }

  /** {@return the port on which the server listens; if 0 was given, the port that was chosen} */
  int port();

  /**
   * Counts and times the exchanges of a route. An exchange that becomes a WebSocket counts as over
   * when the WebSocket begins, with the status 101. An exchange with an event stream is over when
   * its client has disconnected.
   *
   * @param route the route as it was given, below the path at which it is mounted; empty for
   * malformed requests and requests without a route
   * @param responses exchanges that are over, by their status
   * @param times how long these exchanges took, from the first byte of a request until its response
   * was written
   * @param timesByOutcome the same times, separately for each outcome
   * @param openWebSockets WebSockets that are open now
   */
  record RouteStats(String route, ResponseCounts responses, ResponseTimes times,
      Map<Outcome, ResponseTimes> timesByOutcome, long openWebSockets) {

    /** Keeps a copy of the map. */
    public RouteStats {
      timesByOutcome = Map.copyOf(timesByOutcome);
    }

    /** {@return exchanges that are over, with any status} */
    public long answered() {
      return times.count();
    }

    /** {@return exchanges that are over, with a status of 500 or above} */
    public long failed() {
      return responses.serverErrors() + responses.unavailable();
    }

    /** {@return the sum of the times of all exchanges that are over} */
    public Duration totalTime() {
      return times.total();
    }

    /**
     * {@return the times of the exchanges that succeeded, with the outcome {@link Outcome#SUCCESS}}
     * During an overload, quick refusals lower the percentiles of all exchanges, but not of these.
     * {@snippet class="io.fibry.HttpSnippetsTest" region="percentile"}
     */
    public ResponseTimes successTimes() {
      return timesByOutcome.getOrDefault(Outcome.SUCCESS, new ResponseTimes(List.of(), 0, Duration.ZERO));
    }
  }

  /** The outcome of an exchange, by the status of its response. */
  enum Outcome {
    /** The status 101: the exchange became a WebSocket. */
    INFORMATIONAL,
    /** A status from 200 to 299. */
    SUCCESS,
    /** A status from 300 to 399. */
    REDIRECTION,
    /** A status from 400 to 499. */
    CLIENT_ERROR,
    /** A status of 500 or above, except 503: in most cases a handler failed or was too late. */
    SERVER_ERROR,
    /**
     * The status 503: the server, a full mailbox or an open circuit breaker refused the request.
     */
    UNAVAILABLE;

    private static final int REFUSED = 503;

    /**
     * {@return the outcome of an exchange whose response has this status}
     *
     * @param status from 100 to 599
     */
    public static Outcome of(int status) {
      if (status < 200) return INFORMATIONAL;
      if (status < 300) return SUCCESS;
      if (status < 400) return REDIRECTION;
      if (status < 500) return CLIENT_ERROR;
      return status == REFUSED ? UNAVAILABLE : SERVER_ERROR;
    }
  }

  /**
   * The numbers of responses by their status.
   *
   * @param upgraded responses with the status 101, each of which began a WebSocket
   * @param successful responses with a status from 200 to 299
   * @param redirected responses with a status from 300 to 399
   * @param clientErrors responses with a status from 400 to 499
   * @param serverErrors responses with a status of 500 or above, except 503
   * @param timedOut responses with the status 504, which the server errors include, too: in most
   * cases the limit of an {@code ask}, or the time limit of the route, was over
   * @param unavailable responses with the status 503: the server, a full mailbox or an open circuit
   * breaker refused the request
   */
  record ResponseCounts(long upgraded, long successful, long redirected, long clientErrors, long serverErrors,
      long timedOut, long unavailable) {}

  /**
   * The times of exchanges, as a histogram: for each bound, the number of exchanges that took at
   * most so long. Histograms of several servers can be added, which percentiles cannot.
   *
   * @param buckets the bounds in ascending order, with their counts; all routes have equal bounds
   * @param count all exchanges, including exchanges above the last bound
   * @param total the sum of the times
   */
  record ResponseTimes(List<TimeBucket> buckets, long count, Duration total) {

    /** Keeps a copy of the list. */
    public ResponseTimes {
      buckets = List.copyOf(buckets);
      Objects.requireNonNull(total, "total");
    }

    /**
     * Estimates the time within which a fraction of the exchanges ended. The estimate assumes that
     * the times in a bucket are spread evenly.
     * {@snippet class="io.fibry.HttpSnippetsTest" region="percentile"}
     *
     * @param fraction from 0 to 1, such as 0.99 for the 99th percentile
     * @return at most the last bound; zero if there was no exchange
     */
    public Duration percentile(double fraction) {
      if (!(fraction >= 0 && fraction <= 1)) throw new IllegalArgumentException(
          "there is no percentile for the fraction " + fraction + "; give 0 to 1, such as 0.99");
      double rank = fraction * count;
      var lowerBound = Duration.ZERO;
      long countBelow = 0;
      for (var bucket : buckets) {
        if (bucket.count > countBelow && bucket.count >= rank) return lowerBound.plusNanos((long) (bucket.bound
            .minus(lowerBound).toNanos() * (rank - countBelow) / (bucket.count - countBelow)));
        lowerBound = bucket.bound;
        countBelow = bucket.count;
      }
      return count == 0 ? Duration.ZERO : lowerBound;
    }

    /**
     * {@return the sum of both histograms}
     *
     * @param other a histogram with equal bounds
     * @throws IllegalArgumentException if the bounds differ
     */
    public ResponseTimes plus(ResponseTimes other) {
      if (!bounds().equals(other.bounds())) throw new IllegalArgumentException(
          "a histogram with " + other.buckets.size() + " buckets up to " + Durations.text(other.lastBound())
              + " cannot be added to a histogram with " + buckets.size() + " buckets up to "
              + Durations.text(lastBound()) + "; give histograms with equal bounds");
      var sums = new ArrayList<TimeBucket>();
      for (int i = 0; i < buckets.size(); i++)
        sums.add(new TimeBucket(buckets.get(i).bound, buckets.get(i).count + other.buckets.get(i).count));
      return new ResponseTimes(sums, count + other.count, total.plus(other.total));
    }

    private List<Duration> bounds() {
      return buckets.stream().map(TimeBucket::bound).toList();
    }

    private Duration lastBound() {
      return buckets.isEmpty() ? Duration.ZERO : buckets.getLast().bound;
    }
  }

  /**
   * A bucket of a histogram of times.
   *
   * @param bound the maximum time that the bucket counts
   * @param count exchanges that took at most so long, including the exchanges of lower buckets
   */
  record TimeBucket(Duration bound, long count) {}

  /** {@return the counts and times of each route since the server was opened} */
  List<RouteStats> stats();

  /**
   * An exchange with a status of 500 or above that an exception has caused.
   *
   * @param route the route, as in {@link RouteStats}
   * @param time when the exchange was over, by the clock of the machine
   * @param status the status of the response
   * @param number the number by which the log names the failure; empty if the log does not have it,
   * as with most refusals (503)
   * @param type the name of the class of the exception
   * @param message the text of the exception, cut if it is long. Empty if there is none, or if the
   * scope hides the contents of messages
   * @param stack where the exception was made, the newest call first, at most 50 calls
   */
  record RouteFailure(String route, Instant time, int status, Optional<String> number, String type,
      Optional<String> message, List<StackTraceElement> stack) {

    /** Keeps a copy of the list. */
    public RouteFailure {
      stack = List.copyOf(stack);
    }
  }

  /**
   * {@return the last failures of each route, the newest first} For each route, these are the last
   * refusal (503) that is not in the log, the last with the status 504, and the last of all others.
   * Thus a flood of refusals hides no other failure. A refusal of the full server counts as such a
   * 503. A response whose handler has set such a status without an exception has no entry. When the
   * server has ended, the list is empty, because an exception may keep objects in memory.
   */
  List<RouteFailure> lastFailures();

  /**
   * The load of a server at one moment.
   *
   * @param working exchanges whose handlers are at work; probes and WebSockets are not counted
   * @param waiting further exchanges, which wait for their clients to send or read
   * @param maxExchanges how many exchanges may be at work ({@link HttpOptions#withMaxExchanges})
   * @param connections open connections, with idle connections and WebSockets
   * @param cutOffClients clients that were cut off because they exceeded a limit, such as clients
   * that did not read. A client counts when its connection is closed and its handler has ended; the
   * closing of idle connections does not count
   */
  record ServerLoad(int working, int waiting, int maxExchanges, int connections, long cutOffClients) {}

  /** {@return the load of the server now, and how many clients it has cut off} */
  ServerLoad load();

  /** Code that is called at the end of each exchange, by {@link #onExchangeEnd}. */
  @FunctionalInterface
  interface ExchangeListener {

    /**
     * Called when an exchange is over. Runs on the thread of the connection, before its next
     * exchange, so it must be quick. If it throws, the exception is logged.
     *
     * @param exchange the exchange that is over
     */
    void exchangeEnded(EndedExchange exchange);
  }

  /**
   * An exchange that is over.
   *
   * @param route the route, as in {@link RouteStats}
   * @param method the method of the request, as the client has sent it, even if the server does not
   * know it; empty if the request line is malformed
   * @param scheme {@code https} or {@code http}, as in {@link HttpExchange#scheme}
   * @param status the status of the response; 101 if the exchange became a WebSocket
   * @param duration from the first byte of the request until the response was written
   */
  record EndedExchange(String route, String method, String scheme, int status, Duration duration) {

    /** {@return the outcome of the exchange, by its status} */
    public Outcome outcome() {
      return Outcome.of(status);
    }
  }

  /** The registration of a listener by {@link #onExchangeEnd}. */
  interface ExchangeHook extends AutoCloseable {

    /** Removes the listener. Calls that have begun continue. */
    @Override
    void close();
  }

  /**
   * Calls a listener at the end of each exchange from now on, for example to record the times in a
   * library for metrics.
   *
   * @param listener the code to call
   * @return the registration, which can be cancelled
   */
  ExchangeHook onExchangeEnd(ExchangeListener listener);

  @Override
  HttpServer closeOnExit(AutoCloseable... resources);
}
