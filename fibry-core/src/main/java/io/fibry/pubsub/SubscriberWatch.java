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
 * Watches the users' actors that subscribed to a topic. A watched actor keeps the watcher, not the
 * topic; once the topic is garbage, the next topic that is made ends its watcher. Thread-safe.
 */
final class SubscriberWatch extends WeakReference<Subscriber.SubscribedTopic<?>> {
  // filled by the collector, emptied by those who make topics
  private static final ReferenceQueue<Subscriber.SubscribedTopic<?>> FORGOTTEN = new ReferenceQueue<>();

  private final Actor<Exitable> watcher =
      BlockBuilder.of(ActorSystem.anonymous()).excludedFromAccounts().strategy(Strategy.CALLER)
          .mailbox(Mailbox.unbounded()).newActor(this::watch);

  SubscriberWatch(Subscriber.SubscribedTopic<?> topic) {
    super(topic, FORGOTTEN);
    endForgotten();
  }

  private static void endForgotten() {
    for (var one = FORGOTTEN.poll(); one != null; one = FORGOTTEN.poll()) ((SubscriberWatch) one).watcher.askExit();
  }

  /** Watches what is subscribed when the message comes, else forgets it. */
  void watchOrForget(Exitable foreign) {
    watcher.sendMessage(foreign);
  }

  private void watch(Exitable foreign, ActorContext<Exitable> context) {
    var topic = get();
    if (topic == null || !topic.hasSubscriber(foreign)) context.unwatch(foreign);
    else
      context.watch(foreign, reason -> {
        forget(foreign);
        return foreign;
      });
  }

  private void forget(Exitable foreign) {
    var topic = get();
    if (topic != null) topic.forget(foreign);
  }
}
