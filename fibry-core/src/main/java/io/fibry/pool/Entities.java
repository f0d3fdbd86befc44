package io.fibry.pool;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorWithReturn;
import io.fibry.Exitable;
import java.time.Duration;
import java.util.function.BiFunction;

/**
 * A set of actors, one for each key. The actor of a key is made at the first use of the key, ended
 * when it is idle, and made again when it is needed. Thread-safe.
 * {@snippet class="io.fibry.EntitiesSnippetsTest" region="entities"}
 *
 * <p>A key has at most one live actor. The first thread that uses the key makes the actor; other
 * threads wait. If {@code birth} throws, all these threads get its exception, and the next use
 * tries again. {@code birth} should only make the actor, and leave slow work to
 * {@code initialState}. A birth may use other keys; if births would wait for each other forever,
 * one of them gets an {@link IllegalStateException}.
 *
 * <p><b>Passivation.</b> An actor is idle when nothing was sent through its address for the idle
 * time and no answer is pending. The clock of the scope measures this time; a
 * {@link io.fibry.time.ManualScheduler} that advances by whole milliseconds measures it exactly. If
 * an answer is still pending then, the actor is idle at most an eighth of the idle time after the
 * answer. A poison pill ends an idle actor. The actor's successor is made after the actor's
 * {@code onStop}, so it can load the state that {@code onStop} has saved. At most a thousand actors
 * end at the same time, or more if no end completes for a second. While an actor ends, each use of
 * the key waits, even {@code sendMessage}. If the end waits for the caller itself, for example
 * because the caller is the actor's {@code onStop}, the caller gets an
 * {@link io.fibry.AskCycleException}. No message is lost, and the messages of one sender keep their
 * order. Timers and watches that an actor sets itself, and messages to itself, do not keep the
 * actor alive, and end with the actor. The {@code self()} of its context is valid only for this
 * actor. The address of the key is also valid for the successors. An actor that must stay alive for
 * a job, although nobody uses it, sends a request to its own address, and answers when the job is
 * over.
 *
 * <p>If an actor ends for another reason than passivation, the next use waits for the end and makes
 * the successor. A message that is sent shortly before an actor ends by itself may still reach this
 * actor, and is then undelivered. If an actor is ended through its address while it is being made,
 * it ends as soon as it is made. Threads that wait for it use this actor or its successor.
 *
 * <p>The end of the entities ends all their actors in the same way, and waits for them. After that,
 * addresses behave like ended actors. {@link #close} from a handler of one of the actors does not
 * wait. When the scope is closed, the entities end after its servers, and after all members of the
 * scope that were made later than the entities. Until then actors can be born. The actors of a
 * named builder have names: "accounts" makes "accounts/7".
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
   * @param builder passed to {@code birth}; the entities use the clock of its scope, and end with
   * this scope
   * @param idleTime time without use after which an actor is ended, at most 1 ms later
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
   * @param builder passed to {@code birth}; the entities use the clock of its scope, and end with
   * this scope
   * @param idleTime time without use after which an actor is ended, at most 1 ms later
   * @param birth makes a key's actor with the builder; runs for different keys at the same time
   * @return the entities; no actor is alive yet
   */
  static <K, M, R, B> WithReturn<K, M, R> openWithReturn(ActorBuilder<B> builder, Duration idleTime,
      BiFunction<ActorBuilder<B>, K, ActorWithReturn<M, R>> birth) {
    return new DefaultEntities<>(builder, idleTime, birth);
  }

  /**
   * Returns the address of a key. The methods that end the actor or wait for its end, and
   * {@code closeOnExit}, apply to the live actor, if any. A wait for the end of an actor that is
   * being made also waits until it exists. If an address is subscribed to a topic, the subscription
   * lasts as long as the entities do. Addresses of equal keys are equal.
   *
   * <p>Timers belong to the address; their messages count as uses of the key. A repeating timer
   * skips messages while the actor is being made. While one of its messages waits for capacity of
   * the mailbox, the timer stores at most one more message.
   *
   * @param key never null
   * @return the address, valid as long as the entities live; cheap to make
   */
  Actor<M> actor(K key);

  /**
   * Returns how many actors are alive.
   *
   * @return the number of actors, including actors that are being made or are ending. An actor that
   * ended by itself counts until its key is used again or the idle time is over
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
