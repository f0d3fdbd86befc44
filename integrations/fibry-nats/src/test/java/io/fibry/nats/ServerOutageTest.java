package io.fibry.nats;

import static io.fibry.durable.Turning.ADA;
import static io.fibry.durable.Turning.turn;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.durable.Durable;
import io.fibry.durable.Histories;
import io.fibry.store.Store;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A server that is away for a moment, and back. */
class ServerOutageTest extends StreamFixture {
  record Add(String text) implements Request<Add, Integer> {}

  record Added(String text) {}

  private static final Duration IDLE = Duration.ofDays(1);
  private static final Durable<Add> LIST = Durable.kind("list", Add.class).storeMessages(100)
      .events(Added.class, 0, (Integer count, Added added) -> count + 1)
      .handler((count, add, context) -> context.reply(add, context.persist(new Added(add.text()))));

  private final FaultyStores.One one =
      FaultyStores.open(network, app, options -> options.withRequestLimit(Patience.LONG));
  private final Store store = one.store();
  private final ActorScope scope = ActorSystem.openScope("away");

  @AfterEach
  void closeScope() {
    scope.close();
    store.close();
  }

  @Test
  void turnsWaitUntilTheServerIsBack() {
    long life = store.load(ADA).life();
    one.down(true);
    var waiting = store.append(turn(ADA, life, 1)).toCompletableFuture();
    one.awaitRefusals(3);

    assertFalse(waiting.isDone());
    one.down(false);

    Patience.value(waiting);
    assertEquals(1, store.load(ADA).lastTurn());
  }

  @Test
  void actorsMessagesAndViewsResumeWithServer() throws Exception {
    List<String> seen = new CopyOnWriteArrayList<>();
    var view = Durable.view("list", Added.class).named("seen").newActor(scope.anonymous(), store,
        fact -> seen.add(fact.event().text()));
    try (view; var lists = LIST.entities(scope.anonymous(), store, IDLE)) {
      assertEquals(1, lists.actor("ada").ask(new Add("a")));
      Patience.eventually(() -> seen.contains("a"));
      one.down(true);
      var asked = new FutureTask<>(() -> lists.actor("ada").ask(new Add("b")));
      var told = new FutureTask<>(() -> lists.actor("grace").sendMessage(new Add("c")));
      Thread.ofVirtual().start(asked);
      Thread.ofVirtual().start(told);
      one.awaitRefusals(10);
      assertFalse(asked.isDone() || told.isDone());
      one.down(false);

      assertEquals(2, Patience.value(asked));
      assertTrue(Patience.value(told));
      Patience.eventually(() -> seen.containsAll(List.of("b", "c")));
    }
    Histories.check(store, "list");
    assertEquals(List.of("a", "b", "c"), seen.stream().distinct().sorted().toList());
  }
}
