package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.Request;
import io.fibry.durable.Bank.Balance;
import io.fibry.durable.Bank.Deposit;
import io.fibry.durable.Bank.End;
import io.fibry.durable.Bank.Fail;
import io.fibry.durable.Bank.Withdraw;
import io.fibry.store.StaleLifeException;
import io.fibry.store.Store;
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.Patience;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Test;

/** Tests the promises about durable actors with every store. */
abstract class DurableContract extends StoreFixture {
  DurableContract(TestStores.Maker maker) {
    super(maker);
  }

  private static final Duration IDLE = Duration.ofMinutes(5);

  private Actor<Bank.Message> account(String key) {
    return Bank.ACCOUNT.newActor(scope.named(key), store);
  }

  @Test
  void effectsOfAnsweredRequestSurviveCrash() throws IOException {
    var ada = account("ada");
    ada.sendMessage(new Deposit(500));
    assertTrue(ada.ask(new Withdraw(200)));

    crashAndReopen(ada);

    assertEquals(300, account("ada").ask(new Balance()));
  }

  @Test
  void blockedCallbackOfAnswerDelaysNoOtherRequest() throws Exception {
    var gate = new CountDownLatch(1);
    var ada = account("ada");
    var answer = ada.sendMessageReturn(new Withdraw(0));
    var asker = Patience.startFiber(() -> CompletableFuture.allOf(answer).thenRun(() -> awaitGate(gate)));

    try {
      ada.sendMessage(new Deposit(2));
      assertEquals(2, ada.ask(new Balance()));
      var grace = account("grace");
      grace.sendMessage(new Deposit(3));
      assertEquals(3, grace.ask(new Balance()));
    } finally { // otherwise the callback would wait forever
      gate.countDown();
    }
    Patience.awaitEnd(asker);
  }

  private static void awaitGate(CountDownLatch gate) {
    try {
      gate.await();
    } catch (InterruptedException interrupt) {
      throw new AssertionError(interrupt);
    }
  }

  @Test
  void effectsOfMessagesSentBeforeCloseAreStored() {
    var ada = account("ada");
    for (int i = 0; i < 1_000; i++) ada.sendMessage(new Deposit(1));
    ada.close();

    assertEquals(1_000, account("ada").ask(new Balance()));
  }

  @Test
  void actorsOfDifferentKeysOrKindsShareNoState() {
    var otherKind =
        Durable.kind("other", Bank.Message.class).events(Bank.Event.class, 7L, Bank::after).handler(Bank::handle);
    account("ada").sendMessage(new Deposit(1));
    account("grace").sendMessage(new Deposit(2));

    assertEquals(7, otherKind.newActor(scope.openScope("others").named("ada"), store).ask(new Balance()));
    assertEquals(2, scope.find("grace", Bank.Message.class).orElseThrow().ask(new Balance()));
  }

  @Test
  void failedTurnChangesNoState() throws IOException {
    var ada = account("ada");
    ada.sendMessage(new Deposit(1));

    var failure = assertThrows(IllegalStateException.class, () -> ada.ask(new Fail(10)));

    assertEquals("made up, for a test", failure.getMessage());
    assertEquals(1, ada.ask(new Balance()));
    crashAndReopen(ada);
    assertEquals(1, account("ada").ask(new Balance()));
  }

  @Test
  void failedTurnLeavesMutableStateUnchanged() {
    var kind = Durable.kind("changing", Bank.Message.class).initialState(LongAdder::new)
        .events(Bank.Event.class, (LongAdder sum, Bank.Event event) -> {
          sum.add(Bank.after(0L, event));
          return sum;
        }).handler((sum, message, context) -> {
          switch (message) {
            case Deposit d -> context.persist(new Bank.Deposited(d.cents()));
            case Balance b -> context.reply(b, sum.sum());
            case Fail f -> {
              context.persist(new Bank.Deposited(f.cents()));
              throw new IllegalStateException("made up, for a test");
            }
            default -> throw new AssertionError(message);
          }
        });
    var ada = kind.newActor(scope.named("ada"), store);
    ada.sendMessage(new Deposit(1));

    assertThrows(IllegalStateException.class, () -> ada.ask(new Fail(10)));

    assertEquals(1, ada.ask(new Balance()));
  }

  record Add(String item) implements Request<Add, Integer> {}

  record Cart(List<String> items) {
    Cart with(String item) {
      var newItems = new ArrayList<>(items);
      newItems.add(item);
      return new Cart(List.copyOf(newItems));
    }
  }

  private static final Durable<Add> CART = Durable.kind("cart", Add.class).state(new Cart(List.of()))
      .handler((cart, add, context) -> {
        var newCart = add.item().isEmpty() ? cart : cart.with(add.item());
        context.reply(add, newCart.items().size());
        return newCart;
      });

  @Test
  void storedStateIsReloadedAfterCrash() throws IOException {
    var cart = CART.newActor(scope.named("7"), store);
    cart.ask(new Add("a book"));
    assertEquals(2, cart.ask(new Add("a pen")));

    crashAndReopen(cart);

    assertEquals(2, CART.newActor(scope.named("7"), store).ask(new Add("")));
  }

  sealed interface Light {}

  static final class Off implements Light {
    static final Off INSTANCE = new Off();
  }

  record On(int brightness) implements Light {}

  /** Sets the brightness; the answer is whether the light was off. */
  record Turn(int brightness) implements Request<Turn, Boolean> {}

  @Test
  void initialStateMayBeSingletonOfSealedType() throws IOException {
    var kind = Durable.kind("light", Turn.class).<Light>state(Off.INSTANCE).handler((light, turn, context) -> {
      context.reply(turn, light == Off.INSTANCE);
      return turn.brightness() == 0 ? Off.INSTANCE : new On(turn.brightness());
    });
    var lamp = kind.newActor(scope.named("lamp"), store);
    assertTrue(lamp.ask(new Turn(5)));
    assertFalse(lamp.ask(new Turn(0)));

    crashAndReopen(lamp);

    assertTrue(kind.newActor(scope.named("lamp"), store).ask(new Turn(1)));
  }

  static final class Singleton {
    static final Singleton INSTANCE = new Singleton();
  }

  @Test
  void stateTypeWithOnlyOneValueIsRefused() {
    var kind = Durable.kind("alone", Turn.class);

    String text = assertThrows(IllegalArgumentException.class, () -> kind.state(Singleton.INSTANCE)).getMessage();

    assertTrue(text.startsWith("kind 'alone' begins with the only object of " + Singleton.class.getName()), text);
  }

  @Test
  void actorOfKindWithoutOptionsStoresItsState() {
    var hits = Durable.kind("hits", String.class).state(0L).handler((n, hit) -> n + 1);
    var page = hits.newActor(scope.named("home"), store);
    for (int i = 0; i < 3; i++) page.sendMessage("hit");
    page.close();

    var reader = Durable.kind("hits", Count.class).state(0L).handler((n, count, context) -> {
      context.reply(count, n);
      return n;
    });
    assertEquals(3, reader.newActor(scope.named("home"), store).ask(new Count()));
  }

  record Count() implements Request<Count, Long> {}

  @Test
  void eraseResetsStateDurably() throws IOException {
    var ada = account("ada");
    ada.sendMessage(new Deposit(5));
    ada.sendMessage(new End());
    ada.sendMessage(new Deposit(1));
    assertEquals(1, ada.ask(new Balance()));

    crashAndReopen(ada);

    assertEquals(1, account("ada").ask(new Balance()));
  }

  @Test
  void snapshotShortensReplay() {
    var kind = Durable.kind("account", Bank.Message.class).snapshotEvery(10).events(Bank.Event.class, 0L, Bank::after)
        .handler(Bank::handle);
    var ada = kind.newActor(scope.named("ada"), store);
    for (int i = 0; i < 25; i++) ada.sendMessage(new Deposit(1));
    assertEquals(25, ada.ask(new Balance()));
    ada.close();

    assertEquals(6, store.load(new Store.ActorId("account", "ada")).bodies().size(),
        "the snapshot of turn 20, and 5 turns");
    assertEquals(25, kind.newActor(scope.named("ada"), store).ask(new Balance()));
  }

  @Test
  void recreatedEntitiesReloadTheirState() {
    try (var accounts = Bank.ACCOUNT.entities(scope.anonymous(), store, IDLE)) {
      for (int i = 0; i < 100; i++) accounts.actor("key" + i % 10).sendMessage(new Deposit(i));
      for (int i = 0; i < 10; i++) accounts.actor("key" + i).close();

      for (int i = 0; i < 10; i++) assertEquals(450 + 10 * i, accounts.actor("key" + i).ask(new Balance()));
    }
  }

  @Test
  void secondActorForKeyIsRefusedWhileFirstLives() {
    var ada = account("ada");

    var failure = assertThrows(IllegalStateException.class, () -> Bank.ACCOUNT.newActor(
        scope.openScope("again").named("ada"), store));

    assertEquals("account 'ada' has an actor at " + store + "; send to that actor, or let entities make it",
        failure.getMessage());
    ada.close();
    account("ada").close();
  }

  @Test
  void lateEndOfKilledActorDoesNotFreeKeyOfNewActor() {
    var ada = account("ada");
    ada.sendMessage(new Deposit(500));
    assertEquals(500, ada.ask(new Balance()));
    var exitGate = new Semaphore(0);
    ada.closeOnExit(exitGate::acquireUninterruptibly);
    var exit = ada.onExit();

    ada.kill();
    eventually(() -> {
      clock.advance(Duration.ofMinutes(1)); // more than the kill grace
      return exit.isDone();
    });

    try (var replacement = Bank.ACCOUNT.newActor(scope.openScope("again").named("ada"), store)) {
      assertEquals(500, replacement.ask(new Balance()));
      exitGate.release(); // the killed actor finishes the close of its resource; it must not free the replacement's key
      assertThrows(IllegalStateException.class,
          () -> Bank.ACCOUNT.newActor(scope.openScope("third").named("ada"), store));
    }
  }

  @Test
  void afterCommitCallbackOfStoredTurnRuns() throws Exception {
    var newCount = new CompletableFuture<Long>();
    var kind = Durable.kind("hits", String.class).state(0L).handler((n, hit, context) -> {
      context.afterCommit(() -> newCount.complete(n + 1));
      return n + 1;
    });
    kind.newActor(scope.named("home"), store).sendMessage("hit");

    assertEquals(1, newCount.get());
  }

  @Test
  void turnOfStaleLifeIsRefused() {
    var id = new Store.ActorId("account", "ada");
    var firstLoad = store.load(id);
    store.append(turn(id, firstLoad.life(), 1)).toCompletableFuture().join();
    var secondLoad = store.load(id);

    assertEquals(1, secondLoad.lastTurn());
    var staleAppend = store.append(turn(id, firstLoad.life(), 2)).toCompletableFuture();
    assertInstanceOf(StaleLifeException.class, assertThrows(CompletionException.class, staleAppend::join).getCause());
    store.append(turn(id, secondLoad.life(), 2)).toCompletableFuture().join();
    assertEquals(2, store.load(id).lastTurn());
  }

  private static StoreBackend.Turn turn(Store.ActorId id, long life, long number) {
    return new StoreBackend.Turn(id, life, number, Instant.now(), false, new byte[] {1, 2, 3}, List.of(), List.of());
  }

  @Test
  void nullStateReturnedByHandlerIsNotStored() {
    var kind = Durable.kind("hits", String.class).state(0L).handler((n, hit) -> null);
    var page = kind.newActor(scope.named("home"), store);
    page.sendMessage("hit");
    page.close();

    assertEquals(0, store.load(new Store.ActorId("hits", "home")).lastTurn());
  }

  @Test
  void unchangedStateIsNotStored() {
    var cart = CART.newActor(scope.named("7"), store);
    assertEquals(0, cart.ask(new Add("")));
    cart.close();

    assertEquals(0, store.load(new Store.ActorId("cart", "7")).lastTurn());
  }
}
