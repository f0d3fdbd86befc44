package io.fibry.durable;

import io.fibry.store.StaleLifeException;
import io.fibry.store.Store;
import io.fibry.store.StoreBusyException;
import io.fibry.store.StoreException;
import io.fibry.store.StoreReadException;
import io.fibry.store.StoreWriteException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A store in front of another one, of any kind. A store in front of another one. By chance it
 * refuses a call, or loses the answer of the other store, which may have stored the call or not.
 * Thread-safe.
 */
final class FlakyStore implements InvocationHandler {
  private static final Set<String> READS = Set.of("load", "pending", "forEachPending", "dueTime", "nextDueTime");

  /** How a write fails. */
  enum How {
    /** The call is not stored, and the store reports that. */
    REFUSED,
    /** It is not stored, and the caller cannot know it. */
    LOST_BEFORE,
    /** It is stored, and the caller cannot know it. */
    LOST_BEHIND
  }

  private final Store store;
  private final Random dice;
  private final Map<Store.ActorId, Long> over = new ConcurrentHashMap<>(); // lives of which a turn was refused
  private final Map<String, How> next = new ConcurrentHashMap<>(); // by method: its next call fails
  private volatile int oneIn; // one of so many calls fails; 0 for none

  FlakyStore(Store store, Random dice) {
    this.store = store;
    this.dice = dice;
  }

  /** From now on one of so many calls fails; 0 for none. */
  void failOneIn(int many) {
    oneIn = many;
  }

  /** The next call of this method. */
  void failNext(String method, How how) {
    next.put(method, how);
  }

  Store asStore() {
    return (Store) Proxy.newProxyInstance(Store.class.getClassLoader(), new Class<?>[] {Store.class}, this);
  }

  /** Empty if the call does not fail. */
  private Optional<How> fault(String method) {
    var given = next.remove(method);
    int many = oneIn;
    return given != null ? Optional.of(given)
        : many > 0 && dice.nextInt(many) == 0 ? Optional.of(How.values()[dice.nextInt(3)]) : Optional.empty();
  }

  @Override
  public Object invoke(Object proxy, Method method, Object[] given) throws Throwable {
    String name = method.getName();
    if (name.equals("equals")) return proxy == given[0];
    if (name.equals("append")) return append((Store.Turn) given[0]);
    if (name.equals("enqueue"))
      return call(fault(name), () -> store.enqueue((Store.PendingMessage) given[0], (int) given[1]));
    if (READS.contains(name) && fault(name).isPresent())
      throw new StoreReadException("nothing can be read, as the test has asked for", null);
    try {
      return method.invoke(store, given);
    } catch (InvocationTargetException thrown) {
      throw thrown.getCause();
    }
  }

  /** No turn of a life is stored after a turn that was refused, or may have been. */
  private synchronized CompletionStage<?> append(Store.Turn turn) {
    if (Long.valueOf(turn.life()).equals(over.get(turn.actor())))
      return CompletableFuture.failedFuture(new StaleLifeException(turn));
    var fault = fault("append");
    if (fault.isPresent()) over.put(turn.actor(), turn.life());
    return call(fault, () -> store.append(turn));
  }

  private interface Call {
    CompletionStage<?> call();
  }

  private static CompletionStage<?> call(Optional<How> fault, Call call) {
    if (fault.isEmpty()) return call.call();
    return switch (fault.get()) {
      case REFUSED -> CompletableFuture.failedFuture(
          new StoreWriteException("refused, as the test has asked for", null));
      case LOST_BEFORE -> CompletableFuture.failedFuture(lost());
      case LOST_BEHIND -> call.call().handle((stored, failure) -> {
        throw lost();
      });
    };
  }

  private static StoreException lost() {
    return new StoreBusyException("the answer is lost, as the test has asked for");
  }
}
