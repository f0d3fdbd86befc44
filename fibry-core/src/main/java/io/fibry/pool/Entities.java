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
 * <p>A key has at most one live actor. The first thread that uses the key makes it; others wait.
 * All get what {@code birth} throws, and the next use tries again. Let {@code birth} only make the
 * actor, and leave slow work to {@code initialState}. It may use other keys; if births would wait
 * for each other forever, one gets an {@link IllegalStateException}.
 *
 * <p><b>Passivation.</b> An actor is idle when nothing was sent through its address for the idle
 * time and no answer is pending. A poison pill ends it; its successor is made after its
 * {@code onStop}, and can load what it saved. At most a thousand actors end at the same time, or
 * more if none of them ends for a second. A use of the key waits for that end, even
 * {@code sendMessage}; a caller that the end waits for, such as {@code onStop}, gets an
 * {@link io.fibry.AskCycleException}. No message is lost, and the messages of one sender keep their
 * order. An actor's timers and watches, and messages to itself, do not keep it alive, and end with
 * that life. Its {@code self()} is valid for one life, its address for all.
 *
 * <p>An actor that ends otherwise has a successor at the next use; uses during that end are
 * answered as ended actors answer. An actor that is ended through its address while it is being
 * made ends as soon as it is made; those who wait for it use its successor.
 *
 * <p>Ending the entities ends their actors in the same way, and waits for all. Afterwards addresses
 * answer like ended actors. {@link #close} from one of their handlers does not wait. A close of the
 * scope ends them after the scope's servers and what was made in it later; until then actors can be
 * born. The actors of a named builder have names: "accounts" makes "accounts/7".
 *
 * @param <K> keys; equal keys have one actor
 * @param <M> messages
 */
public interface Entities<K, M> extends Exitable {

  /**
   * Entities of actors.
   *
   * @param <K> keys
   * @param <M> messages
   * @param <B> messages of the builder
   * @param builder how births make actors; its scope has the clock, and ends the entities
   * @param idle the idle time, exceeded by an eighth and 2 ms at most
   * @param birth makes a key's actor with the builder; different keys at the same time
   * @return entities, none alive
   */
  static <K, M, B> Entities<K, M> open(ActorBuilder<B> builder, Duration idle,
      BiFunction<ActorBuilder<B>, K, Actor<M>> birth) {
    return new DefaultEntities<K, M, Object>(builder, idle, birth);
  }

  /**
   * Entities of actors that answer.
   *
   * @param <K> keys
   * @param <M> messages
   * @param <R> answers
   * @param <B> messages of the builder
   * @param builder how births make actors; its scope has the clock, and ends the entities
   * @param idle the idle time, exceeded by an eighth and 2 ms at most
   * @param birth makes a key's actor with the builder; different keys at the same time
   * @return entities, none alive
   */
  static <K, M, R, B> WithReturn<K, M, R> openWithReturn(ActorBuilder<B> builder, Duration idle,
      BiFunction<ActorBuilder<B>, K, ActorWithReturn<M, R>> birth) {
    return new DefaultEntities<>(builder, idle, birth);
  }

  /**
   * The address of a key. Ending, waiting for the end, and {@code closeOnExit} concern the live
   * actor, if any. A wait for the end also waits until an actor that is being made exists. A
   * subscription of an address lasts as long as the entities do. Addresses of equal keys are equal.
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
