package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.support.Patience;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Messages that a node cannot read, in masses. */
class UnreadableTest {
  record Count() implements Request<Count, Integer> {}

  private static final int MESSAGES = 1_000;

  @Test
  void floodOfUnreadableMessagesIsLoggedInFewLines() {
    var network = MemoryNetwork.create();
    var err = System.err;
    var log = new ByteArrayOutputStream();
    try (ActorScope scope = ActorSystem.openScope("unreadable-test");
        var node = Cluster.join("flood", network, options -> options.withNode("a").withScope(scope));
        var foreign = network.connect("flood", "foreign")) {
      node.offer("till", Count.class,
          scope.anonymous().newActor((Count count, ActorContext<Count> context) -> context.reply(count, 7)));
      System.setErr(new PrintStream(log, true, StandardCharsets.UTF_8));
      long begun = System.nanoTime();
      for (int i = 0; i < MESSAGES; i++)
        foreign.publish(Wire.to("fb.flood.n.till", Map.of(), new byte[] {1, 2, 3}));
      assertEquals(7, node.actor("till", Count.class).ask(new Count(), Patience.LONG)); // behind them
      long seconds = (System.nanoTime() - begun) / 1_000_000_000;

      long lines = log.toString(StandardCharsets.UTF_8).lines()
          .filter(line -> line.contains("'till' got a message that cannot be read")).count();
      assertTrue(lines <= seconds + 2, () -> lines + " lines in " + seconds + " s");
    } finally {
      System.setErr(err);
    }
  }
}
