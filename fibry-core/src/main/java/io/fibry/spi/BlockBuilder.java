package io.fibry.spi;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorScope;
import io.fibry.DeadLetter;
import io.fibry.RequestException;
import io.fibry.Strategy;
import io.fibry.TextContextPropagator;
import io.fibry.mailbox.Mailbox;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.Predicate;

/**
 * The view of a builder that building blocks have: its settings, and copies that programs do not
 * need.
 *
 * @param <M> messages
 */
public interface BlockBuilder<M> extends ActorBuilder<M> {

  /**
   * {@return the same builder, as authors of blocks see it}
   *
   * @param builder made by a scope, or by a block such as {@code RateLimit}
   * @param <M> messages
   * @throws IllegalArgumentException if the builder was not made by this library
   */
  static <M> BlockBuilder<M> of(ActorBuilder<M> builder) {
    if (Objects.requireNonNull(builder, "builder") instanceof BlockBuilder<M> known) return known;
    throw new IllegalArgumentException("a builder of class " + builder.getClass().getName()
        + " is not of this library; blocks take builders that ActorScope or ActorSystem made");
  }

  /**
   * {@return a copy that makes pools: actors of several workers with one mailbox} Programs
   * use {@code Pools}.
   *
   * @param <N> messages
   * @param sharing how they share it
   * @throws IllegalArgumentException if these are pools already
   */
  <N extends M> BlockBuilder<N> pooled(PoolPolicy<? super N> sharing);

  /** {@return whether it makes pools} */
  boolean isPooled();

  /**
   * {@return a copy for a part of the block} Its name is the name of the builder with the part:
   * "orders" becomes "orders/3". A builder without a name stays without one.
   *
   * @param part the name below
   */
  BlockBuilder<M> child(String part);

  /**
   * {@return this builder if it has a name, or a copy with the default name}
   *
   * @param otherwise the default name
   * @throws IllegalArgumentException if the default is needed, and is not a valid name
   */
  BlockBuilder<M> defaultName(String otherwise);

  /** {@return the name, if any} */
  Optional<String> name();

  /** {@return the strategy of actors made now} */
  Strategy strategy();

  /** {@return the mailbox of actors made now} */
  Mailbox<? super M> mailbox();

  /**
   * {@return a copy with this mailbox, unless this builder or its scope was given one}
   *
   * @param otherwise the default
   */
  BlockBuilder<M> defaultMailbox(Mailbox<Object> otherwise);

  /** {@return the clock of the scope} */
  Scheduler scheduler();

  /** {@return the limit of an {@code ask} without one, by the scope's options} */
  Duration askLimit();

  /** {@return whether logs and errors may say what messages do, by the scope's options} */
  boolean mayShowMessages();

  /**
   * {@return what a log or an error may say of this message}
   *
   * @param message of a user, whose {@code toString} gets a thread and 50 ms, or a second if it
   *     computes
   */
  String describe(Object message);

  /**
   * {@return how the text of a {@link RequestException} names its request} It is the class of the
   * request, or a character that becomes the text of the request when the exception is read, as
   * the options of the scope say.
   *
   * @param request that was not answered
   */
  String describeRequest(Object request);

  /**
   * Captures what the scope's carriers take along from this thread.
   *
   * @param to will be sent the message
   * @param message will be sent later, on another thread
   * @return runs code on the calling thread, with what was captured set there
   */
  Executor contextExecutor(Actor<?> to, Object message);

  /**
   * Captures what each {@link TextContextPropagator} of the scope takes along from this thread,
   * for a message that leaves the process.
   *
   * @param to will be sent the message
   * @param message is sent
   * @return printable ASCII, of at most 2,048 bytes; empty: nothing
   */
  String contextText(Actor<?> to, Object message);

  /**
   * Lets a message from outside of the process find what its sender had.
   *
   * @param to will be sent the message
   * @param message has arrived
   * @param text as {@link #contextText} returned it there
   * @return runs code on the calling thread, with what the text says set there
   */
  Executor contextExecutor(Actor<?> to, Object message, String text);

  /** {@return the scope that the actors are made in} */
  ActorScope scope();

  /**
   * {@return a copy that makes its actors in a new scope inside this one} A block uses it to make
   * actors while a close drains others: the inner scope takes new actors until its own turn to
   * close. A failure that its actors escalate goes to the outer scope. The inner scope is kept in
   * memory only where the root scope would keep an actor of this builder.
   *
   * @param kind the scope's name, if this builder has none
   * @throws IllegalStateException if the scope around is closed
   */
  BlockBuilder<M> inNewScope(String kind);

  /**
   * {@return a copy whose actors are outside of the scope} They have the scope's options, and
   * their dead letters go to the scope, but they are not its members: the scope neither lists,
   * keeps nor ends them. Several may have the same name, and they can be made after the end of
   * the scope.
   */
  BlockBuilder<M> inOuterScope();

  /**
   * {@return a copy for doors to the outside: a closing scope sends them their pill before it
   * waits for any member}
   */
  BlockBuilder<M> closesFirst();

  /**
   * {@return a copy for the inside of a block} The messages of its actors count neither as sent
   * nor as handled, because no user sent them. A message that they do not handle counts all the
   * same; a task does not.
   */
  BlockBuilder<M> excludedFromAccounts();

  /**
   * {@return a copy whose actors write to a client outside of the process} A message that is lost
   * because the client has disconnected counts as {@link DeadLetter.Reason#DISCONNECTED}: after
   * the actor's end, or when the handler throws an IOException.
   *
   * @param own whether a message is the block's own, such as a ping: lost, it is no dead letter
   * and does not count
   */
  BlockBuilder<M> countLostAsDisconnected(Predicate<Object> own);
}
