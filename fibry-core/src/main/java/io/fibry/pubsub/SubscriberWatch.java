package io.fibry.pubsub;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorSystem;
import io.fibry.Exitable;
import io.fibry.Strategy;
import io.fibry.mailbox.Mailbox;
import io.fibry.spi.BlockBuilder;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;

/**
 * Watches the users' actors that subscribed to a topic. A watched actor refers to the watcher, but
 * not to the topic, so the topic can become garbage. The constructor of the next topic ends the
 * watcher of a collected topic. Thread-safe.
 */
final class SubscriberWatch extends WeakReference<Subscriber.SubscribedTopic<?>> {
  // filled by the garbage collector, emptied by threads that make topics
  private static final ReferenceQueue<Subscriber.SubscribedTopic<?>> COLLECTED = new ReferenceQueue<>();

  private final Actor<Exitable> watcher =
      BlockBuilder.of(ActorSystem.anonymous()).excludedFromAccounts().strategy(Strategy.CALLER)
          .mailbox(Mailbox.unbounded()).newActor(this::watch);

  SubscriberWatch(Subscriber.SubscribedTopic<?> topic) {
    super(topic, COLLECTED);
    endWatchersOfCollected();
  }

  private static void endWatchersOfCollected() {
    for (var reference = COLLECTED.poll(); reference != null; reference = COLLECTED.poll())
      ((SubscriberWatch) reference).watcher.askExit();
  }

  /**
   * Sends an actor to the watcher. If the actor is still subscribed when the message arrives, the
   * watcher watches it, and otherwise stops watching it.
   */
  void watchOrForget(Exitable userActor) {
    watcher.sendMessage(userActor);
  }

  private void watch(Exitable userActor, ActorContext<Exitable> context) {
    var topic = get();
    if (topic == null || !topic.hasSubscriber(userActor)) context.unwatch(userActor);
    else
      context.watch(userActor, reason -> {
        forget(userActor);
        return userActor;
      });
  }

  private void forget(Exitable userActor) {
    var topic = get();
    if (topic != null) topic.forget(userActor);
  }
}
