package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorStats;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.durable.FlakyStore.WriteFault;
import io.fibry.store.MemoryStore;
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.Intercepted;
import io.fibry.support.Patience;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.ToLongFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests stored messages whose turns the store refuses. */
class RefusedTurnTest {
  sealed interface Message {}

  record Add(String item) implements Message {}

  record Read() implements Message, Request<Read, String> {}

  private static final Duration IDLE = Duration.ofDays(1);

  private final ActorScope scope = ActorSystem.openScope("refused-turns");

  @AfterEach
  void close() {
    scope.close();
  }

  private long sum(ToLongFunction<ActorStats> count) {
    return scope.actors().stream().mapToLong(count).sum();
  }

  /**
   * After the refusal the actor reads its state again. During this read, a courier queues the
   * message a second time, although the call that delivered it first has been answered. No handler
   * may fail.
   */
  @Test
  void messageQueuedTwiceDuringReloadFailsNoHandler() {
    var flaky = new FlakyStore(StoreBackend.of(MemoryStore.open()), new Random(0));
    var loads = new AtomicInteger();
    var store = Intercepted.of(StoreBackend.class, flaky.asStore(), (method, arguments, call) -> {
      if (method.getName().equals("load") && loads.incrementAndGet() == 2)
        Patience.eventually("no courier delivers the message again", () -> sum(ActorStats::queued) > 0);
      return call.pass();
    });
    var kind = Durable.kind("list", Message.class).storeMessages(9).state("").handler((items, message, context) -> {
      if (message instanceof Read read) context.reply(read, items);
      return message instanceof Add add ? items + add.item() : items;
    });
    try (var lists = kind.entities(scope.anonymous(), store, IDLE)) {
      assertEquals("", lists.actor("ada").ask(new Read(), Patience.LONG));

      flaky.failNext("append", WriteFault.REFUSED);
      assertTrue(lists.actor("ada").sendMessage(new Add("a")));

      Patience.eventually(() -> lists.actor("ada").ask(new Read(), Patience.LONG).equals("a"));
      assertEquals(0, sum(ActorStats::failed));
    }
  }
}
