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

/**
 * Tests with every store that the context of a sender is stored with the message, and restored
 * around the handler.
 */
abstract class StoredContextContract extends StoreFixture {
  sealed interface Errand {}
  record Hold() implements Errand {}
  record Add() implements Errand {}
  record Pass(String to) implements Errand {}
  record SetReminder(Duration time) implements Errand {}
  record Fail() implements Errand {}
  record GetTenants() implements Errand, Request<GetTenants, String> {}

  private static final String KIND = "errands";
  private static final Duration HOUR = Duration.ofHours(1);

  private final ActorScope tenants = ActorSystem.openScope("tenants",
      options -> options.withScheduler(scheduler()).withContextPropagator(new Tenant()));
  private final CountDownLatch holdBegun = new CountDownLatch(1);
  private final CountDownLatch gate = new CountDownLatch(1);
  private final Durable<Errand> errands =
      Durable.kind(KIND, Errand.class).storeMessages(100).state("").handler(this::handle);
  private volatile boolean handlerFails = true;

  StoredContextContract(TestStores.Maker maker) {
    super(maker);
  }

  @AfterEach
  void closeTenants() {
    gate.countDown();
    tenants.close();
  }

  /** Handles an errand. The state is the names of the tenants whose errands were handled. */
  private String handle(String tenantNames, Errand errand, DurableContext<Errand> context)
      throws InterruptedException {
    switch (errand) {
      case Hold hold -> {
        holdBegun.countDown();
        gate.await();
      }
      case Pass pass -> context.sendMessage(errands, pass.to(), new Add());
      case SetReminder setReminder -> context.setReminder("later", new Add(), setReminder.time());
      case Fail failure -> {
        if (handlerFails) throw new IllegalStateException("on purpose");
      }
      case GetTenants getTenants -> {
        context.reply(getTenants, tenantNames);
        return tenantNames;
      }
      case Add add -> {}
    }
    return (tenantNames + " " + Tenant.here()).strip();
  }

  private Actor<Errand> actor(String key) {
    return errands.newActor(tenants.named(key), store);
  }

  private static void send(String tenant, Actor<Errand> actor, Errand errand) {
    Tenant.with(tenant, () -> assertTrue(actor.sendMessage(errand)));
  }

  private void awaitTenants(Actor<Errand> actor, String expected) {
    eventually(() -> actor.ask(new GetTenants()).equals(expected));
  }

  @Test
  void storedMessageHasTenantOfItsSender() throws IOException {
    var firstActor = actor("ada");
    send("initech", firstActor, new Hold());
    Patience.await(holdBegun);
    send("acme", firstActor, new Add());
    assertTrue(firstActor.sendMessage(new Add()));
    send("globex", firstActor, new Add());
    crashAndReopen(firstActor);
    gate.countDown();

    var reloadedActor = actor("ada");

    eventually(() -> reloadedActor.ask(new GetTenants()).endsWith("acme nobody globex"));
  }

  @Test
  void messageSentByTurnHasTenantOfTurn() throws IOException {
    var ada = actor("ada");
    send("acme", ada, new Pass("grace"));
    assertTrue(ada.sendMessage(new Pass("grace")));
    awaitTenants(ada, "acme nobody");
    crashAndReopen(ada);

    awaitTenants(actor("grace"), "acme nobody");
  }

  @Test
  void reminderHasTenantOfTurnThatSetIt() throws IOException {
    var firstActor = actor("ada");
    send("acme", firstActor, new SetReminder(HOUR));
    awaitTenants(firstActor, "acme");
    crashAndReopen(firstActor);

    var reloadedActor = actor("ada");
    clock.advance(HOUR);

    awaitTenants(reloadedActor, "acme acme");
  }

  @Test
  void retriedMessageHasTenantOfItsSender() {
    var ada = actor("ada");
    send("acme", ada, new Fail());
    eventually(() -> errands.parked(store).size() == 1);
    handlerFails = false;

    errands.parked(store).forEach(parked -> errands.retry(store, parked));

    awaitTenants(ada, "acme");
  }

  @Test
  void scopeWithoutPropagatorsHandlesMessagesWithContext() throws IOException {
    var firstActor = actor("ada");
    send("initech", firstActor, new Hold());
    Patience.await(holdBegun);
    send("acme", firstActor, new Add());
    crashAndReopen(firstActor);
    gate.countDown();

    var reloadedActor = errands.newActor(scope.named("ada"), store);

    eventually(() -> reloadedActor.ask(new GetTenants()).endsWith("nobody"));
    assertEquals("nobody", Tenant.here());
  }
}
