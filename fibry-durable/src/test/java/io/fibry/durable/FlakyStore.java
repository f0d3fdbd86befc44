package io.fibry.durable;

import io.fibry.store.StaleLifeException;
import io.fibry.store.Store;
import io.fibry.store.StoreUnconfirmedException;
import io.fibry.store.StoreException;
import io.fibry.store.StoreReadException;
import io.fibry.store.StoreWriteException;
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.Intercepted;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A store that forwards calls to another store. At random it fails a read, refuses a write, or
 * loses the response to a write, which may be stored or not. Thread-safe.
 */
final class FlakyStore {
  private static final Set<String> READS = Set.of("load", "pending", "forEachPending", "dueTime", "nextDueTime",
      "hasUnfinishedCopy");

  /** How a write fails. */
  enum WriteFault {
    /** The write is not stored, and the store reports that. */
    REFUSED,
    /** The write is not stored, and the caller gets no response. */
    LOST_UNSTORED,
    /** The write is stored, and the caller gets no response. */
    LOST_STORED
  }

  private final StoreBackend store;
  private final Random random;
  private final Map<Store.ActorId, Long> endedLives = new ConcurrentHashMap<>(); // lives that store no more turns
  private final Map<String, WriteFault> nextFaults = new ConcurrentHashMap<>(); // by method: how its next call fails
  private volatile int oneIn; // on average one of this many calls fails; 0 means no call

  FlakyStore(StoreBackend store, Random random) {
    this.store = store;
    this.random = random;
  }

  /** Lets one of this many calls fail on average, or no call if the number is 0. */
  void failOneIn(int calls) {
    oneIn = calls;
  }

  /** Lets the next call of this method fail. */
  void failNext(String method, WriteFault fault) {
    nextFaults.put(method, fault);
  }

  StoreBackend asStore() {
    return Intercepted.of(StoreBackend.class, store, this::handle);
  }

  /** Returns how this call fails, or empty if it succeeds. */
  private Optional<WriteFault> fault(String method) {
    var nextFault = nextFaults.remove(method);
    int calls = oneIn;
    return nextFault != null ? Optional.of(nextFault)
        : calls > 0 && random.nextInt(calls) == 0 ? Optional.of(WriteFault.values()[random.nextInt(3)])
            : Optional.empty();
  }

  private Object handle(Method method, Object[] arguments, Intercepted.Call storeCall) throws Throwable {
    String name = method.getName();
    if (name.equals("append")) return append((StoreBackend.Turn) arguments[0]);
    if (name.equals("enqueue"))
      return call(fault(name), () -> store.enqueue((StoreBackend.PendingMessage) arguments[0], (int) arguments[1]));
    if (READS.contains(name) && fault(name).isPresent())
      throw new StoreReadException("nothing can be read, as the test has asked for", null);
    return storeCall.pass();
  }

  /**
   * Forwards a turn. If a turn was refused, or its response was lost, all later turns of its life
   * are refused.
   */
  private synchronized CompletionStage<?> append(StoreBackend.Turn turn) {
    if (Long.valueOf(turn.life()).equals(endedLives.get(turn.actor())))
      return CompletableFuture.failedFuture(new StaleLifeException(turn.actor(), turn.number()));
    var fault = fault("append");
    if (fault.isPresent()) endedLives.put(turn.actor(), turn.life());
    return call(fault, () -> store.append(turn));
  }

  private interface Call {
    CompletionStage<?> call();
  }

  private static CompletionStage<?> call(Optional<WriteFault> fault, Call call) {
    if (fault.isEmpty()) return call.call();
    return switch (fault.get()) {
      case REFUSED -> CompletableFuture.failedFuture(
          new StoreWriteException("refused, as the test has asked for", null));
      case LOST_UNSTORED -> CompletableFuture.failedFuture(lost());
      case LOST_STORED -> call.call().handle((stored, failure) -> {
        throw lost();
      });
    };
  }

  private static StoreException lost() {
    return new StoreUnconfirmedException("the answer is lost, as the test has asked for");
  }
}
