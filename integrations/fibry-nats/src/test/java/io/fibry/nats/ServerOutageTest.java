package io.fibry.nats;

import static io.fibry.durable.TestTurns.ADA;
import static io.fibry.durable.TestTurns.turn;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.durable.Durable;
import io.fibry.durable.Histories;
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests a store and its actors while the server is unavailable for a moment. */
class ServerOutageTest extends StreamFixture {
  record Add(String text) implements Request<Add, Integer> {}

  record Added(String text) {}

  private static final Duration IDLE = Duration.ofDays(1);
  private static final Durable<Add> LIST = Durable.kind("list", Add.class).storeMessages(100)
      .events(Added.class, 0, (Integer count, Added added) -> count + 1)
      .handler((count, add, context) -> context.reply(add, context.persist(new Added(add.text()))));

  private final FaultyStores.FaultyStore outageStore =
      FaultyStores.open(network, app, options -> options.withRequestLimit(Patience.LONG));
  private final StoreBackend store = outageStore.store();
  private final ActorScope scope = ActorSystem.openScope("away");

  @AfterEach
  void closeScope() {
    scope.close();
    store.close();
  }

  @Test
  void turnWaitsUntilServerReturns() {
    long life = store.load(ADA).life();
    outageStore.setDown(true);
    var write = store.append(turn(ADA, life, 1)).toCompletableFuture();
    outageStore.awaitRefusals(3);

    assertFalse(write.isDone());
    outageStore.setDown(false);

    Patience.value(write);
    assertEquals(1, store.load(ADA).lastTurn());
  }

  @Test
  void actorsAndViewsContinueWhenServerReturns() throws Exception {
    List<String> received = new CopyOnWriteArrayList<>();
    var view = Durable.view("list", Added.class).named("seen").newActor(scope.anonymous(), store,
        stored -> received.add(stored.event().text()));
    try (view; var lists = LIST.entities(scope.anonymous(), store, IDLE)) {
      assertEquals(1, lists.actor("ada").ask(new Add("a")));
      Patience.eventually(() -> received.contains("a"));
      outageStore.setDown(true);
      var ask = new FutureTask<>(() -> lists.actor("ada").ask(new Add("b")));
      var tell = new FutureTask<>(() -> lists.actor("grace").sendMessage(new Add("c")));
      Thread.ofVirtual().start(ask);
      Thread.ofVirtual().start(tell);
      outageStore.awaitRefusals(10);
      assertFalse(ask.isDone() || tell.isDone());
      outageStore.setDown(false);

      assertEquals(2, Patience.value(ask));
      assertTrue(Patience.value(tell));
      Patience.eventually(() -> received.containsAll(List.of("b", "c")));
    }
    Histories.check(store, "list");
    assertEquals(List.of("a", "b", "c"), received.stream().distinct().sorted().toList());
  }
}
