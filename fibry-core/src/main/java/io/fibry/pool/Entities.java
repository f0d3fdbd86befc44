package io.fibry.pool;

import io.fibry.Actor;
import io.fibry.Exitable;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.function.Function;

/**
 * An actor per key: made at first use, ended when idle, made again when needed. Thread-safe.
 * {@snippet class="io.fibry.EntitiesSnippetsTest" region="entities"}
 *
 * <p>A key has at most one live actor. The first thread that uses the key makes it; others wait.
 * All get what {@code birth} throws, and the next use tries again. Let {@code birth} only make the
 * actor, and leave slow work to {@code initialState}. It may use other keys; if births would wait
 * for each other forever, one gets an {@link IllegalStateException}.
 *
 * <p><b>Passivation.</b> An actor is idle when nothing was sent through its address for the idle
 * time and no answer is pending. A poison pill ends it; its successor is made after its
 * {@code onStop}, and can load what it saved. At most a thousand actors end at the same time. A use
 * of the key waits for that end, even {@code sendMessage}; a caller that the end waits for, such as
 * {@code onStop}, gets an {@link io.fibry.AskCycleException}. No message is lost, and those of one
 * sender keep their order. An actor's timers, and messages to itself, do not keep it alive. Its
 * {@code self()} is valid for one life, its address for all.
 *
 * <p>An actor that ends otherwise has a successor at the next use; uses during that end are
 * answered as ended actors answer.
 *
 * <p>Ending the entities ends their actors in the same way, and waits for all. Afterwards addresses
 * answer like ended actors. {@link #close} from one of their handlers does not wait.
 *
 * @param <K> keys; equal keys have one actor
 * @param <M> messages
 */
public interface Entities<K, M> extends Exitable {

  /**
   * Entities on the system's clock.
   *
   * @param <K> keys
   * @param <M> messages
   * @param idle the idle time, exceeded by an eighth and 2 ms at most
   * @param birth makes a key's actor; different keys at the same time
   * @return entities, none alive
   */
  static <K, M> Entities<K, M> of(Duration idle, Function<K, Actor<M>> birth) {
    return of(idle, Scheduler.system(), birth);
  }

  /**
   * Entities on another clock.
   *
   * @param <K> keys
   * @param <M> messages
   * @param idle the idle time, exceeded by an eighth and 2 ms at most
   * @param clock also for timers set through addresses
   * @param birth makes a key's actor; different keys at the same time
   * @return entities, none alive
   */
  static <K, M> Entities<K, M> of(Duration idle, Scheduler clock, Function<K, Actor<M>> birth) {
    return new LiveEntities<>(idle, clock, birth);
  }

  /**
   * The address of a key. Ending, waiting for the end, and {@code closeOnExit} concern the live
   * actor, if any. Addresses of equal keys are equal.
   *
   * <p>Timers belong to the address; their messages count as use. A repeating timer skips messages
   * while the actor is being made. While one waits for room in the mailbox, one more is kept.
   *
   * @param key never null
   * @return valid as long as the entities live; cheap
   */
  Actor<M> actor(K key);

  /**
   * How many actors are alive.
   *
   * @return with those being made or ending, and ended ones until they are used or idle
   */
  long size();

  @Override
  Entities<K, M> closeOnExit(AutoCloseable... resources);
}
