package io.fibry.cluster.partition;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.MailboxFullException;
import io.fibry.Request;
import io.fibry.cluster.Cluster;
import io.fibry.cluster.MemoryNetwork;
import io.fibry.cluster.TestNetwork;
import io.fibry.cluster.remote.InboundDispatcher;
import io.fibry.cluster.remote.NodeContext;
import io.fibry.cluster.remote.RequestRegistry;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.cluster.wire.Destination;
import io.fibry.cluster.wire.Protocol;
import io.fibry.pool.Entities;
import io.fibry.spi.BlockBuilder;
import io.fibry.support.Intercepted;
import io.fibry.support.Patience;
import io.fibry.time.ManualScheduler;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Tests a partition without capacity for more messages. Its messages wait because the factory of
 * their entity does not return.
 */
class FullPartitionTest {
  record Echo(int number) implements Request<Echo, Integer> {}

  private static final int CAPACITY = 4_096; // max number of messages that wait in a partition
  private static final Duration ONE_HOUR = Duration.ofHours(1);
  private static final Duration ID_RETENTION = Duration.ofSeconds(10); // the previous owner may forward for so long
  private static final Protocol<Echo> PROTOCOL = Protocol.of(Echo.class);

  private final ManualScheduler clock = new ManualScheduler();
  private final ActorScope scope = ActorSystem.openScope("full-test", options -> options.withScheduler(clock));
  private final ClusterTransport transport = MemoryNetwork.create().connect("bank", "b");
  private final CountDownLatch creationBegun = new CountDownLatch(1);
  private final CountDownLatch mayBeCreated = new CountDownLatch(1);
  private final LinkedBlockingQueue<WireMessage> answers = new LinkedBlockingQueue<>();
  private Consumer<WireMessage> reader; // the gate's reader of messages to the partition

  @AfterEach
  void close() {
    mayBeCreated.countDown();
    scope.close();
    transport.close();
  }

  private Actor<Echo> newEchoActor(ActorBuilder<Object> builder, String key) {
    creationBegun.countDown();
    Patience.await(mayBeCreated);
    return builder.newActor((Echo echo, ActorContext<Echo> context) -> context.reply(echo, echo.number));
  }

  @Test
  void refusalByFullPartitionNamesPartition() {
    try (var node = Cluster.join("bank", TestNetwork.inMemory(),
        options -> options.withNode("a").withPartitions(1).withScope(scope))) {
      node.host("counter", Echo.class, scope.anonymous(), ONE_HOUR, this::newEchoActor);
      var counter = node.entities("counter", Echo.class).actor("ada");
      var first = counter.sendMessageReturn(new Echo(7), ONE_HOUR);
      Patience.await(creationBegun);
      IntStream.range(0, CAPACITY).forEach(i -> counter.sendMessageReturn(new Echo(i), ONE_HOUR));

      var failure = assertInstanceOf(MailboxFullException.class,
          Patience.failure(counter.sendMessageReturn(new Echo(8), ONE_HOUR)));

      assertEquals(
          "partition 0 of 'counter' is full: 4096 messages, or 16 MiB of messages, wait already; "
              + "ask again later",
          failure.getMessage());
      mayBeCreated.countDown();
      assertEquals(7, Patience.value(first));
    }
  }

  /**
   * Returns an open gate. A test sends messages to it by {@code reader}, and finds its answers in
   * {@code answers}.
   */
  @SuppressWarnings("unchecked") // the third argument is the reader of the subscription
  private PartitionGate<Echo> openAfterTransfer() {
    var interceptedTransport = Intercepted.of(ClusterTransport.class, transport, (method, arguments, call) -> {
      if (method.getName().equals("subscribe")) reader = (Consumer<WireMessage>) arguments[2];
      if (method.getName().equals("publish")) answers.add((WireMessage) arguments[0]);
      return call.pass();
    });
    PartitionGate<Echo> gate = PartitionGate.openHolding(
        new NodeContext(scope, BlockBuilder.of(scope.anonymous()).scheduler(), interceptedTransport, null, null, null,
            "b", ONE_HOUR, null),
        "partition 0", "part",
        new InboundDispatcher<>(interceptedTransport, "counter", "b.1", PROTOCOL, new RequestRegistry(), () -> true,
            () -> 1, BlockBuilder.of(ActorSystem.anonymous()), Runnable::run),
        key -> true, key -> {}, transfer -> {});
    gate.open(Entities.open(scope.anonymous(), ONE_HOUR, this::newEchoActor), false);
    gate.onTransferComplete(1);
    assertTrue(scope.awaitQuiescence(Patience.LONG));
    return gate;
  }

  private static WireMessage request(int number) {
    return new WireMessage("part", Optional.of("answers"),
        Map.of(Destination.KEY, "ada", Destination.MESSAGE_ID, "c." + number, Destination.EPOCH, "1"),
        PROTOCOL.encode(new Echo(number)));
  }

  private void fill() {
    reader.accept(request(0));
    Patience.await(creationBegun);
    for (int i = 1; i <= CAPACITY; i++) reader.accept(request(i));
  }

  /** The answers come in any order, because several threads send them. */
  private void awaitAnswersOfFill() {
    var numbers = IntStream.rangeClosed(0, CAPACITY).map(i -> nextAnswer()).boxed().collect(Collectors.toSet());
    assertEquals(IntStream.rangeClosed(0, CAPACITY).boxed().collect(Collectors.toSet()), numbers);
  }

  private int nextAnswer() {
    var wire = Patience.nextOf(answers);
    assertEquals("OK", wire.header("Fb-S").orElseThrow(), wire::toString);
    return Protocol.decodeAnswer(new Echo(0), wire.body());
  }

  /**
   * The request arrives at both owners. The next owner has no capacity for its own copy, but must
   * not refuse it, because the previous owner may forward the other copy.
   */
  @Test
  void requestIsNotRefusedIfPreviousOwnerMayForwardCopy() {
    var gate = openAfterTransfer();
    fill();

    reader.accept(request(7_000));
    mayBeCreated.countDown();

    awaitAnswersOfFill();
    gate.receiveTransfer(request(7_000));
    assertEquals(7_000, nextAnswer());
  }

  /**
   * The next owner already has the asker's copy of request 1, and no capacity for the copy that the
   * previous owner forwards.
   */
  @Test
  void forwardedCopyOfRequestIsNotRefused() {
    var gate = openAfterTransfer();
    clock.advance(ID_RETENTION);
    fill();

    gate.receiveTransfer(request(1));
    mayBeCreated.countDown();

    awaitAnswersOfFill();
  }

  /**
   * This owner was suspended, and does not know that its lease has expired. The sender knows from
   * an earlier answer that the next owner has epoch 2. The next owner also gets this request, and
   * handles it.
   */
  @Test
  void previousOwnerDoesNotRefuseRequestForNextOwner() {
    openAfterTransfer();
    clock.advance(ID_RETENTION);
    fill();

    reader.accept(request(7_000).withHeader(Destination.EPOCH, "2"));
    reader.accept(request(7_001).withHeader(Destination.MESSAGE_ID, "c.last"));

    var refused = Patience.nextOf(answers);
    assertEquals("FULL", refused.header("Fb-S").orElseThrow());
    assertEquals(List.of(), List.copyOf(answers));
  }

  @Test
  void requestIsRefusedAfterPreviousOwnerStopsForwarding() {
    openAfterTransfer();
    clock.advance(ID_RETENTION);
    fill();

    reader.accept(request(7_000));

    assertEquals("FULL", Patience.nextOf(answers).header("Fb-S").orElseThrow());
  }
}
