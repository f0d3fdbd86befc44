package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.durable.Durable;
import io.fibry.durable.SharedStoreAccess;
import io.fibry.pool.Entities;
import io.fibry.spi.BlockBuilder;
import io.fibry.store.MemoryStore;
import io.fibry.store.Store;
import io.fibry.support.Intercepted;
import io.fibry.support.Patience;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a node does with requests to durable entities of a part that it gives away. */
class MovedDurablePartitionTest {
  record Add(String item) implements Request<Add, String> {}

  private static final int MANY = 1_000;
  private static final Duration LONG = Duration.ofMinutes(1);
  private static final Store.ActorId ADA = new Store.ActorId("list", "ada");
  private static final Protocol<Add> PROTOCOL = Protocol.of(Add.class);
  private static final Durable<Add> LIST = Durable.kind("list", Add.class).storeMessages(9).state("")
      .handler((items, add, context) -> {
        context.reply(add, items + add.item());
        return items + add.item();
      });

  private final ActorScope scope = ActorSystem.openScope("durable-part-test");
  private final ClusterTransport engine = MemoryNetwork.create().connect("shop", "a");
  private final MemoryStore memory = MemoryStore.open();
  private final Semaphore begun = new Semaphore(0); // looks at what waits for an actor
  private final Semaphore mayLook = new Semaphore(0);
  private final Store store = watched(Store.class, memory, (method, given) -> {
    if (!method.equals("pending") || given != 3) return;
    begun.release();
    mayLook.acquireUninterruptibly();
  }, (method, given) -> {});

  /** Runs code before and after each call: with its name, and how many arguments it has. */
  private static <T> T watched(Class<T> type, T one, BiConsumer<String, Integer> before,
      BiConsumer<String, Integer> after) {
    return Intercepted.of(type, one, (method, given, call) -> {
      before.accept(method.getName(), given.length);
      try {
        return call.pass();
      } finally {
        after.accept(method.getName(), given.length);
      }
    });
  }

  @AfterEach
  void close() {
    mayLook.release(MANY);
    scope.close();
    engine.close();
  }

  /** A courier looks until they are told to end. */
  @SuppressWarnings("unchecked") // of the type
  private Entities<String, Add> lists() {
    return watched(Entities.class, SharedStoreAccess.of(LIST).entities(scope.anonymous(), store, LONG, key -> true),
        (method, given) -> {}, (method, given) -> {
          if (method.equals("sendPoisonPill")) mayLook.release(MANY);
        });
  }

  /** It is stored, and waits since something else may come before it. */
  @Test
  void storedRequestIsAnsweredBeforePartitionHandover() {
    var part = PartitionGate.hold(
        new NodeContext(scope, BlockBuilder.of(scope.anonymous()).scheduler(), engine, null, null, null, "a", LONG,
            null),
        "part", new InboundDispatcher<>(engine, "list", "a.1", PROTOCOL, new RequestRegistry(), () -> true, () -> 0,
            BlockBuilder.of(ActorSystem.anonymous())),
        key -> true, key -> {},
        hand -> {});
    part.open(lists(), true);
    SharedStoreAccess.deliverPending(store, ADA);
    begun.acquireUninterruptibly();
    var request = new Add("a");
    var answer = engine.request(
        WireMessage.to("part", Map.of(Destination.KEY, "ada", Destination.MESSAGE_ID, "c.1"), PROTOCOL.encode(request)),
        LONG);
    Patience.eventually(() -> !memory.pending(ADA, Instant.MAX, 1).isEmpty());

    part.releaseWhenHandled(() -> {});

    var wire = Patience.value(answer.toCompletableFuture());
    assertEquals("a", Protocol.decodeAnswer(request, wire.body()), wire::toString);
  }
}
