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
import io.fibry.cluster.membership.HeartbeatTracker;
import io.fibry.cluster.membership.Membership;
import io.fibry.cluster.remote.NodeContext;
import io.fibry.cluster.remote.RemoteExitWatch;
import io.fibry.cluster.wire.Subjects;
import io.fibry.spi.BlockBuilder;
import io.fibry.support.Patience;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Several nodes expose an actor with the same name, and these actors end. Tests that a watcher of
 * the name gets the exit reason of the actor that ended last.
 */
class LastOfferTest {
  record Ping() implements Request<Ping, String> {}

  private final TestNetwork network = TestNetwork.inMemory();
  private final ActorScope scope = ActorSystem.openScope("last-offer-test");
  private final ConcurrentLinkedQueue<Runnable> tasks = new ConcurrentLinkedQueue<>(); // of the watching node's actors
  private final ActorScope watchingScope =
      ActorSystem.openScope("slow", options -> options.withStrategy(Strategy.of(tasks::add)));
  private final Cluster a = join("a");
  private final Cluster b = join("b");

  private Cluster join(String node) {
    return Cluster.join("shop", network, options -> options.withNode(node));
  }

  @AfterEach
  void close() {
    runTasks();
    a.close();
    b.close();
    scope.close();
  }

  private void runTasks() {
    for (var task = tasks.poll(); task != null; task = tasks.poll()) task.run();
  }

  private Actor<Ping> till() {
    return scope.anonymous().newActor((Ping ping, ActorContext<Ping> context) -> context.reply(ping, "here"));
  }

  @Test
  void exitReasonOfNameComesFromActorThatEndsLast() {
    var tillOfA = till();
    var tillOfB = till();
    a.expose("till", Ping.class, tillOfA);
    b.expose("till", Ping.class, tillOfB);
    var transport = network.connect("shop", "watcher");
    var subjects = new Subjects("shop");
    var clock = BlockBuilder.of(scope.anonymous()).scheduler();
    var options = Cluster.Options.defaults(network).withNode("watcher");
    var membership = new Membership(scope, transport, subjects, options.node(), options.lease(),
        new HeartbeatTracker(clock, options.lease()));
    Patience.eventually(() -> countOffers(membership) == 2);
    var end = RemoteExitWatch.of("till", new NodeContext(watchingScope, clock, transport, subjects,
        null, membership, "watcher", null, null));
    runTasks();

    // While a slow reader handles this change, it misses the changes that follow
    b.expose("other", Ping.class, till());
    Patience.eventually(() -> membership.members().stream().anyMatch(member -> member.offers().contains("other")));
    tillOfA.close(); // node a has the first name in order, but its actor is not the last to end
    Patience.eventually(() -> countOffers(membership) == 1);
    tillOfB.kill();
    Patience.eventually(() -> countOffers(membership) == 0);
    assertFalse(end.isDone());
    Patience.eventually(() -> {
      runTasks();
      return end.isDone();
    });

    assertEquals(new ExitReason.Killed(), end.join());
    membership.close();
    transport.close();
    var closing = CompletableFuture.runAsync(watchingScope::close, Patience::startFiber);
    Patience.eventually(() -> {
      runTasks();
      return closing.isDone();
    });
    Patience.value(closing);
  }

  private static long countOffers(Membership membership) {
    return membership.members().stream().filter(member -> member.offers().contains("till")).count();
  }
}
