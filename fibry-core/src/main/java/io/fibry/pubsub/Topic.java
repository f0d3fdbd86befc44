package io.fibry.pubsub;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.Exitable;
import io.fibry.Handler;
import io.fibry.mailbox.Mailbox;
import java.util.Objects;
import java.util.concurrent.Executor;

/**
 * Hands each message to all who subscribed, on the publisher's thread. What a slow subscriber
 * costs, its mailbox decides: the publisher's time ({@code BLOCK}), or some of the subscriber's
 * messages. Thread-safe.
 * {@snippet class="io.fibry.PubsubSnippetsTest" region="topic"}
 *
 * <p>What one publisher publishes, each subscriber gets in that order; of two publishers at once,
 * subscribers may see the messages in different orders. Where nobody has subscribed, a message is
 * for nobody, and that is no loss.
 *
 * <p>It ends like an actor, and with its scope. By {@link #sendPoisonPill} and {@link #close} what
 * was published before is handled; by {@link #askExit} and {@link #kill} it is undelivered. The
 * actors it made end with it, and {@link #waitForExit} waits for them; those of others live on, and
 * so do executors. What is published afterwards is a dead letter under the topic's name. From the
 * code of a subscriber that has an actor of the topic's, {@code close} does not wait, and
 * {@code waitForExit} is an {@link io.fibry.AskCycleException}. One that nobody refers to any more
 * is garbage as an actor is, with the idle actors it made, whoever else has subscribed.
 *
 * @param <M> the messages
 */
public interface Topic<M> extends Exitable {

  /**
   * A topic. Where the builder has a name, that is the topic's, and the actors it makes are named
   * below it ("prices/1"); {@code find} finds it by the builder's protocol, as an actor that
   * publishes what it is sent.
   *
   * @param <M> the messages
   * @param how makes the actors of subscribers that have none of their own, in its scope
   * @return the topic, open
   * @throws IllegalArgumentException if the scope has something living of this name
   */
  static <M> Topic<M> of(ActorBuilder<? super M> how) {
    return new ActorTopic<>(Objects.requireNonNull(how, "how"));
  }

  /**
   * Hands the message to all who subscribed. Waits only where a mailbox says {@code BLOCK} and is
   * full; what a mailbox refuses or drops is a dead letter. No failure of a subscriber comes here.
   *
   * @param message never null
   * @throws io.fibry.AskCycleException where the wait for room in a mailbox could never end; all
   * others have been handed the message before
   */
  void publish(M message);

  /**
   * The messages go to this actor; forgotten when it ends. Subscribed twice, it gets each message
   * twice.
   *
   * @param subscriber lives on when the topic ends
   * @return its place
   * @throws IllegalStateException if the topic has ended
   */
  Subscription subscribe(Actor<? super M> subscriber);

  /**
   * The messages go to a new actor. Its mailbox is as the builder says; where neither it nor its
   * scope was told, the latest 1,024 messages wait.
   *
   * @param subscriber what it does with each; what it throws is for the builder's failure policy
   * @return its place
   * @throws IllegalStateException if the topic has ended
   */
  Subscription subscribe(Handler<M> subscriber);

  /**
   * The messages go to a new actor with this mailbox: {@code bounded(1, DROP_OLDEST)} for one that
   * wants the latest only, {@code BLOCK} for one that must see all.
   *
   * @param mailbox how messages wait for it
   * @param subscriber what it does with each; what it throws is for the builder's failure policy
   * @return its place
   * @throws IllegalStateException if the topic has ended
   */
  Subscription subscribe(Mailbox<? super M> mailbox, Handler<M> subscriber);

  /**
   * Each message is a task of this executor: an actor shared by several, {@code Runnable::run} for
   * the publisher's thread, an executor with a virtual thread per task to handle all messages at
   * the same time. Order and bounds are the executor's. What the subscriber throws is logged; on an
   * actor it is for that actor's failure policy. What the executor refuses is logged, or is an
   * actor's dead letter; an executor that was shut down, and an actor that ended, is forgotten.
   *
   * @param where lives on when the topic ends
   * @param subscriber what to do with each
   * @return its place
   * @throws IllegalStateException if the topic has ended
   */
  Subscription subscribeOn(Executor where, Handler<M> subscriber);

  @Override
  Topic<M> closeOnExit(AutoCloseable... resources);
}
