package io.fibry.nats;

import io.fibry.store.Store;
import io.fibry.store.spi.WriteInbox;
import io.fibry.text.Durations;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Objects;
import java.util.function.UnaryOperator;

/**
 * A store in a stream of JetStream, on servers of NATS. Several stores, also of different
 * processes, may have one stream open. For each actor, only the store that loaded it last can store
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
 * <p>For each actor, one write is in flight at a time, with all turns that wait. A turn and the
 * messages that it sends are stored together or not at all. One turn can send at most 999 messages.
 *
 * <p>A store is as safe as its servers. NATS syncs data to disk only every two minutes by default.
 * So a store on one server survives the end of the server's process, but not a loss of power. With
 * three servers, no turn is lost as long as two of them work.
 *
 * <p>While the servers do not answer, turns and messages wait, at most for the request limit. After
 * that they are refused. Some of them {@link io.fibry.store.StoreException#outcome may be stored}
 * nevertheless, so the actors read the stored state again.
 */
public abstract sealed class NatsStore implements Store permits StreamStore {

  NatsStore() {}

  /**
   * Opens a store, and creates its stream if that does not exist.
   *
   * @param network the servers, and the number of replicas
   * @param app the name of the app: 1 to 64 lower-case letters, digits and hyphens, a letter first
   * @return the store; close it
   * @throws io.fibry.cluster.TransportException if there is no connection, or the servers refuse it
   * @throws IllegalStateException if the existing stream was made with other options, or the
   * servers are too old
   */
  public static NatsStore open(NatsNetwork network, String app) {
    return open(network, app, options -> options);
  }

  /**
   * Opens a store with changed options, and creates its stream if that does not exist.
   *
   * @param network the servers, and the number of replicas
   * @param app the name of the app
   * @param options changes the default options
   * @return the store; close it
   */
  public static NatsStore open(NatsNetwork network, String app, UnaryOperator<Options> options) {
    var chosenOptions = options.apply(Options.DEFAULT);
    return Objects.requireNonNull(network, "network").connector().openStore(NatsNetwork.checkedApp(app), chosenOptions);
  }

  /**
   * Options of a store. Immutable.
   *
   * @param maxPendingBytes max bytes of turns and messages that are being stored; further senders
   * wait
   * @param requestLimit how long a read or write is repeated while servers do not answer
   * @param pollInterval how often readers of the history look for turns of other stores
   * @param clock says when messages are due
   */
  public record Options(int maxPendingBytes, Duration requestLimit, Duration pollInterval, InstantSource clock) {
    private static final Duration MAX_DURATION = Duration.ofHours(1);
    private static final Duration MAX_REQUEST_LIMIT = Duration.ofMinutes(1); // servers remember ids for two minutes
    static final Options DEFAULT =
        new Options(64 << 20, Duration.ofSeconds(30), Duration.ofSeconds(1), InstantSource.system());

    /** Checks the options. */
    public Options {
      WriteInbox.checkMaxPendingBytes(maxPendingBytes);
      check("a request limit", requestLimit, MAX_REQUEST_LIMIT);
      check("a poll interval", pollInterval, MAX_DURATION);
      Objects.requireNonNull(clock, "clock");
    }

    private static void check(String description, Duration duration, Duration max) {
      if (duration.compareTo(max) > 0 || duration.toMillis() < 1) throw new IllegalArgumentException(
          description + " of " + Durations.text(duration) + "; give a millisecond to " + max.toSeconds() + " seconds");
    }

    /**
     * Sets how many bytes of turns and messages may be pending. Further senders wait.
     *
     * @param bytes by default 64 MiB; a turn must fit into it
     * @return a changed copy
     */
    public Options withMaxPendingBytes(int bytes) {
      return new Options(bytes, requestLimit, pollInterval, clock);
    }

    /**
     * Sets how long a read or write is repeated while the servers do not answer, or elect a leader.
     *
     * @param limit by default 30 seconds, and at most a minute
     * @return a changed copy
     */
    public Options withRequestLimit(Duration limit) {
      return new Options(maxPendingBytes, limit, pollInterval, clock);
    }

    /**
     * Sets how often readers of the history look for turns of other stores. They see turns of this
     * store at once.
     *
     * @param interval by default a second
     * @return a changed copy
     */
    public Options withPollInterval(Duration interval) {
      return new Options(maxPendingBytes, requestLimit, interval, clock);
    }

    /**
     * Sets the clock that says when messages are due.
     *
     * @param clock by default the clock of the system
     * @return a changed copy
     */
    public Options withClock(InstantSource clock) {
      return new Options(maxPendingBytes, requestLimit, pollInterval, clock);
    }
  }
}
