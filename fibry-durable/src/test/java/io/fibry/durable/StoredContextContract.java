package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.support.Patience;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A store keeps what carriers wrote with the messages that wait there. */
abstract class StoredContextContract extends StoreFixture {
  sealed interface Errand {}
  record Hold() implements Errand {}
  record Add() implements Errand {}
  record Pass(String to) implements Errand {}
  record Later(Duration time) implements Errand {}
  record Fail() implements Errand {}
  record Seen() implements Errand, Request<Seen, String> {}

  private static final String KIND = "errands";
  private static final Duration HOUR = Duration.ofHours(1);

  private final ActorScope tenants = ActorSystem.openScope("tenants",
      options -> options.withScheduler(scheduler()).withContextPropagator(new Tenant()));
  private final CountDownLatch begun = new CountDownLatch(1);
  private final CountDownLatch free = new CountDownLatch(1);
  private final Durable<Errand> errands =
      Durable.kind(KIND, Errand.class).storeMessages(100).state("").handler(this::handle);
  private volatile boolean fails = true;

  StoredContextContract(TestStores.Maker maker) {
    super(maker);
  }

  @AfterEach
  void closeTenants() {
    free.countDown();
    tenants.close();
  }

  /** The state are the tenants that it has seen. */
  private String handle(String seen, Errand errand, DurableContext<Errand> context)
      throws InterruptedException {
    switch (errand) {
      case Hold hold -> {
        begun.countDown();
        free.await();
      }
      case Pass pass -> context.sendMessage(errands, pass.to(), new Add());
      case Later later -> context.setReminder("later", new Add(), later.time());
      case Fail fail -> {
        if (fails) throw new IllegalStateException("on purpose");
      }
      case Seen ask -> {
        context.reply(ask, seen);
        return seen;
      }
      case Add add -> {}
    }
    return (seen + " " + Tenant.here()).strip();
  }

  private Actor<Errand> actor(String key) {
    return errands.newActor(tenants.named(key), store);
  }

  private static void send(String tenant, Actor<Errand> actor, Errand errand) {
    Tenant.with(tenant, () -> assertTrue(actor.sendMessage(errand)));
  }

  private void sees(Actor<Errand> actor, String all) {
    eventually(() -> actor.ask(new Seen()).equals(all));
  }

  @Test
  void storedMessageFindsTenantOfItsSender() throws IOException {
    var before = actor("ada");
    send("initech", before, new Hold());
    Patience.await(begun);
    send("acme", before, new Add());
    assertTrue(before.sendMessage(new Add()));
    send("globex", before, new Add());
    crashAndReopen(before);
    free.countDown();

    var after = actor("ada");

    eventually(() -> after.ask(new Seen()).endsWith("acme nobody globex"));
  }

  @Test
  void messageOfATurnFindsTheTenantOfItsTurn() throws IOException {
    var ada = actor("ada");
    send("acme", ada, new Pass("grace"));
    assertTrue(ada.sendMessage(new Pass("grace")));
    sees(ada, "acme nobody");
    crashAndReopen(ada);

    sees(actor("grace"), "acme nobody");
  }

  @Test
  void reminderFindsTheTenantOfTheTurnThatSetIt() throws IOException {
    var before = actor("ada");
    send("acme", before, new Later(HOUR));
    sees(before, "acme");
    crashAndReopen(before);

    var after = actor("ada");
    clock.advance(HOUR);

    sees(after, "acme acme");
  }

  @Test
  void retriedMessageFindsTheTenantOfItsSender() {
    var ada = actor("ada");
    send("acme", ada, new Fail());
    eventually(() -> errands.parked(store).size() == 1);
    fails = false;

    errands.parked(store).forEach(one -> errands.retry(store, one));

    sees(ada, "acme");
  }

  @Test
  void scopeWithoutPropagatorsHandlesMessagesWithContext() throws IOException {
    var before = actor("ada");
    send("initech", before, new Hold());
    Patience.await(begun);
    send("acme", before, new Add());
    crashAndReopen(before);
    free.countDown();

    var after = errands.newActor(scope.named("ada"), store);

    eventually(() -> after.ask(new Seen()).endsWith("nobody"));
    assertEquals("nobody", Tenant.here());
  }
}
