package io.fibry.dashboard;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.Request;
import io.fibry.pubsub.Topic;
import io.fibry.time.Scheduler;
import java.time.Duration;
import java.util.Optional;

/**
 * An actor that looks at the scope: at a request, and once a second while there are viewers,
 * all of whom get the same text. All state is the actor's own.
 */
final class Pulse {
  private static final Duration PERIOD = Duration.ofSeconds(1);
  private static final long FRESH = PERIOD.toNanos() / 2;

  sealed interface Message {}

  /** Answered with JSON. */
  record Read(String filter) implements Message, Request<Read, String> {}

  record Join(Actor<String> viewer) implements Message {}

  enum Signal implements Message {
    TICK, LEFT
  }

  private final ActorScope scope;
  private final boolean texts;
  private final Scheduler clock;
  private final Topic<String> topic;
  private int viewers;
  private Optional<Snapshot> last = Optional.empty();

  private Pulse(ActorScope scope, boolean texts, Scheduler clock, Topic<String> topic) {
    this.scope = scope;
    this.texts = texts;
    this.clock = clock;
    this.topic = topic;
  }

  static Actor<Message> start(ActorScope own, ActorScope scope, boolean texts, Scheduler clock) {
    var pulse = new Pulse(scope, texts, clock, Topic.open(own.named("viewers")));
    return own.named("pulse").newActor(pulse::handle);
  }

  private void handle(Message message, ActorContext<Message> context) {
    switch (message) {
      case Read read -> context.reply(read,
          read.filter.isEmpty() ? snapshot().all() : snapshot().filtered(read.filter));
      case Join(var viewer) -> join(viewer, context);
      case Signal.TICK -> tick(context);
      case Signal.LEFT -> viewers--;
    }
  }

  private void join(Actor<String> viewer, ActorContext<Message> context) {
    context.watch(viewer, reason -> Signal.LEFT);
    topic.subscribe(viewer);
    if (viewers++ == 0) wind(context);
    viewer.sendMessage(snapshot().all());
  }

  private void tick(ActorContext<Message> context) {
    if (viewers == 0) return;
    wind(context);
    topic.publish(snapshot().all());
  }

  /** The key replaces a tick that is due already. */
  private static void wind(ActorContext<Message> context) {
    context.self().sendMessageLater(Signal.TICK, Signal.TICK, PERIOD);
  }

  private Snapshot snapshot() {
    long now = clock.nanoTime();
    if (last.isEmpty() || now - last.get().nanos() >= FRESH) last = Optional.of(Snapshot.at(scope, now, texts, last));
    return last.get();
  }
}
