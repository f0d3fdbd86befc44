package io.fibry.pubsub;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.Exitable;
import io.fibry.Handler;
import io.fibry.mailbox.Mailbox;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executor;

/**
 * Hands each message to all subscribers, on the publisher's thread. The mailbox of a slow
 * subscriber decides whether the publisher waits ({@code BLOCK}) or messages are lost. Thread-safe.
 * {@snippet class="io.fibry.PubsubSnippetsTest" region="topic"}
 *
 * <p>A subscriber gets the messages of each publisher in order. A message that is published while
 * there are no subscribers does not become a dead letter.
 *
 * <p>A topic ends like an actor. After {@link #sendPoisonPill} and {@link #close}, messages that
 * were published before the call are handled; after {@link #askExit} and {@link #kill} they are
 * undelivered. The actors that the topic made end with it, and {@link #waitForExit} waits for them;
 * subscribed actors and executors of users continue. A message that is published after the end is a
 * dead letter of the topic. In the handler of an actor that the topic made, {@code close} does not
 * wait, and {@code waitForExit} throws an {@link io.fibry.AskCycleException}. An unreferenced topic
 * becomes garbage, with its idle actors.
 *
 * @param <M> messages
 */
public interface Topic<M> extends Exitable {

  /**
   * Opens a topic. The topic has the builder's name, and its actors have names below this name
   * ("prices/1"). If the builder has a protocol, {@code find} of the scope returns an actor that
   * publishes each message that it gets.
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
   * Hands a message to all subscribers. Waits only for a full mailbox with {@code BLOCK}. A message
   * that a mailbox refuses becomes a dead letter. Failures of subscribers are not thrown.
   *
   * @param message never null
   * @throws io.fibry.AskCycleException if a wait for a full mailbox could never end; all other
   * subscribers have received the message
   */
  void publish(M message);

  /**
   * Subscribes an actor until the actor ends. If an actor is subscribed twice, it gets each message
   * twice.
   *
   * @param subscriber gets each message
   * @return the subscription
   * @throws IllegalStateException if the topic has ended
   */
  Subscription subscribe(Actor<? super M> subscriber);

  /**
   * Subscribes a new actor that gets the latest messages. If the builder sets no mailbox, the
   * oldest message is dropped when more than 1,024 messages wait.
   *
   * @param subscriber takes each message; the builder's failure policy decides about its failures
   * @return the subscription
   * @throws IllegalStateException if the topic has ended
   */
  Subscription subscribeToLatest(Handler<M> subscriber);

  /**
   * Subscribes a new actor with this mailbox.
   *
   * @param mailbox mailbox of the actor
   * @param subscriber takes each message
   * @return the subscription
   * @throws IllegalStateException if the topic has ended
   */
  Subscription subscribe(Mailbox<? super M> mailbox, Handler<M> subscriber);

  /**
   * Subscribes code on an executor, which decides about order and bounds. The executor can be an
   * actor that several subscribers share, or a virtual thread per message. With
   * {@code Runnable::run} the code runs on the publisher's thread. If the executor is an actor, its
   * failure policy decides about failures, and a message that it refuses becomes a dead letter.
   * Otherwise failures and refused messages are logged. When the executor has ended, the
   * subscription ends.
   *
   * @param executor runs the code
   * @param subscriber takes each message
   * @return the subscription
   * @throws IllegalStateException if the topic has ended
   */
  Subscription subscribeOn(Executor executor, Handler<M> subscriber);

  /**
   * The counts of a topic at one moment.
   *
   * @param published messages that were published before the topic ended
   * @param delivered deliveries that subscribers have accepted: each message is delivered once to
   * each subscriber, and may be dropped later
   * @param refused deliveries that subscribers have refused, for example because a mailbox was full
   * @param dropped delivered messages that the mailboxes of actors of the topic have dropped since,
   * because they were full
   * @param subscribers subscriptions that are open now
   */
  record TopicStats(long published, long delivered, long refused, long dropped, int subscribers) {}

  /**
   * The counts of an open subscription at one moment.
   *
   * @param name the name of the subscribed actor, such as {@code prices/1} if the topic made it;
   * {@code executor} for code on an executor that is no actor
   * @param delivered deliveries that the subscriber has accepted, also if the message was dropped
   * later
   * @param refused deliveries that the subscriber has refused
   * @param dropped delivered messages that a full mailbox has dropped since; 0 if the topic did not
   * make the actor, because such an actor has other senders, too
   */
  record SubscriberStats(String name, long delivered, long refused, long dropped) {

    /**
     * {@return the sums of both counts, for example if an actor is subscribed twice}
     *
     * @param other the counts to add
     */
    public SubscriberStats plus(SubscriberStats other) {
      return new SubscriberStats(name, delivered + other.delivered, refused + other.refused, dropped + other.dropped);
    }
  }

  /** {@return the counts of each open subscription, the oldest first} */
  List<SubscriberStats> subscribers();

  /**
   * Returns the counts since the topic was opened. A message that the mailbox of a user's actor has
   * accepted and then dropped counts as delivered here, and as refused in the statistics of its
   * actor.
   *
   * @return the counts; a topic of a cluster counts the messages that reach this node
   */
  TopicStats stats();

  @Override
  Topic<M> closeOnExit(AutoCloseable... resources);
}
