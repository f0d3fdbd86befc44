package io.fibry.spi;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorScope;
import io.fibry.ContextPropagator;
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
 * A builder of actors for authors of blocks. Such a builder also returns its settings, and makes
 * copies that only blocks need.
 *
 * @param <M> the type of the messages
 */
public interface BlockBuilder<M> extends ActorBuilder<M> {

  /**
   * {@return the same builder, with the methods for authors of blocks}
   *
   * @param builder made by a scope, or by a block such as {@code RateLimit}
   * @param <M> the type of the messages
   * @throws IllegalArgumentException if the builder was not made by this library
   */
  static <M> BlockBuilder<M> of(ActorBuilder<M> builder) {
    if (Objects.requireNonNull(builder, "builder") instanceof BlockBuilder<M> blockBuilder) return blockBuilder;
    throw new IllegalArgumentException("a builder of class " + builder.getClass().getName()
        + " is not of this library; blocks take builders that ActorScope or ActorSystem made");
  }

  /**
   * {@return a copy that makes pools: actors with several workers and one mailbox} Programs use
   * {@code Pools} instead.
   *
   * @param <N> the type of the messages
   * @param spec how the workers share the mailbox
   * @throws IllegalArgumentException if this builder already makes pools
   */
  <N extends M> BlockBuilder<N> pooled(PoolSpec<? super N> spec);

  /** {@return whether this builder makes pools} */
  boolean isPooled();

  /**
   * {@return a copy for an actor that is a part of the block} The name of the part follows the name
   * of this builder: "orders" and "3" become "orders/3". If this builder has no name, the copy has
   * none either.
   *
   * @param part the name of the part
   */
  BlockBuilder<M> child(String part);

  /**
   * {@return this builder if it has a name, or a copy with the default name}
   *
   * @param name the default name
   * @throws IllegalArgumentException if the default is needed, and is not a valid name
   */
  BlockBuilder<M> defaultName(String name);

  /** {@return the name, or empty if this builder has no name} */
  Optional<String> name();

  /** {@return the strategy of the next actor: the builder's own strategy, or else the scope's} */
  Strategy strategy();

  /** {@return the mailbox of the next actor: the builder's own mailbox, or else the scope's} */
  Mailbox<? super M> mailbox();

  /**
   * {@return a copy with this mailbox, or this builder if a mailbox was given to it or to its
   * scope}
   *
   * @param mailbox the default mailbox
   */
  BlockBuilder<M> defaultMailbox(Mailbox<Object> mailbox);

  /** {@return the clock of the scope} */
  Scheduler scheduler();

  /** {@return the ask limit of the scope, for an {@code ask} that is called without a limit} */
  Duration askLimit();

  /** {@return whether the scope lets logs and exceptions show the texts of messages} */
  boolean mayShowMessages();

  /**
   * {@return the text by which a log or an exception may describe this message: its
   * {@code toString} or only its class, as the options of the scope say}
   *
   * @param message a message of a user. Its {@code toString} runs on a thread of its own. If
   * {@code toString} waits for more than 50 ms, or computes for more than a second, the text has
   * only the class
   */
  String describe(Object message);

  /**
   * {@return how the text of a {@link RequestException} names its request} If the scope lets
   * exceptions show messages, the result is a placeholder. It is replaced by the text of the
   * request when the text of the exception is read. Otherwise the result is the class of the
   * request.
   *
   * @param request the request that was not answered
   */
  String describeRequest(Object request);

  /**
   * Starts the limit of a request to another process. Such a limit costs much less than a timer of
   * {@link Scheduler#schedule}, because requests that are answered within a few milliseconds need
   * no timer.
   *
   * @param clock measures the limit
   * @param limit from now; zero or more
   * @param task runs when the limit has passed, unless the limit is cancelled before. It must be
   * short and must not block, because it runs on the thread of the clock
   * @return cancels the limit
   */
  Scheduler.Timer startTimeout(Scheduler clock, Duration limit, Runnable task);

  /**
   * Captures the context of the current thread for a message that the block sends later, perhaps on
   * another thread.
   *
   * @param recipient the actor that the message will be sent to
   * @param message the message
   * @return runs code on the calling thread, with the captured context restored there
   */
  Executor contextExecutor(Actor<?> recipient, Object message);

  /**
   * Captures the context of the current thread as text, for a message that leaves the process. Only
   * a {@link TextContextPropagator} of the scope can write its context as text.
   *
   * @param recipient the actor that the message is sent to
   * @param message the message
   * @return printable ASCII, of at most 2,048 bytes; empty if there is no context
   */
  String contextText(Actor<?> recipient, Object message);

  /**
   * Reads the context of a message that arrived from another process.
   *
   * @param recipient the actor that the message will be sent to
   * @param message the message
   * @param text the result of {@link #contextText} in the other process
   * @return runs code on the calling thread, with the context of the text restored there
   */
  Executor contextExecutor(Actor<?> recipient, Object message, String text);

  /**
   * {@return whether the scope has context propagators} If it has none, a block need not describe
   * its steps, and {@link #beginStep} does nothing.
   */
  boolean hasPropagators();

  /**
   * Begins a step of a handler at the context propagators of the scope. Their exceptions are
   * logged.
   *
   * @param step the step
   * @return must be told of the end of the step, and closed on this thread
   */
  ContextPropagator.StepObservation beginStep(ContextPropagator.HandlerStep step);

  /**
   * {@return how many messages the mailbox of an actor has accepted and dropped later, because it
   * was full} This count never shrinks.
   *
   * @param actor an actor that a builder of this library has made; 0 for any other
   */
  long droppedBy(Actor<?> actor);

  /** {@return the scope in which the actors are made} */
  ActorScope scope();

  /**
   * {@return a copy that makes its actors in a new scope inside the scope of this builder} A block
   * uses such a copy to make actors even while a close of the outer scope waits for other actors.
   * The inner scope accepts new actors until the outer scope closes the inner scope. A failure that
   * its actors escalate goes to the outer scope. The root scope lists and closes the inner scope
   * only if this builder has a name.
   *
   * @param kind the name of the new scope, if this builder has no name
   * @throws IllegalStateException if the outer scope is closed
   */
  BlockBuilder<M> inNewScope(String kind);

  /**
   * {@return a copy whose actors are not members of the scope} The actors have the options of the
   * scope, and their dead letters go to the scope. But the scope does not list these actors, keep
   * them in memory or end them. Several of these actors may have the same name, and they can be
   * made after the scope is closed.
   */
  BlockBuilder<M> inOuterScope();

  /**
   * {@return a copy for actors that get work from outside, such as servers} A closing scope sends
   * them a poison pill before it waits for the end of any member.
   */
  BlockBuilder<M> closesFirst();

  /**
   * {@return a copy for the internal actors of a block} The scope counts their messages neither as
   * sent nor as handled, because no user sent them. A message that they do not handle still counts
   * as unhandled, but a task that they do not run does not count.
   */
  BlockBuilder<M> excludedFromAccounts();

  /**
   * {@return a copy for actors that write to a client outside of the process} If the client has
   * disconnected, such an actor loses messages, because it has ended or its handler throws an
   * IOException. A lost message counts as {@link DeadLetter.Reason#DISCONNECTED}.
   */
  BlockBuilder<M> countLostAsDisconnected();

  /**
   * {@return a copy for actors that may lose some messages of the block itself} If a negligible
   * message is lost, it is not counted, and does not become a dead letter.
   *
   * @param isNegligible returns whether the loss of a message does not matter, such as a ping, or
   * an event that may arrive after its actor has ended
   */
  BlockBuilder<M> ignoreLost(Predicate<Object> isNegligible);
}
