package io.fibry.nats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.cluster.Cluster;
import io.fibry.durable.Durable;
import io.fibry.nats.connection.NatsConnection;
import io.fibry.nats.connection.StoreSubjects;
import io.fibry.store.Store;
import io.fibry.support.Patience;
import io.nats.client.Connection;
import io.nats.client.Message;
import io.nats.client.Nats;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Tests how many messages of NATS a request to a durable actor of another node costs. */
@ExtendWith(ServerEvidence.class)
class DurableRequestMessagesTest {
  record Count() implements Request<Count, Long> {}

  private static final int REQUESTS = 256;
  private static final int TURNS_PER_PURGE = 64;
  private static final String PURGE = "$JS.API.STREAM.PURGE.";
  private static final String READ = "$JS.API.STREAM.MSG.GET.";
  private static final Durable<Count> COUNTER =
      Durable.kind("counter", Count.class).state(0L).handler((number, count, context) -> {
        context.reply(count, number + 1);
        return number + 1;
      });

  private final String app = Servers.app();
  private final ActorScope scope = ActorSystem.openScope("durable-request-messages-test");
  private final Queue<Message> messages = new ConcurrentLinkedQueue<>(); // of the nodes and of the server

  @AfterEach
  void close() {
    scope.close();
  }

  private Cluster join(String node) {
    return Cluster.join(app, Servers.network(),
        options -> options.withNode(node).withLease(Duration.ofMinutes(1)).withPartitions(4).withScope(scope));
  }

  /** Records the messages between the nodes and the server until the code has ended. */
  private void record(Runnable code) throws Exception {
    var client = Nats.connect(Servers.shared().url());
    try {
      record(client, code);
    } finally {
      NatsConnection.close(client);
    }
  }

  private void record(Connection client, Runnable code) throws Exception {
    String endSubject = app + ".end";
    var end = new CountDownLatch(1);
    var dispatcher = client.createDispatcher(message -> {
      if (message.getSubject().equals(endSubject)) end.countDown();
      else messages.add(message);
    });
    for (var subject : List.of("fb." + app + ".>", "$JS.API.>", endSubject)) dispatcher.subscribe(subject);
    client.flush(Patience.LONG);
    code.run();
    client.publish(endSubject, new byte[0]); // the server sends this after all earlier messages
    Patience.await(end);
  }

  private long count(Predicate<Message> condition) {
    return messages.stream().filter(condition).count();
  }

  private static boolean isAnswer(Message message) {
    return message.getReplyTo() == null && message.hasHeaders() && message.getHeaders().containsKey("Fb-S");
  }

  @Test
  void requestStoresOneMessageAndReadsNone() throws Exception {
    Servers.assumeInstalled();
    try (var owner = join("owner");
        var asker = join("asker")) {
      owner.host(COUNTER, scope.anonymous(), Duration.ofMinutes(5));
      var counter = asker.entities(COUNTER).actor("one");
      counter.ask(new Count(), Patience.LONG); // loads the actor

      record(() -> {
        for (long i = 0; i < REQUESTS; i++) assertEquals(i + 2, counter.ask(new Count(), Patience.LONG));
      });
    }

    var subjects = new StoreSubjects(app);
    String turns = subjects.turns(new Store.ActorId("counter", "one"));
    assertEquals(REQUESTS, count(message -> message.getSubject().startsWith("fb." + app + ".e.counter.")), "requests");
    assertEquals(REQUESTS, count(message -> message.getSubject().equals(turns)), "turns");
    assertEquals(REQUESTS, count(DurableRequestMessagesTest::isAnswer), "answers");
    assertEquals(0, count(message -> message.getSubject().equals(READ + subjects.streamName())), "reads");
    long purges = count(message -> message.getSubject().equals(PURGE + subjects.streamName()));
    assertTrue(purges <= REQUESTS / TURNS_PER_PURGE + 1, () -> purges + " purges");
  }
}
