package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Named.named;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.Strategy;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.cluster.wire.Destination;
import io.fibry.codec.Codec;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.support.Intercepted;
import io.fibry.support.Patience;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests messages that the thread of the transport gives to their actor itself. */
class PromptDeliveryTest {
  sealed interface Entry {}

  record Add(int amount) implements Entry {
    Add {
      if (amount < 0) throw new AssertionError("a bug of the constructor");
    }
  }

  record Sum() implements Entry, Request<Sum, Integer> {}

  /** A request whose decoding runs code of the test. */
  record Probe() implements Entry, Request<Probe, Integer> {
    private static final AtomicReference<Runnable> DURING_DECODING = new AtomicReference<>(() -> {});

    Probe {
      DURING_DECODING.get().run();
    }
  }

  record Report() implements Request<Report, Lines> {}

  record Lines(List<String> lines) {
    @Override
    public List<String> lines() {
      throw new AssertionError("a bug of the accessor");
    }
  }

  private static final String CANCELLATIONS = "fb.shop.c";
  private static final String SUBJECT = "fb.shop.n.counter";
  private static final Codec<Entry> CODEC = Codec.of(Entry.class);

  private final ActorScope scope = ActorSystem.openScope("prompt-delivery-test");
  private final ConcurrentLinkedQueue<Runnable> tasks = new ConcurrentLinkedQueue<>(); // of stalled actors
  private volatile boolean isStalled; // whether the actors of stalledScope handle nothing
  private final CompletableFuture<Consumer<WireMessage>> reader = new CompletableFuture<>(); // of the subject
  private final CompletableFuture<Consumer<WireMessage>> cancellationReader = new CompletableFuture<>();
  private final LinkedBlockingQueue<Thread> handlerThreads = new LinkedBlockingQueue<>();
  private final LinkedBlockingQueue<Thread> replyThreads = new LinkedBlockingQueue<>();
  private final CountDownLatch mayHandle = new CountDownLatch(1); // whether actor and transport may continue

  @AfterEach
  void close() {
    mayHandle.countDown();
    scope.close();
  }

  private void activate(Runnable task) {
    tasks.add(task);
    if (!isStalled) for (var next = tasks.poll(); next != null; next = tasks.poll()) Thread.startVirtualThread(next);
  }

  /** Runs the tasks of the actors again, so that the node can leave. */
  private void letActorsOfNodeRun(ActorScope nodeScope) {
    isStalled = false;
    nodeScope.anonymous().newActor((String message) -> {}).sendMessage("lets all tasks run");
  }

  private Cluster join(ActorScope nodeScope, boolean publishesWithoutWait) {
    var network = MemoryNetwork.create();
    return Cluster.join("shop", (app, name) -> record(network.connect(app, name), publishesWithoutWait),
        options -> options.withNode("a").withScope(nodeScope));
  }

  @SuppressWarnings("unchecked") // the third argument of `subscribe`
  private ClusterTransport record(ClusterTransport transport, boolean publishesWithoutWait) {
    return Intercepted.of(ClusterTransport.class, transport, (method, arguments, call) -> {
      if (method.getName().equals("publishesWithoutWait")) return publishesWithoutWait;
      if (method.getName().equals("subscribe") && arguments[0].equals(SUBJECT))
        reader.complete((Consumer<WireMessage>) arguments[2]);
      if (method.getName().equals("subscribe") && arguments[0].equals(CANCELLATIONS))
        cancellationReader.complete((Consumer<WireMessage>) arguments[2]);
      if (method.getName().equals("publish") && ((WireMessage) arguments[0]).header("Fb-S").isPresent())
        onReply(publishesWithoutWait);
      return call.pass();
    });
  }

  private void onReply(boolean publishesWithoutWait) {
    replyThreads.add(Thread.currentThread());
    if (!publishesWithoutWait) Patience.await(mayHandle);
  }

  private Actor<Entry> newCounter(Mailbox<Object> mailbox) {
    var sum = new int[1];
    return scope.anonymous().mailbox(mailbox).newActor((Entry entry, ActorContext<Entry> context) -> {
      handlerThreads.add(Thread.currentThread());
      switch (entry) {
        case Add add -> sum[0] += add.amount;
        case Sum request -> context.reply(request, sum[0]);
        case Probe request -> context.reply(request, sum[0]);
      }
    });
  }

  private static WireMessage wire(int amount) {
    return WireMessage.oneWay(SUBJECT, Map.of(), CODEC.encode(new Add(amount)));
  }

  @Test
  void messageReachesActorWithoutActorOfNode() {
    try (var nodeScope = ActorSystem.openScope("node", options -> options.withStrategy(Strategy.of(this::activate)));
        var node = join(nodeScope, true)) {
      var counter = newCounter(Mailbox.unbounded());
      node.expose("counter", Entry.class, counter);
      isStalled = true;

      try {
        Patience.value(reader).accept(wire(7));

        assertEquals(7, counter.ask(new Sum()));
      } finally {
        letActorsOfNodeRun(nodeScope);
      }
    }
  }

  @Test
  void readerDoesNotWaitForActorWhoseFullMailboxBlocks() {
    try (var node = join(scope, true)) {
      var counter = newCounter(Mailbox.bounded(1, Overflow.BLOCK));
      counter.execute(() -> Patience.await(mayHandle));
      node.expose("counter", Entry.class, counter);

      for (int i = 0; i < 100; i++) Patience.value(reader).accept(wire(i)); // would wait without the gate
      mayHandle.countDown();

      Patience.eventually(() -> counter.ask(new Sum()) == 4_950);
    }
  }

  @Test
  void errorOfCodecDoesNotReachThreadOfTransport() {
    try (var node = join(scope, true)) {
      var counter = newCounter(Mailbox.unbounded());
      node.expose("counter", Entry.class, counter);
      byte[] bytes = CODEC.encode(new Add(1));
      bytes[bytes.length - 1] = 0x20; // -1 instead of 1

      Patience.value(reader).accept(WireMessage.oneWay(SUBJECT, Map.of(), bytes));

      assertEquals(0, counter.ask(new Sum()));
    }
  }

  @Test
  void requestCancelledDuringDecodingIsNotHandled() {
    try (var node = join(scope, true)) {
      var counter = newCounter(Mailbox.unbounded());
      counter.execute(() -> Patience.await(mayHandle));
      node.expose("counter", Entry.class, counter);
      var request = new WireMessage(SUBJECT, Optional.of("replies"), Map.of(Destination.MESSAGE_ID, "b.1.1"),
          CODEC.encode(new Probe()));
      Probe.DURING_DECODING.set(() -> Patience.value(cancellationReader)
          .accept(WireMessage.oneWay(CANCELLATIONS, Map.of(Destination.MESSAGE_ID, "b.1.1"), new byte[0])));

      Patience.value(reader).accept(request);
      mayHandle.countDown();

      assertEquals(0, counter.ask(new Sum()));
      assertEquals(1, handlerThreads.size()); // of Sum
      assertEquals(0, node.health().pendingRequests());
    } finally {
      Probe.DURING_DECODING.set(() -> {});
    }
  }

  @Test
  void answerIsSentOnThreadOfActorIfTransportNeverWaits() {
    try (var node = join(scope, true)) {
      var counter = newCounter(Mailbox.unbounded());
      counter.execute(() -> Patience.await(mayHandle));
      node.expose("counter", Entry.class, counter);

      Patience.value(reader)
          .accept(new WireMessage(SUBJECT, Optional.of("replies"), Map.of(), CODEC.encode(new Sum())));
      mayHandle.countDown();

      assertEquals(Patience.nextOf(handlerThreads), Patience.nextOf(replyThreads));
    }
  }

  @Test
  void answerIsSentAlthoughStrategyOfNodeRunsNoActors() {
    mayHandle.countDown();
    try (var nodeScope = ActorSystem.openScope("node", options -> options.withStrategy(Strategy.of(this::activate)));
        var node = join(nodeScope, false)) {
      node.expose("counter", Entry.class, newCounter(Mailbox.unbounded()));
      isStalled = true;

      try {
        Patience.value(reader)
            .accept(new WireMessage(SUBJECT, Optional.of("replies"), Map.of(), CODEC.encode(new Sum())));

        assertTrue(Patience.nextOf(replyThreads).isVirtual());
      } finally {
        letActorsOfNodeRun(nodeScope);
      }
    }
  }

  @Test
  void requestIsPendingUntilItsAnswerIsSent() {
    try (var node = join(scope, false)) {
      node.expose("counter", Entry.class, newCounter(Mailbox.unbounded()));

      Patience.value(reader).accept(new WireMessage(SUBJECT, Optional.of("replies"),
          Map.of(Destination.MESSAGE_ID, "b.1.1"), CODEC.encode(new Sum())));
      Patience.nextOf(replyThreads);

      assertEquals(1, node.health().pendingRequests()); // while the transport waits
      mayHandle.countDown();
      Patience.eventually(() -> node.health().pendingRequests() == 0);
    }
  }

  /** The reply to the message waits in the transport, on a thread that is not the reader's. */
  @ParameterizedTest
  @MethodSource("messagesWithImmediateReply")
  void readerDoesNotWaitUntilReplyIsSent(WireMessage message) {
    try (var node = join(scope, false)) {
      node.expose("counter", Entry.class, newCounter(Mailbox.unbounded()));

      Patience.value(reader).accept(message);

      assertNotEquals(Thread.currentThread(), Patience.nextOf(replyThreads));
      mayHandle.countDown();
    }
  }

  private static Stream<Arguments> messagesWithImmediateReply() {
    return Stream.of(
        arguments(named("unreadable bundle", request(Map.of(Destination.BUNDLE_SIZE, "1"), new byte[] {1, 2, 3}))),
        arguments(named("query of presence", request(Map.of(Destination.PRESENCE_QUERY, ""), new byte[0]))),
        arguments(named("message to store", request(Map.of(Destination.STORE, ""), CODEC.encode(new Add(1))))),
        arguments(named("unreadable message", request(Map.of(), new byte[] {1, 2, 3}))));
  }

  private static WireMessage request(Map<String, String> headers, byte[] body) {
    return new WireMessage(SUBJECT, Optional.of("replies"), headers, body);
  }

  @Test
  void askerGetsErrorOfDecoding() {
    try (var node = join(scope, true)) {
      node.expose("counter", Entry.class, newCounter(Mailbox.unbounded()));
      var request = new Probe();
      Probe.DURING_DECODING.set(() -> {
        throw new AssertionError("a bug of the constructor");
      });

      var answer = node.actor("counter", Entry.class).sendMessageReturn(request);

      assertTrue(Patience.failure(answer).getMessage().contains("a bug of the constructor"));
    } finally {
      Probe.DURING_DECODING.set(() -> {});
    }
  }

  @Test
  void askerGetsErrorOfEncodingOfAnswer() {
    try (var node = join(scope, true)) {
      node.expose("buggy", Report.class, scope.anonymous().newActor(
          (Report report, ActorContext<Report> context) -> context.reply(report, new Lines(List.of("line")))));

      var answer = node.actor("buggy", Report.class).sendMessageReturn(new Report());

      assertTrue(Patience.failure(answer).getMessage().contains("a bug of the accessor"));
    }
  }

  @Test
  void actorDoesNotWaitUntilTransportHasSentAnswer() {
    try (var node = join(scope, false)) {
      var counter = newCounter(Mailbox.unbounded());
      node.expose("counter", Entry.class, counter);

      var answer = node.actor("counter", Entry.class).sendMessageReturn(new Sum());
      Patience.nextOf(replyThreads);

      assertEquals(0, counter.ask(new Sum())); // while the transport waits
      mayHandle.countDown();
      assertEquals(0, Patience.value(answer));
    }
  }
}
