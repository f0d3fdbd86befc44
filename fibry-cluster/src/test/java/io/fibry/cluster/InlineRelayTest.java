package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.support.Intercepted;
import io.fibry.support.Patience;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests requests that an idle relay sends on the thread of the asker. */
class InlineRelayTest {
  sealed interface Entry {}

  record Add(int sender) implements Entry {}

  record Count(int sender) implements Entry, Request<Count, Integer> {}

  private final LinkedBlockingQueue<Thread> requestThreads = new LinkedBlockingQueue<>();
  private final ActorScope scope = ActorSystem.openScope("inline-relay-test");

  @AfterEach
  void close() {
    scope.close();
  }

  private Cluster join(boolean publishesWithoutWait) {
    var network = MemoryNetwork.create();
    var node = Cluster.join("shop", (app, name) -> record(network.connect(app, name), publishesWithoutWait),
        options -> options.withNode("a"));
    node.expose("counter", Entry.class, newCounter());
    return node;
  }

  private ClusterTransport record(ClusterTransport transport, boolean publishesWithoutWait) {
    return Intercepted.of(ClusterTransport.class, transport, (method, arguments, call) -> {
      if (method.getName().equals("publishesWithoutWait")) return publishesWithoutWait;
      if (method.getName().equals("request")) requestThreads.add(Thread.currentThread());
      return call.pass();
    });
  }

  private Actor<Entry> newCounter() {
    var counts = new HashMap<Integer, Integer>();
    return scope.anonymous().newActor((Entry entry, ActorContext<Entry> context) -> {
      switch (entry) {
        case Add add -> counts.merge(add.sender, 1, Integer::sum);
        case Count count -> context.reply(count, counts.getOrDefault(count.sender, 0));
      }
    });
  }

  private static <T> CompletableFuture<T> onFiber(Callable<T> code) {
    var result = new CompletableFuture<T>();
    Patience.startFiber(code, result);
    return result;
  }

  private Thread askerOf(Cluster node) {
    return Patience.value(onFiber(() -> {
      node.actor("counter", Entry.class).ask(new Count(0));
      return Thread.currentThread();
    }));
  }

  @Test
  void idleRelaySendsRequestOnThreadOfAsker() {
    try (var node = join(true)) {
      assertEquals(askerOf(node), Patience.nextOf(requestThreads));
    }
  }

  @Test
  void relaySendsOnItsOwnThreadIfTransportMayWait() {
    try (var node = join(false)) {
      assertNotEquals(askerOf(node), Patience.nextOf(requestThreads));
    }
  }

  @Test
  void requestArrivesAfterEarlierMessagesOfItsSender() {
    try (var node = join(true)) {
      var senders = new ArrayList<CompletableFuture<Integer>>();
      for (int i = 0; i < 4; i++) {
        int sender = i;
        senders.add(onFiber(() -> sendAndCount(node.actor("counter", Entry.class), sender)));
      }

      for (var sender : senders) assertEquals(-1, Patience.value(sender));
    }
  }

  /**
   * Sends messages and requests alternately. Returns a wrong count, or -1 if all counts are right.
   */
  private static int sendAndCount(Actor<Entry> counter, int sender) {
    int sent = 0;
    for (int round = 0; round < 300; round++) {
      for (int i = 0; i < round % 4; i++, sent++) counter.sendMessage(new Add(sender));
      int count = counter.ask(new Count(sender));
      if (count != sent) return count;
    }
    return -1;
  }
}
