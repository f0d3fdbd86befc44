package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.cluster.wire.Destination;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Tests that a node that gets many unreadable messages logs few lines. */
class UnreadableTest {
  record Count() implements Request<Count, Integer> {}

  record Pay(int amount, List<String> receivers) {}

  private static final String UNREADABLE = "'till' got a message that cannot be read";
  private static final int MESSAGES = 1_000;

  @Test
  void floodOfUnreadableMessagesIsLoggedInFewLines() {
    var network = TestNetwork.inMemory();
    try (var log = new Logged();
        ActorScope scope = ActorSystem.openScope("unreadable-test");
        var node = Cluster.join("flood", network, options -> options.withNode("a").withScope(scope));
        var foreign = network.connect("flood", "foreign")) {
      node.expose("till", Count.class,
          scope.anonymous().newActor((Count count, ActorContext<Count> context) -> context.reply(count, 7)));
      long start = System.nanoTime();
      for (int i = 0; i < MESSAGES; i++)
        foreign.publish(WireMessage.oneWay("fb.flood.n.till", Map.of(), new byte[] {1, 2, 3}));
      assertEquals(7, node.actor("till", Count.class).ask(new Count(), Patience.LONG)); // handled after these messages
      long seconds = (System.nanoTime() - start) / 1_000_000_000;

      int lines = log.lines(UNREADABLE).size();
      assertTrue(lines <= seconds + 2, () -> lines + " lines in " + seconds + " s");
      awaitLine(log, UNREADABLE, () -> foreign.publish(WireMessage.oneWay("fb.flood.n.till", Map.of(), new byte[1])));
    }
  }

  /**
   * Sends more messages until a line with the text is logged. If another test logged such a line,
   * such lines are omitted for a second.
   */
  private static void awaitLine(Logged log, String text, Runnable sending) {
    Patience.eventually(() -> {
      sending.run();
      return !log.lines(text).isEmpty();
    });
  }

  /** In a rolling upgrade, a newer node sends messages that an older node cannot read. */
  @Test
  void unreadableMessagesOfNewerNodeAreLoggedInFewLines() {
    var network = TestNetwork.inMemory();
    try (var log = new Logged();
        ActorScope scope = ActorSystem.openScope("unreadable-test");
        var olderNode = Cluster.join("flood", network, options -> options.withNode("old").withScope(scope));
        var newerNode = Cluster.join("flood", network, options -> options.withNode("newer").withScope(scope))) {
      olderNode.expose("till", Count.class, scope.anonymous().newActor(count -> {}));
      var till = newerNode.actor("till", Pay.class);
      long start = System.nanoTime();
      for (int i = 0; i < MESSAGES; i++) till.sendMessage(new Pay(7, List.of("x")));
      Patience.eventually(() -> scope.report().unhandled().values().stream().mapToLong(n -> n).sum() == MESSAGES);
      awaitLine(log, UNREADABLE, () -> till.sendMessage(new Pay(7, List.of("x"))));
      var lines = log.lines(UNREADABLE);
      long seconds = (System.nanoTime() - start) / 1_000_000_000;

      assertTrue(lines.size() <= seconds + 2, () -> lines.size() + " lines in " + seconds + " s");
      assertTrue(lines.getFirst().contains("; answers go to "), lines::getFirst);
    }
  }

  @Test
  void senderOfUnreadableMessageBundleGetsFailure() {
    var network = TestNetwork.inMemory();
    try (ActorScope scope = ActorSystem.openScope("unreadable-test");
        var node = Cluster.join("flood", network, options -> options.withNode("a").withScope(scope));
        var foreign = network.connect("flood", "foreign")) {
      node.expose("till", Count.class, scope.anonymous().newActor(count -> {}));

      var reply = Patience.value(foreign.request(
          WireMessage.oneWay("fb.flood.n.till", Map.of(Destination.BUNDLE_SIZE, "2"), new byte[] {1, 2, 3}),
          Patience.LONG).toCompletableFuture());

      assertEquals("FAILED", reply.header("Fb-S").orElseThrow());
    }
  }

  @Test
  void logOfUnreadableMessageNamesPublishingNode() {
    var network = TestNetwork.inMemory();
    try (var log = new Logged();
        ActorScope scope = ActorSystem.openScope("unreadable-test");
        var olderNode = Cluster.join("flood", network, options -> options.withNode("old").withScope(scope));
        var newerNode = Cluster.join("flood", network, options -> options.withNode("newer").withScope(scope))) {
      olderNode.topic("pays", Count.class).subscribeToLatest(count -> {});
      awaitLine(log, "topic 'pays' got a message that cannot be read; sent by node 'newer'",
          () -> newerNode.topic("pays", Pay.class).publish(new Pay(7, List.of("x"))));
    }
  }
}
