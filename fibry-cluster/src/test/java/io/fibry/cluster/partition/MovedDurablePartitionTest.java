package io.fibry.cluster.partition;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.cluster.MemoryNetwork;
import io.fibry.cluster.remote.InboundDispatcher;
import io.fibry.cluster.remote.NodeContext;
import io.fibry.cluster.remote.RequestRegistry;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.cluster.wire.Destination;
import io.fibry.cluster.wire.Protocol;
import io.fibry.durable.Durable;
import io.fibry.durable.SharedStoreAccess;
import io.fibry.pool.Entities;
import io.fibry.spi.BlockBuilder;
import io.fibry.store.MemoryStore;
import io.fibry.store.Store;
import io.fibry.store.spi.StoreBackend;
import io.fibry.support.Intercepted;
import io.fibry.support.Patience;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests how a node treats requests to durable entities of a partition that it gives away. */
class MovedDurablePartitionTest {
  record Add(String item) implements Request<Add, String> {}

  private static final int PERMITS = 1_000;
  private static final Duration ONE_MINUTE = Duration.ofMinutes(1);
  private static final Store.ActorId ADA = new Store.ActorId("list", "ada");
  private static final Protocol<Add> PROTOCOL = Protocol.of(Add.class);
  private static final Durable<Add> LIST = Durable.kind("list", Add.class).storeMessages(9).state("")
      .handler((items, add, context) -> {
        context.reply(add, items + add.item());
        return items + add.item();
      });

  private final ActorScope scope = ActorSystem.openScope("durable-part-test");
  private final ClusterTransport transport = MemoryNetwork.create().connect("shop", "a");
  private final StoreBackend memoryStore = StoreBackend.of(MemoryStore.open());
  private final Semaphore readsBegun = new Semaphore(0); // reads of pending messages
  private final Semaphore mayRead = new Semaphore(0);
  private final StoreBackend store = withHooks(StoreBackend.class, memoryStore, (method, argumentCount) -> {
    if (!method.equals("pending") || argumentCount != 3) return;
    readsBegun.release();
    mayRead.acquireUninterruptibly();
  }, (method, argumentCount) -> {});

  /** Runs code before and after each call. It gets the method's name and number of arguments. */
  private static <T> T withHooks(Class<T> type, T target, BiConsumer<String, Integer> before,
      BiConsumer<String, Integer> after) {
    return Intercepted.of(type, target, (method, arguments, call) -> {
      before.accept(method.getName(), arguments.length);
      try {
        return call.pass();
      } finally {
        after.accept(method.getName(), arguments.length);
      }
    });
  }

  @AfterEach
  void close() {
    mayRead.release(PERMITS);
    scope.close();
    transport.close();
  }

  /**
   * Returns entities whose couriers can read pending messages only after a poison pill was sent.
   */
  @SuppressWarnings("unchecked") // Entities.class has no type arguments
  private Entities<String, Add> lists() {
    return withHooks(Entities.class,
        SharedStoreAccess.of(LIST).entities(scope.anonymous(), store, ONE_MINUTE, key -> true),
        (method, argumentCount) -> {}, (method, argumentCount) -> {
          if (method.equals("sendPoisonPill")) mayRead.release(PERMITS);
        });
  }

  /** The request is stored, and waits until the courier has checked for earlier messages. */
  @Test
  void storedRequestIsAnsweredBeforePartitionHandover() {
    var gate = PartitionGate.openHolding(
        new NodeContext(scope, BlockBuilder.of(scope.anonymous()).scheduler(), transport, null, null, null, "a",
            ONE_MINUTE, null),
        "partition 0", "part",
        new InboundDispatcher<>(transport, "list", "a.1", PROTOCOL, new RequestRegistry(), () -> true, () -> 0,
            BlockBuilder.of(ActorSystem.anonymous()), Runnable::run),
        key -> true, key -> {},
        transfer -> {});
    gate.open(lists(), true);
    SharedStoreAccess.deliverPending(store, ADA);
    readsBegun.acquireUninterruptibly();
    var request = new Add("a");
    var answer = transport.request(
        WireMessage.oneWay("part", Map.of(Destination.KEY, "ada", Destination.MESSAGE_ID, "c.1"),
            PROTOCOL.encode(request)),
        ONE_MINUTE);
    Patience.eventually(() -> !memoryStore.pending(ADA, Instant.MAX, 1).isEmpty());

    gate.releaseWhenHandled(() -> {});

    var wire = Patience.value(answer.toCompletableFuture());
    assertEquals("a", Protocol.decodeAnswer(request, wire.body()), wire::toString);
  }
}
