package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.ExitReason;
import io.fibry.Request;
import io.fibry.Strategy;
import io.fibry.spi.BlockBuilder;
import io.fibry.support.Patience;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The end of a name is that of the last actor that had it, though several end at once. */
class LastOfferTest {
  record Ping() implements Request<Ping, String> {}

  private final TestNetwork network = TestNetwork.inMemory();
  private final ActorScope scope = ActorSystem.openScope("last-offer-test");
  private final ConcurrentLinkedQueue<Runnable> held = new ConcurrentLinkedQueue<>(); // work of the node that watches
  private final ActorScope slow =
      ActorSystem.openScope("slow", options -> options.withStrategy(Strategy.of(held::add)));
  private final Cluster a = join("a");
  private final Cluster b = join("b");

  private Cluster join(String node) {
    return Cluster.join("shop", network, options -> options.withNode(node));
  }

  @AfterEach
  void close() {
    run();
    a.close();
    b.close();
    scope.close();
  }

  private void run() {
    for (var next = held.poll(); next != null; next = held.poll()) next.run();
  }

  private Actor<Ping> till() {
    return scope.anonymous().newActor((Ping ping, ActorContext<Ping> context) -> context.reply(ping, "here"));
  }

  @Test
  void exitReasonIsThatOfLastActorWhenSeveralEnd() {
    var first = till();
    var last = till();
    a.expose("till", Ping.class, first);
    b.expose("till", Ping.class, last);
    var engine = network.connect("shop", "watcher");
    var subjects = new Subjects("shop");
    var clock = BlockBuilder.of(scope.anonymous()).scheduler();
    var options = Cluster.Options.defaults(network).withNode("watcher");
    var membership = new Membership(scope, engine, subjects, options, new HeartbeatTracker(clock, options.lease()));
    Patience.eventually(() -> offering(membership) == 2);
    var end = RemoteExitWatch.of("till", new NodeContext(slow, clock, engine, subjects,
        null, membership, "watcher", null, null));
    run();

    b.expose("other", Ping.class, till()); // a slow reader has this news in hand, and then gets the last one
    Patience.eventually(() -> membership.members().stream().anyMatch(one -> one.offers().contains("other")));
    first.close(); // a has the name that comes first
    Patience.eventually(() -> offering(membership) == 1);
    last.kill();
    Patience.eventually(() -> offering(membership) == 0);
    assertFalse(end.isDone());
    Patience.eventually(() -> {
      run();
      return end.isDone();
    });

    assertEquals(new ExitReason.Killed(), end.join());
    membership.close();
    engine.close();
    var closing = Thread.startVirtualThread(slow::close);
    Patience.eventually(() -> {
      run();
      return !closing.isAlive();
    });
  }

  private static long offering(Membership membership) {
    return membership.members().stream().filter(one -> one.offers().contains("till")).count();
  }
}
