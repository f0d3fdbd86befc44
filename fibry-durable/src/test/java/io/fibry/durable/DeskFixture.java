package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.durable.Desk.Hold;
import io.fibry.durable.Desk.Items;
import io.fibry.durable.Desk.Message;
import io.fibry.pool.Entities;
import java.io.IOException;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;

/** A store with durable actors whose handler is a {@link Desk}. */
abstract class DeskFixture extends StoreFixture {
  DeskFixture(TestStores.Maker maker) {
    super(maker);
  }

  static final Duration HOUR = Duration.ofHours(1);

  final Desk desk = new Desk();

  Durable<Message> keeping() {
    return desk.keeping(1_000);
  }

  Entities<String, Message> desks() {
    desk.others = desk.kind("desk");
    return desk.others.entities(scope.anonymous(), store, IDLE);
  }

  Actor<Message> ada() {
    desk.others = desk.kind("desk");
    return desk.others.newActor(scope.named("ada"), store);
  }

  static boolean has(Actor<Message> actor, String items) {
    return actor.ask(new Items()).equals(items);
  }

  /** Keeps the actor busy until the returned latch is counted down. */
  CountDownLatch hold(Actor<Message> actor) {
    var latch = new CountDownLatch(1);
    String name = UUID.randomUUID().toString();
    desk.gates.put(name, latch);
    assertTrue(actor.sendMessage(new Hold(name)));
    return latch;
  }

  /**
   * Lets handlers continue that still wait or sleep at the end of a failed test. Otherwise the
   * scope could not close.
   */
  @AfterEach
  void releaseHandlers() {
    desk.gates.values().forEach(CountDownLatch::countDown);
    if (desk.sleeper != null) clock.advance(Duration.ofDays(1));
  }

  void crashAndReopenAfter(Actor<Message> actor) throws IOException {
    actor.ask(new Items()); // waits until earlier turns are stored
    crashAndReopen(actor);
  }
}
