package io.fibry.nats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.RequestException;
import io.fibry.cluster.Cluster;
import io.fibry.durable.Durable;
import io.fibry.mailbox.Mailbox;
import io.fibry.support.Patience;
import io.fibry.support.Soak;
import io.nats.client.Nats;
import io.nats.client.impl.Headers;
import io.nats.client.impl.NatsMessage;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Test;

/** Tests nodes while a client publishes to their subjects messages that no node would send. */
class HostileBytesTest {
  record Count() implements Request<Count, Integer> {}

  private static final int MESSAGES = Soak.ON ? 40_000 : 1_500;
  private static final List<String> NAMES = List.of("Fb-K", "Fb-Id", "Fb-Ttl", "Fb-N", "Fb-Chain", "Fb-Keep", "Fb-Look",
      "Fb-There", "Fb-Part", "Fb-All", "Fb-S", "Fb-Why", "Fb-Number", "Fb-Type", "Nats-Msg-Id");
  private static final List<String> VALUES =
      List.of("", "0", "-1", "99999999999999999999", "kept.1", "plain.99999", "x",
          "OK", "FULL", "=ZZ", "=C3=A4", "a\tb", "front.1");
  private static final Durable<Count> COUNTER = Durable.kind("kept", Count.class).storeMessages(9).state(0)
      .handler((number, count, context) -> {
        context.reply(count, number + 1);
        return number + 1;
      });

  private final String app = Servers.app();
  private final long seed = Long.getLong("fibry.seed", System.nanoTime());
  private final Random random = new Random(seed);

  private String subject() {
    var kinds = List.of("n.till", "e.plain." + random.nextInt(5), "e.kept." + random.nextInt(5), "x.a", "x.b",
        "c", "t.news", "r.b.x" + random.nextInt(9), "m.kept.k.i" + random.nextInt(9), "w.jobs", "x", "e.plain.x");
    return random.nextInt(12) == 0 ? "$KV.FB_" + app + "_own." + entry()
        : "fb." + app + "." + kinds.get(random.nextInt(kinds.size()));
  }

  /**
   * Returns a random key of the table, but no key of a partition that a node owns. A program that
   * may write such an entry may also end the owner.
   */
  private String entry() {
    return List.of("node.zzz" + random.nextInt(9), "part.plain.99", "part.other.1", "kind.other", "junk")
        .get(random.nextInt(5));
  }

  private Headers headers() {
    var headers = new Headers();
    for (int n = random.nextInt(4); n > 0; n--)
      headers.add(NAMES.get(random.nextInt(NAMES.size())), VALUES.get(random.nextInt(VALUES.size())));
    return headers;
  }

  private byte[] body() {
    var bytes = new byte[random.nextInt(5) == 0 ? 0 : random.nextInt(200)];
    random.nextBytes(bytes);
    return bytes;
  }

  @Test
  void nodesAnswerAndStayMembersDespiteHostileMessages() throws Exception {
    System.out.println("hostile bytes: -Dfibry.seed=" + seed);
    var news = new LinkedBlockingQueue<Integer>();
    var doneJobs = new LinkedBlockingQueue<Integer>();
    try (ActorScope scope = ActorSystem.openScope("hostile-test");
        var a = join("a", scope);
        var b = join("b", scope)) {
      var nodeIds = List.of(a.self().id(), b.self().id());
      a.expose("till", Count.class, scope.anonymous().newActor((count, context) -> context.reply(count, 7)));
      a.host("plain", Count.class, scope.anonymous(), Duration.ofMinutes(1),
          (builder, key) -> builder.newActor((Count count, ActorContext<Count> context) -> context.reply(count, 5)));
      a.host(COUNTER, scope.anonymous(), Duration.ofMinutes(1));
      a.topic("news", Integer.class).subscribe(Mailbox.unbounded(), news::add);
      a.queue("jobs", Integer.class).consume(1, doneJobs::add);
      assertEquals(1, b.entities(COUNTER).actor("k").ask(new Count()));
      b.topic("news", Integer.class);

      var hostile = Nats.connect(Servers.shared().url());
      for (int i = 0; i < MESSAGES; i++) {
        var message = NatsMessage.builder().subject(subject()).headers(headers()).data(body());
        if (random.nextBoolean()) message.replyTo("nobody.there");
        hostile.publish(message.build());
      }
      hostile.flush(Patience.LONG);
      hostile.close();

      assertEquals(7, b.actor("till", Count.class).ask(new Count(), Patience.LONG));
      for (int i = 0; i < 20; i++) assertEquals(5, b.entities("plain", Count.class).actor("k" + i).ask(new Count()));
      assertTrue(askUntilAnswered(b) > 1, "seed " + seed);
      b.topic("news", Integer.class).publish(11);
      Patience.eventually(() -> news.contains(11));
      b.queue("jobs", Integer.class).put(13);
      Patience.eventually(() -> doneJobs.contains(13));
      assertTrue(a.health().isAlive() && b.health().isAlive());
      assertEquals(nodeIds, List.of(a.self().id(), b.self().id()));
      Patience.eventually(() -> b.members().containsAll(List.of(a.self(), b.self())));
    }
  }

  /** Asks until an answer comes. Hostile messages in the stream must not prevent the answer. */
  private static int askUntilAnswered(Cluster b) {
    return Patience.valueDespite(RequestException.class,
        () -> b.entities(COUNTER).actor("k").ask(new Count(), Duration.ofSeconds(5)));
  }

  private Cluster join(String node, ActorScope scope) {
    return Cluster.join(app, Servers.network(),
        options -> options.withNode(node).withPartitions(4).withLease(Duration.ofMinutes(1)).withScope(scope));
  }
}
