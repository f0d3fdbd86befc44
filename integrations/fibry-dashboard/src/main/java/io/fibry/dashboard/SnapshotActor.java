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
final class SnapshotActor {
  private static final Duration PERIOD = Duration.ofSeconds(1);
  private static final long CACHE_NANOS = PERIOD.toNanos() / 2;

  sealed interface SnapshotMessage {}

  /** Answered with JSON. */
  record SnapshotRequest(String filter) implements SnapshotMessage, Request<SnapshotRequest, String> {}

  record ViewerJoined(Actor<String> viewer) implements SnapshotMessage {}

  enum SnapshotSignal implements SnapshotMessage {
    TICK, LEFT
  }

  private final ActorScope scope;
  private final boolean texts;
  private final Scheduler clock;
  private final Topic<String> topic;
  private int viewers;
  private Optional<ScopeSnapshot> last = Optional.empty();

  private SnapshotActor(ActorScope scope, boolean texts, Scheduler clock, Topic<String> topic) {
    this.scope = scope;
    this.texts = texts;
    this.clock = clock;
    this.topic = topic;
  }

  static Actor<SnapshotMessage> start(ActorScope own, ActorScope scope, boolean texts, Scheduler clock) {
    var pulse = new SnapshotActor(scope, texts, clock, Topic.open(own.named("viewers")));
    return own.named("pulse").newActor(pulse::handle);
  }

  private void handle(SnapshotMessage message, ActorContext<SnapshotMessage> context) {
    switch (message) {
      case SnapshotRequest read -> context.reply(read,
          read.filter.isEmpty() ? snapshot().fullJson() : snapshot().filtered(read.filter));
      case ViewerJoined(var viewer) -> join(viewer, context);
      case SnapshotSignal.TICK -> tick(context);
      case SnapshotSignal.LEFT -> viewers--;
    }
  }

  private void join(Actor<String> viewer, ActorContext<SnapshotMessage> context) {
    context.watch(viewer, reason -> SnapshotSignal.LEFT);
    topic.subscribe(viewer);
    if (viewers++ == 0) scheduleTick(context);
    viewer.sendMessage(snapshot().fullJson());
  }

  private void tick(ActorContext<SnapshotMessage> context) {
    if (viewers == 0) return;
    scheduleTick(context);
    topic.publish(snapshot().fullJson());
  }

  /** The key replaces a tick that is due already. */
  private static void scheduleTick(ActorContext<SnapshotMessage> context) {
    context.self().sendMessageLater(SnapshotSignal.TICK, SnapshotSignal.TICK, PERIOD);
  }

  private ScopeSnapshot snapshot() {
    long now = clock.nanoTime();
    if (last.isEmpty() || now - last.get().nanos() >= CACHE_NANOS)
      last = Optional.of(ScopeSnapshot.take(scope, now, texts, last));
    return last.get();
  }
}
