package io.fibry.nats;

import io.fibry.store.Store;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Objects;
import java.util.function.UnaryOperator;

/**
 * A store in a stream of JetStream, on servers of NATS. Several stores, also of different
 * processes, may have one stream open. For each actor, only the store that read it last stores
 * turns. Thread-safe.
 *
 * {@snippet :
 * var servers = "nats://n1:4222,nats://n2:4222,nats://n3:4222";
 * var network = NatsNetwork.connectTo(servers).withReplicas(3);
 * try (var store = NatsStore.open(network, "bank")) {
 *   ..
 * }
 * }
 *
 * <p>Each actor stores one message at a time, with all its waiting turns. A turn, and what it
 * sends, are stored together or not at all; at most 999 messages can be sent by one.
 *
 * <p>It is as safe as the servers are. By default they force data to disk every two minutes only,
 * so a store on one server survives the end of its process, but not a loss of power. With three
 * servers, of which two stay, no turn is lost.
 *
 * <p>While the servers do not answer, turns and messages wait for the limit. After that they are
 * refused; some of them {@link io.fibry.store.StoreException#outcome may be stored} all the same,
 * and the actors read the stored state.
 */
public abstract sealed class NatsStore implements Store permits StreamStore {

  NatsStore() {}

  /**
   * Opens a store. Where its stream is missing, it makes one.
   *
   * @param network its servers, and on how many of them it is kept
   * @param app whose it is: 1 to 64 lower-case letters, digits and hyphens, a letter first
   * @return the store; close it
   * @throws io.fibry.cluster.TransportException if there is no connection, or the servers refuse it
   * @throws IllegalStateException if the existing stream was made with other options, or the
   * servers are too old
   */
  public static NatsStore open(NatsNetwork network, String app) {
    return open(network, app, options -> options);
  }

  /**
   * Opens a store with options.
   *
   * @param network its servers, and on how many of them it is kept
   * @param app whose it is
   * @param options changes the usual ones
   * @return the store; close it
   */
  public static NatsStore open(NatsNetwork network, String app, UnaryOperator<Options> options) {
    var chosen = options.apply(Options.DEFAULT);
    return Objects.requireNonNull(network, "network").openStore(app, chosen);
  }

  /**
   * Options of a store. Immutable.
   *
   * @param maxPendingBytes bytes of turns that may wait to be stored: further senders wait
   * @param requestLimit how long something is tried again
   * @param pollInterval how often readers of the history look for turns of other stores
   * @param clock says when messages are due
   */
  public record Options(int maxPendingBytes, Duration requestLimit, Duration pollInterval, InstantSource clock) {
    private static final int MIN_PENDING_BYTES = 4096;
    private static final Duration MAX_DURATION = Duration.ofHours(1);
    private static final Duration MAX_REQUEST_LIMIT = Duration.ofMinutes(1); // ids are known for two
    static final Options DEFAULT =
        new Options(64 << 20, Duration.ofSeconds(30), Duration.ofSeconds(1), InstantSource.system());

    /** Checks them. */
    public Options {
      if (maxPendingBytes < MIN_PENDING_BYTES)
        throw new IllegalArgumentException(
            "room for " + maxPendingBytes + " bytes; give " + MIN_PENDING_BYTES + " or more");
      check("a limit", requestLimit, MAX_REQUEST_LIMIT);
      check("a poll", pollInterval, MAX_DURATION);
      Objects.requireNonNull(clock, "clock");
    }

    private static void check(String what, Duration time, Duration longest) {
      if (time.compareTo(longest) > 0 || time.toMillis() < 1) throw new IllegalArgumentException(
          what + " of " + time + "; give a millisecond to " + longest.toSeconds() + " seconds");
    }

    /**
     * Sets the room for turns that wait to be stored.
     *
     * @param bytes by default 64 MiB; a turn must fit into it
     * @return a changed copy
     */
    public Options withMaxPendingBytes(int bytes) {
      return new Options(bytes, requestLimit, pollInterval, clock);
    }

    /**
     * How long something is tried again while the servers do not answer, or elect a leader.
     *
     * @param longest by default 30 seconds, and at most a minute
     * @return a changed copy
     */
    public Options withRequestLimit(Duration longest) {
      return new Options(maxPendingBytes, longest, pollInterval, clock);
    }

    /**
     * How often readers of the history look for turns of other stores. Those of this one they see
     * at once.
     *
     * @param period by default a second
     * @return a changed copy
     */
    public Options withPollInterval(Duration period) {
      return new Options(maxPendingBytes, requestLimit, period, clock);
    }

    /**
     * The clock that says when messages are due.
     *
     * @param time by default the clock of the system
     * @return a changed copy
     */
    public Options withClock(InstantSource time) {
      return new Options(maxPendingBytes, requestLimit, pollInterval, time);
    }
  }
}
