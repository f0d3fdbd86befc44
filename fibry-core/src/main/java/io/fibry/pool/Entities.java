package io.fibry.pool;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorWithReturn;
import io.fibry.Exitable;
import java.time.Duration;
import java.util.function.BiFunction;

/**
 * An actor per key: made at first use, ended when idle, made again when needed. Thread-safe.
 * {@snippet class="io.fibry.EntitiesSnippetsTest" region="entities"}
 *
 * <p>A key has at most one live actor. The first thread that uses the key makes the actor; other
 * threads wait. If {@code birth} throws, all these threads get its exception, and the next use
 * tries again. Let {@code birth} only make the actor, and leave slow work to {@code initialState}.
 * A birth may use other keys; if births would wait for each other forever, one of them gets an
 * {@link IllegalStateException}.
 *
 * <p><b>Passivation.</b> An actor is idle when nothing was sent through its address for the idle
 * time and no answer is pending. A poison pill ends an idle actor. Its successor is made after its
 * {@code onStop}, and can load the saved state. At most a thousand actors end at the same time, or
 * more if no end completes for a second. While the actor ends, each use of the key waits, even
 * {@code sendMessage}. A caller for which the end waits, such as {@code onStop}, gets an
 * {@link io.fibry.AskCycleException}. No message is lost, and the messages of one sender keep their
 * order. Timers and watches that an actor sets itself, and messages to itself, do not keep it
 * alive, and end with the actor. The {@code self()} of its context is valid for this one actor
 * only; the address of the key is valid also for the successors.
 *
 * <p>If an actor ends for another reason than passivation, the next use makes its successor. While
 * the actor still ends, uses have the same results as with an ended actor. An actor that is ended
 * through its address while it is being made ends as soon as it is made; threads that wait for it
 * use its successor.
 *
 * <p>Ending the entities ends all their actors in the same way, and waits for them. Afterwards
 * addresses behave like ended actors. {@link #close} from a handler of one of the actors does not
 * wait. When the scope is closed, the entities end after the servers of the scope and after
 * everything that was made in the scope later than the entities; until then actors can be born. The
 * actors of a named builder have names: "accounts" makes "accounts/7".
 *
 * @param <K> keys; equal keys have one actor
 * @param <M> messages
 */
public interface Entities<K, M> extends Exitable {

  /**
   * Opens entities of actors.
   *
   * @param <K> keys
   * @param <M> messages
   * @param <B> messages of the builder
   * @param builder passed to {@code birth}; its scope has the clock, and ends the entities
   * @param idleTime time until an idle actor ends; exceeded by an eighth and 2 ms at most
   * @param birth makes a key's actor with the builder; runs for different keys at the same time
   * @return the entities; no actor is alive yet
   */
  static <K, M, B> Entities<K, M> open(ActorBuilder<B> builder, Duration idleTime,
      BiFunction<ActorBuilder<B>, K, Actor<M>> birth) {
    return new DefaultEntities<K, M, Object>(builder, idleTime, birth);
  }

  /**
   * Opens entities of actors that answer each message.
   *
   * @param <K> keys
   * @param <M> messages
   * @param <R> answers
   * @param <B> messages of the builder
   * @param builder passed to {@code birth}; its scope has the clock, and ends the entities
   * @param idleTime time until an idle actor ends; exceeded by an eighth and 2 ms at most
   * @param birth makes a key's actor with the builder; runs for different keys at the same time
   * @return the entities; no actor is alive yet
   */
  static <K, M, R, B> WithReturn<K, M, R> openWithReturn(ActorBuilder<B> builder, Duration idleTime,
      BiFunction<ActorBuilder<B>, K, ActorWithReturn<M, R>> birth) {
    return new DefaultEntities<>(builder, idleTime, birth);
  }

  /**
   * Returns the address of a key. Ending, waiting for the end, and {@code closeOnExit} concern the
   * live actor, if any. A wait for the end of an actor that is being made also waits until it
   * exists. If an address is subscribed to a topic, the subscription lasts as long as the entities
   * do. Addresses of equal keys are equal.
   *
   * <p>Timers belong to the address; their messages count as use. A repeating timer skips messages
   * while the actor is being made. While one message waits for capacity of the mailbox, one more
   * message is kept.
   *
   * @param key never null
   * @return the address, valid as long as the entities live; cheap to make
   */
  Actor<M> actor(K key);

  /**
   * Returns how many actors are alive.
   *
   * @return the number of actors, including actors that are being made or are ending. An actor that
   * ended by itself counts until its key is used or the idle time is over
   */
  long size();

  @Override
  Entities<K, M> closeOnExit(AutoCloseable... resources);

  /**
   * Entities whose actors answer each message. Thread-safe.
   *
   * @param <K> keys; equal keys have one actor
   * @param <M> messages
   * @param <R> answers
   */
  interface WithReturn<K, M, R> extends Entities<K, M> {

    @Override
    ActorWithReturn<M, R> actor(K key);

    @Override
    WithReturn<K, M, R> closeOnExit(AutoCloseable... resources);
  }
}
