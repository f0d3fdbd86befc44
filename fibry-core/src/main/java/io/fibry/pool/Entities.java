package io.fibry.pool;

import io.fibry.Actor;
import io.fibry.Exitable;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.function.Function;

/**
 * An actor for each key: born when its key is first used, ended after nobody has used it for so
 * long, born again when needed. Thread-safe.
 * {@snippet class="io.fibry.EntitiesSnippetsTest" region="entities"}
 *
 * <p>At most one actor of a key lives at a time. Who uses a key first makes its actor, on his own
 * thread, and others wait for it; what {@code birth} throws is thrown to all of them, and the next
 * use tries again. So {@code birth} should only make the actor, and leave what takes long to its
 * {@code initialState}. It may use other keys; where births would wait for each other for ever, one
 * is told by an {@link IllegalStateException}.
 *
 * <p><b>Passivation.</b> An actor is idle if for so long nobody has sent it anything through its
 * address, and no request sent there waits for its answer. It gets a poison pill: it handles what
 * waits and runs its {@code onStop}, and only then may a successor be born, so what the one saves,
 * the other loads. At most a thousand end at once, the others a little later. Who uses the key in
 * between waits for that end: the one wait that {@code sendMessage} knows here beside that for
 * room; who is himself what this end waits for, its {@code onStop} say, gets an
 * {@link io.fibry.AskCycleException}. A message through the address is not lost by passivation, and
 * one sender's keep their order. What an actor sends to itself, or its own timers, do not keep it
 * alive; its own {@code self()} is good for one life, its address for all.
 *
 * <p>An actor that ends by itself, or by its failure policy, has a successor at the next use. A use
 * just then is answered as the ended actor answers.
 *
 * <p>Ending the entities ends all their actors, in the same way; waiting for the end waits for
 * theirs. Afterwards addresses answer like ended actors. {@link #close} from a handler of one of
 * them does not wait.
 *
 * @param <K> the keys; equal keys have one actor
 * @param <M> the messages
 */
public interface Entities<K, M> extends Exitable {

  /**
   * Entities by the clock of the system.
   *
   * @param <K> the keys
   * @param <M> the messages
   * @param idle after how long without use an actor ends; at most an eighth later, and 2
   * milliseconds
   * @param birth makes the actor of a key, of any kind; called by many threads at once, for
   * different keys
   * @return entities, none alive
   */
  static <K, M> Entities<K, M> of(Duration idle, Function<K, Actor<M>> birth) {
    return of(idle, Scheduler.system(), birth);
  }

  /**
   * Entities by another clock, for tests say.
   *
   * @param <K> the keys
   * @param <M> the messages
   * @param idle after how long without use an actor ends; at most an eighth later, and 2
   * milliseconds
   * @param clock tells how long that is, and when timers set through addresses are due
   * @param birth makes the actor of a key, of any kind; called by many threads at once, for
   * different keys
   * @return entities, none alive
   */
  static <K, M> Entities<K, M> of(Duration idle, Scheduler clock, Function<K, Actor<M>> birth) {
    return new LiveEntities<>(idle, clock, birth);
  }

  /**
   * The address of this key's actor, alive or not; for as long as the entities live. Sending to it
   * makes the actor, if need be. Ending it, waiting for its end, or {@code closeOnExit} are about
   * the actor that is alive now: where none is, there is nothing to end and nothing to wait for.
   * Equal for equal keys.
   *
   * <p>Timers set through it are its own, not the actor's: their messages find whoever is alive
   * when they are due, or make one, and count as use. One that repeats leaves out a message while
   * the one before has not reached the actor's mailbox. They end with the entities.
   *
   * @param key never null
   * @return the address; costs next to nothing, and need not be kept
   */
  Actor<M> actor(K key);

  /**
   * How many are alive.
   *
   * @return with those that are being born or ending, and those that ended by themselves, until
   * they are used or idle
   */
  long size();

  @Override
  Entities<K, M> closeOnExit(AutoCloseable... resources);
}
