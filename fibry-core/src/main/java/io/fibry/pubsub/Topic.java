package io.fibry.pubsub;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.Exitable;
import io.fibry.Handler;
import io.fibry.mailbox.Mailbox;
import java.util.Objects;
import java.util.concurrent.Executor;

/**
 * Hands each message to all subscribers, on the publisher's thread. A slow subscriber's mailbox
 * decides what it costs: the publisher's time ({@code BLOCK}), or messages. Thread-safe.
 * {@snippet class="io.fibry.PubsubSnippetsTest" region="topic"}
 *
 * <p>A subscriber gets the messages of each publisher in order. A message without subscribers is no
 * dead letter.
 *
 * <p>It ends like an actor. {@link #sendPoisonPill} and {@link #close} handle what was published
 * before; {@link #askExit} and {@link #kill} leave it undelivered. The actors it made end with it,
 * and {@link #waitForExit} waits for them; other actors and executors live on. A later message is
 * its dead letter. In the handler of an actor it made, {@code close} does not wait, and
 * {@code waitForExit} is an {@link io.fibry.AskCycleException}. An unreferenced topic is garbage,
 * with its idle actors.
 *
 * @param <M> messages
 */
public interface Topic<M> extends Exitable {

  /**
   * A topic. It has the builder's name, its actors are named below it ("prices/1"). {@code find}
   * finds it by the builder's protocol, as an actor that publishes.
   *
   * @param <M> messages
   * @param builder makes the actors
   * @return the topic
   * @throws IllegalArgumentException if the name is taken
   */
  static <M> Topic<M> open(ActorBuilder<? super M> builder) {
    return new ActorTopic<>(Objects.requireNonNull(builder, "builder"));
  }

  /**
   * Hands a message to all subscribers. Waits only for a full mailbox that says {@code BLOCK}; what
   * a mailbox does not take is a dead letter. No subscriber's failure is thrown.
   *
   * @param message never null
   * @throws io.fibry.AskCycleException if a wait for room could never end; all others have the
   * message
   */
  void publish(M message);

  /**
   * Subscribes an actor until it ends. Subscribed twice, it gets each message twice.
   *
   * @param subscriber gets each message
   * @return the subscription
   * @throws IllegalStateException if it has ended
   */
  Subscription subscribe(Actor<? super M> subscriber);

  /**
   * Subscribes a new actor that gets the latest messages: when more than 1,024 messages wait, the
   * oldest is dropped, unless the builder has another mailbox.
   *
   * @param subscriber its failures are for the builder's policy
   * @return the subscription
   * @throws IllegalStateException if it has ended
   */
  Subscription subscribeToLatest(Handler<M> subscriber);

  /**
   * Subscribes a new actor with this mailbox.
   *
   * @param mailbox the actor's
   * @param subscriber takes each message
   * @return the subscription
   * @throws IllegalStateException if it has ended
   */
  Subscription subscribe(Mailbox<? super M> mailbox, Handler<M> subscriber);

  /**
   * Subscribes code on an executor, which decides about order and bounds. It can be an actor shared
   * by several subscribers, {@code Runnable::run} for the publisher's thread, or a virtual thread
   * per message. Failures are logged, or on an actor for its policy. A message that the executor
   * refuses is logged, or becomes a dead letter if the executor is an actor. One that has ended is
   * forgotten.
   *
   * @param executor runs the code
   * @param subscriber takes each message
   * @return the subscription
   * @throws IllegalStateException if it has ended
   */
  Subscription subscribeOn(Executor executor, Handler<M> subscriber);

  @Override
  Topic<M> closeOnExit(AutoCloseable... resources);
}
